"""
Redis by TLS: what is trusted, what is refused and how that is said, and pools that live with it.
"""
import os
import shutil
import socket
import subprocess
import threading
import unittest

from certificates import Certificates
from daemon import THD, wait_for
from fault_proxy import CUT_BEFORE, FaultProxy, SealedWire
from servers import TlsRedis, TlsRedisCluster, TlsSentinel, servers_folder
from test_redis import HANDLERS, ServerCase

made = {}


def setUpModule():
    folder = unittest.enterModuleContext(servers_folder())
    made["harbor"] = harbor = Certificates(os.path.join(folder, "harbor"))
    made["foreign"] = foreign = Certificates(os.path.join(folder, "foreign"), "Foreign Authority")
    made["server"] = harbor.make("server", "IP:127.0.0.1,DNS:localhost")
    made["client"] = harbor.make("client")
    made["stranger"] = foreign.make("stranger", "IP:127.0.0.1")


class TlsCase(ServerCase):
    """A test with a Redis of its own that speaks TLS."""

    clients = "no"

    def setUp(self):
        super().setUp()
        self.harbor = made["harbor"]
        self.server = self.run_tls("redis", made["server"], self.clients)
        self.backend = self.server.url

    def run_tls(self, name, pair, clients="no", settings=()):
        return self.run_server(TlsRedis(self.place(name), self.harbor, pair, clients, settings))

    def url(self, *options, server=None):
        """Of the server, with these options and no others."""
        base = (server or self.server).url.split("?", maxsplit=1)[0]
        return base + "?" + "&".join(options)

    def trusting(self, *options, server=None):
        return self.url(f"cafile={self.harbor.authority}", *options, server=server)

    def says(self, words, url, code=69):
        with self.subTest(words):
            self.refuses(code, words, "stats", **self.at(url))


class Trust(TlsCase):
    def test_names_and_addresses_of_the_certificate_are_accepted(self):
        self.ok("migrate")
        for url in (self.backend, self.backend.replace("127.0.0.1", "localhost"),
                    self.trusting("servername=localhost")):
            self.ok("stats", **self.at(url))

    def test_an_authority_that_nobody_named_is_told(self):
        self.says("is signed by 'Harbor Authority', which this system does not trust", self.url("prefix=x"))
        self.says("which is not trusted: cafile=", self.url(f"cafile={made['foreign'].authority}"))

    def test_a_certificate_for_another_name_is_told_with_the_names_that_it_has(self):
        other = self.run_tls("other", self.harbor.make("other", "DNS:redis.test,IP:10.0.0.7,IP:::1"))
        self.says("is for redis.test, 10.0.0.7, ::1, not for 127.0.0.1", self.trusting(server=other))
        self.says("not for nobody.test", self.trusting("servername=nobody.test", server=other))
        self.ok("migrate", **self.at(self.trusting("servername=redis.test", server=other)))

    def test_an_expired_certificate_is_told_with_its_end(self):
        late = self.run_tls("late", self.harbor.make("late", "IP:127.0.0.1", days=-1))
        self.says("('late') expired at 20", self.trusting(server=late))

    def test_servers_that_know_only_old_versions_are_refused(self):
        old = self.run_tls("old", made["server"], settings={
            "tls-protocols": "TLSv1.1", "tls-ciphers": "DEFAULT@SECLEVEL=0"})
        self.says("speaks neither TLS 1.2 nor 1.3", self.trusting(server=old))

    def test_tls_and_plain_text_are_told_apart(self):
        plain = self.server.plain_url
        self.says("this port speaks TLS (then write rediss", self.url("prefix=x").replace("rediss:", "redis:"))
        self.says("does not speak TLS, write redis", plain.replace("redis:", "rediss:"))
        with socket.create_server(("127.0.0.1", 0)) as other:
            def greet():
                client, _ = other.accept()
                with client:
                    client.recv(1)
                    client.sendall(b"-ERR what?\r\n")
                    while client.recv(4096):
                        pass
            thread = threading.Thread(target=greet)
            thread.start()
            self.says("this port does not speak TLS", f"rediss://127.0.0.1:{other.getsockname()[1]}")
            thread.join()


class Files(TlsCase):
    def test_what_cannot_be_used_is_named(self):
        locked, empty, open_key, whole = (self.path(name) for name in ("locked", "empty", "open", "whole"))
        subprocess.run(["openssl", "ec", "-in", made["client"].key, "-aes128", "-passout", "pass:s3cret",
                        "-out", locked], check=True, capture_output=True)
        self.write("empty", "")
        shutil.copy(made["client"].key, open_key)
        os.chmod(locked, 0o600)
        os.chmod(open_key, 0o644)
        cert, key = made["client"]
        for words, options in (
                ("cafile=nothing.pem: cannot be opened: No such file", ["cafile=nothing.pem"]),
                (f"cafile={self.folder}: cannot be opened: Is a directory", [f"cafile={self.folder}"]),
                ("is empty", [f"cafile={empty}"]),
                ("has no certificate in PEM form", [f"cafile={key}"]),
                ("has no certificate in PEM form", [f"cert={key}"]),
                ("has no private key in PEM form: name it with key=FILE", [f"cert={cert}"]),
                ("has no private key in PEM form", [f"cert={cert}", f"key={cert}"]),
                ("is the key of another certificate", [f"cert={cert}", f"key={made['server'].key}"]),
                ("is locked by a passphrase", [f"cert={cert}", f"key={locked}"]),
                ("has a key that others may read", [f"cert={cert}", f"key={open_key}"]),
                ("a key needs its certificate", [f"key={key}"]),
                ("cafile is empty", ["cafile="])):
            self.says(words, self.url(*options), code=2)
        with open(whole, "wb") as both:
            for part in made["client"]:
                with open(part, "rb") as file:
                    both.write(file.read())
        os.chmod(whole, 0o600)
        self.ok("migrate", **self.at(self.trusting(f"cert={whole}")))

    def test_they_are_found_from_the_folder_of_the_config(self):
        shutil.copy(self.harbor.authority, self.path("ca.pem"))
        url = self.url("cafile=./ca.pem&prefix=x")
        config = self.configure(HANDLERS, backend=url)
        elsewhere = self.path("elsewhere")
        os.mkdir(elsewhere)
        for words in ([self.program, "--config", config, "migrate"], [THD, "--config", config, "--check"],
                      [THD, "--config", config, "--once"]):
            done = subprocess.run(words, cwd=elsewhere, env=self.environment, capture_output=True, text=True,
                                  check=False, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
        os.rename(self.path("ca.pem"), self.path("gone.pem"))
        for words in ([self.program, "--config", config, "stats"], [THD, "--config", config, "--check"],
                      [THD, "--config", config]):
            done = subprocess.run(words, env=self.environment, capture_output=True, text=True, check=False,
                                  timeout=60)
            self.assertEqual(done.returncode, 78, done.stderr)
            self.assertIn(f"cafile={self.path('ca.pem')}: cannot be opened", done.stderr)

    def test_renewed_ones_are_taken_up_without_a_restart(self):
        shutil.copy(self.harbor.authority, self.path("ca.pem"))
        self.backend = self.url(f"cafile={self.path('ca.pem')}")
        pool = self.start_pool(HANDLERS)
        self.server.kill()
        pool.wait_event("store_lost", process="dispatcher")
        self.server.settings["tls-cert-file"], self.server.settings["tls-key-file"] = made["stranger"]
        self.server.start()
        shutil.copy(made["foreign"].authority, self.path("ca.pem"))
        pool.wait_event("store_back", process="dispatcher")
        self.run_job("work")
        self.assertEqual(pool.events("process_exited"), [])


class Clients(TlsCase):
    """A server that wants to know who comes in."""

    clients = "yes"

    def refuses_strangers(self, server):
        self.says("wants a certificate of ours: name it and its key", self.trusting(server=server))
        cert, key = made["stranger"]
        self.says(f"does not accept our certificate {cert}: it does not trust the authority",
                  self.trusting(f"cert={cert}", f"key={key}", server=server))
        cert, key = made["client"]
        self.ok("migrate", **self.at(self.trusting(f"cert={cert}", f"key={key}", server=server)))

    def test_a_certificate_lets_us_in_and_a_missing_or_foreign_one_is_told(self):
        self.refuses_strangers(self.server)

    def test_so_it_is_with_the_version_before(self):
        self.refuses_strangers(self.run_tls("before", made["server"], "yes", {"tls-protocols": "TLSv1.2"}))


class Pools(TlsCase):
    def test_a_pool_outlives_its_server(self):
        pool = self.start_pool(HANDLERS)
        self.run_job("work")
        self.ok("pause", "default")
        job_id = self.enqueue("work")
        self.server.kill()
        pool.wait_event("store_lost")
        self.server.start()
        pool.wait_event("store_back")
        self.ok("resume", "default")
        self.wait_state(job_id, "done")
        self.assertEqual(pool.events("process_exited"), [])

    def test_whoever_is_thrown_out_comes_back(self):
        pool = self.start_pool(HANDLERS)
        self.run_job("work")
        for kind in ("pubsub", "normal"):
            self.server.cli("CLIENT", "KILL", "TYPE", kind)
            self.run_job("work")
        self.assertEqual(pool.events("process_exited"), [])
        self.assertEqual(pool.stop(), 0)

    def test_large_payloads_and_batches_come_through(self):
        self.start_pool({"count": {"command": "wc -c", "result": "stdout"}})
        large = "x" * 1_000_000
        job_id = self.ok("enqueue", "count", "-", "--raw", stdin=large)
        self.wait_state(job_id, "done")
        self.assertEqual(self.job(job_id)["result"], 1_000_000)
        self.ok("pause", "default")
        self.ok("enqueue", "--bulk", "-", stdin='{"type": "count", "payload": "%s"}\n' % ("y" * 5000) * 3000)
        (line,) = self.objects("stats")
        self.assertEqual(line["ready"], 3000)

    def test_connections_that_are_cut_in_the_middle_of_anything_lose_no_job(self):
        proxy = FaultProxy(self.server.tls_port, SealedWire)
        self.addCleanup(proxy.close)
        at = self.at(self.backend)
        self.backend = self.backend.replace(str(self.server.tls_port), str(proxy.port))
        pool = self.start_pool(HANDLERS, {"lease": "10s", "heartbeat_interval": "300ms", "kill_grace": "100ms"})
        for count in range(1, 30):
            proxy.arm(CUT_BEFORE, nth=count)  # handshakes among them
            self.ok("enqueue", "--bulk", "-", stdin='{"type": "work"}\n' * 10, **at)
            proxy.wait_hit(count)
        wait_for(lambda: self.objects("stats", **at)[0]["done"] == 290, "all jobs to be done")
        self.assertEqual([job for job in self.objects("ls", "--limit", "290", **at) if job["executions"] != 1], [])
        self.assertEqual(pool.events("process_exited"), [])
        self.assertEqual(pool.stop(), 0)


class Several(TlsCase):
    def test_a_pool_follows_the_sentinel_to_the_new_master(self):
        settings = {"requirepass": "s3rvers", "masterauth": "s3rvers"}
        master = self.run_tls("master", made["server"], settings=settings)
        replica = self.run_tls("replica", made["server"], settings=settings)
        replica.cli("REPLICAOF", "127.0.0.1", str(master.tls_port))
        wait_for(lambda: "master_link_status:up" in replica.cli("INFO", "replication"), "the replica")
        sentinel = self.run_server(TlsSentinel(self.place("sentinel"), master, "s3ntinels", made["server"]))
        wait_for(lambda: "num-slaves\n1\n" in sentinel.cli("SENTINEL", "MASTER", "jobs") + "\n",
                 "the sentinel to know of the replica")
        url = sentinel.url.replace("//", "//:s3rvers@")
        self.says("this system does not trust", url.split("?", maxsplit=1)[0] + "?sentinel_password=s3ntinels")
        self.backend = url + "&sentinel_password=s3ntinels"
        self.says("not for nobody.test", self.backend + "&servername=nobody.test")
        self.a_master_that_is_not_trusted_is_refused(sentinel)
        self.start_pool(HANDLERS)
        self.run_job("work")
        master.kill()
        wait_for(lambda: str(replica.tls_port) in sentinel.cli("SENTINEL", "get-master-addr-by-name", "jobs"),
                 "the failover")
        wait_for(lambda: self.thctl("stats").code == 0, "the new master")
        self.run_job("work")

    def a_master_that_is_not_trusted_is_refused(self, sentinel):
        """However much its sentinel is."""
        other = self.harbor.make("other", "DNS:redis.test")
        for name, pair, words in (("foreign", made["stranger"], "'Foreign Authority', which is not trusted"),
                                  ("elsewhere", other, "is for redis.test, not for 127.0.0.1")):
            master = self.run_tls(name, pair)
            self.assertEqual(sentinel.cli("SENTINEL", "MONITOR", name, "127.0.0.1", str(master.tls_port), "1"), "OK")
            self.says(words, self.backend.replace("/jobs/", f"/{name}/"))

    def a_node_that_is_not_trusted_is_refused(self, cluster):
        self.says("this system does not trust", cluster.url.split("?", maxsplit=1)[0])
        self.says("not for nobody.test", cluster.url + "&servername=nobody.test")
        for pair, words in ((made["stranger"], "'Foreign Authority', which is not trusted"),
                            (self.harbor.make("other", "DNS:redis.test"), "is for redis.test, not for 127.0.0.1"),
                            (made["server"], None)):
            for node in cluster.nodes[1:]:  # the first one is in the URL
                self.assertEqual(node.cli("CONFIG", "SET", "tls-cert-file", pair.cert, "tls-key-file", pair.key), "OK")
            if words:
                self.says(words, cluster.url)

    def test_queues_on_all_nodes_of_a_cluster_are_served(self):
        cluster = self.run_server(TlsRedisCluster(self.place("cluster"), self.harbor, made["server"]))
        self.backend = cluster.url
        self.a_node_that_is_not_trusted_is_refused(cluster)
        queues = ["default", "mail", "invoices"]  # one on each node
        self.start_pool(HANDLERS, queues={queue: {} for queue in queues})
        for queue in queues:
            self.run_job("work", "--queue", queue)
        for node in cluster.nodes:
            self.assertNotEqual(node.cli("DBSIZE"), "0")
            self.assertEqual(node.cli("CONFIG", "SET", "port", "0"), "OK")  # nobody comes by plain text
        self.run_job("work", "--queue", "mail")


if __name__ == "__main__":
    unittest.main()

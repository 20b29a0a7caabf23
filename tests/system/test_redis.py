"""
A pool and thctl on a real Redis: what goes wrong with servers, and what is said about it.
"""
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest

from daemon import DaemonCase, wait_for
from servers import DEADLINE, Redis, RedisCluster, Sentinel

MANUAL = pathlib.Path(os.environ["TH_SOURCE_DIR"]) / "man/taskharbor-redis.7"
SCRIPT = pathlib.Path(os.environ["TH_BUILD_DIR"]) / "generated/enqueue.lua"
READER = SCRIPT.parent / "job.lua"
HANDLERS = {"work": {"command": ["true"]}}


class ServerCase(DaemonCase):
    """A test with servers, which outlive its pools."""

    def setUp(self):
        self.servers = tempfile.mkdtemp(prefix="taskharbor-servers-")
        self.addCleanup(shutil.rmtree, self.servers, ignore_errors=True)
        self.stops = []
        self.addCleanup(self.stop_servers)
        super().setUp()

    def stop_servers(self):
        for stop in self.stops:
            stop()

    def place(self, name):
        return f"{self.servers}/{name}"

    def run_server(self, server):
        server.start()
        self.stops.append(server.stop)
        return server

    def at(self, url):
        """For thctl on another backend."""
        return {"env": {"TASKHARBOR_BACKEND": url}}


class RedisCase(ServerCase):
    """A test with a Redis of its own."""

    settings = {}

    def setUp(self):
        super().setUp()
        self.server = self.run_server(Redis(self.place("redis"), settings=self.settings))
        self.backend = self.server.url

    def run_replica(self):
        replica = self.run_server(Redis(self.place("replica"), settings=self.settings))
        replica.cli("REPLICAOF", "127.0.0.1", str(self.server.port))
        wait_for(lambda: "master_link_status:up" in replica.cli("INFO", "replication"), "the replica")
        return replica


class Basics(RedisCase):
    def test_a_pool_runs_jobs_and_says_what_may_be_lost(self):
        self.server.cli("CONFIG", "SET", "appendfsync", "everysec")
        pool = self.start_pool(HANDLERS)
        self.run_job("work")
        (event,) = pool.events("store_durability")
        self.assertEqual(event["level"], "warning")
        self.assertIn("loses up to two seconds", event["text"])

    def test_several_hosts_are_for_clusters(self):
        self.refuses(2, "no cluster", "stats", **self.at(self.backend.replace("/0", ",127.0.0.1/0")))

    def client_names(self):
        return set(re.findall(r" name=(\S+)", self.server.cli("CLIENT", "LIST")))

    def test_the_server_lists_each_process_by_its_name(self):
        self.start_pool(HANDLERS, {"pool_id": "web"})
        self.run_job("work")
        (pool,) = self.objects("pools")
        expected = {f"thd:{process}:pool={pool['name']}" for process in ("dispatcher", "heartbeater")}
        wait_for(lambda: expected <= self.client_names(), lambda: f"{expected} in {self.client_names()}")
        self.ok("pause", "default")
        with subprocess.Popen([self.program, "enqueue", "work", "--wait"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=self.environment_with({}, True)) as client:
            wait_for(lambda: "thctl:enqueue" in self.client_names(), "thctl in the list")
            self.ok("resume", "default")
            self.assertEqual(client.wait(), 0)

    def test_whoever_may_not_take_a_name_works_without(self):
        self.server.cli("ACL", "SETUSER", "ada", "on", ">sesame", "~*", "&*", "+@all", "-client|setname")
        self.ok("migrate", **self.at(self.backend.replace("//", "//ada:sesame@")))

    def test_a_server_that_evicts_keys_is_refused(self):
        self.server.cli("CONFIG", "SET", "maxmemory", "100mb")
        self.server.cli("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        self.refuses(69, "noeviction", "stats")

    def test_two_prefixes_do_not_see_each_other(self):
        self.ok("migrate", **self.at(self.backend + "?prefix=two"))
        job_id = self.enqueue("work", **self.at(self.backend + "?prefix=one"))
        self.assertEqual(self.objects("ls", **self.at(self.backend + "?prefix=two")), [])
        (job,) = self.objects("ls", **self.at(self.backend + "?prefix=one"))
        self.assertEqual(job["id"], job_id)

    def test_a_password_is_used_and_never_shown(self):
        self.server.cli("CONFIG", "SET", "requirepass", "s3cret/@:")
        right = self.backend.replace("//", "//:s3cret%2F%40%3A@")
        wrong = self.backend.replace("//", "//default:wr0ng@")
        self.ok("enqueue", "work", **self.at(right))
        for url, says in ((wrong, "does not accept"), (self.backend, "wants a password")):
            refused = self.refuses(69, says, "stats", **self.at(url))
            self.assertNotIn("wr0ng", refused.err)


class Readers(RedisCase):
    """Reading a job and waiting for its end, in any language."""

    examples = pathlib.Path(os.environ["TH_SOURCE_DIR"]) / "examples/redis"
    handlers = {"work": {"command": "echo hello", "result": "stdout"}, "bad": {"command": "echo nope >&2; exit 65"}}

    def read(self, *words):
        """What the script answers, by name."""
        said = self.server.cli("--eval", str(READER), "th:{mail}:", "th:{mail}:state", ",", *words).split("\n")
        return dict(zip(said[0::2], said[1::2]))

    def send(self, program, job_type):
        return subprocess.run([*program, f"127.0.0.1:{self.server.port}", "mail", job_type, '{"n": 1}'], check=False,
                              capture_output=True, text=True, timeout=DEADLINE,
                              env={**os.environ, "TASKHARBOR_SCRIPTS": str(READER.parent)})

    def test_the_examples_enqueue_a_job_and_see_its_end_and_its_result(self):
        self.start_pool(self.handlers, queues={"mail": {}})
        for program in (["/usr/bin/python3", self.examples / "send.py"], ["node", self.examples / "send.js"]):
            with self.subTest(program[0]):
                done, dead = self.send(program, "work"), self.send(program, "bad")
                self.assertRegex(done.stdout, r"^[0-9a-f-]{36} done hello\n$", done.stderr)
                self.assertRegex(dead.stdout, r"^[0-9a-f-]{36} dead .*nope\n$", dead.stderr)
                self.assertEqual((done.returncode, dead.returncode), (0, 1))
        self.assertEqual(self.server.cli("KEYS", "*readers*"), "")

    def test_a_job_is_read_with_all_that_thctl_shows(self):
        job = self.ok("enqueue", "work", '{"n": 1}', "--queue", "mail", "--key", "k", "--timeout", "30s")
        waiting = self.read(job)
        self.assertEqual((waiting["id"], waiting["type"], waiting["queue"], waiting["state"], waiting["payload"],
                          waiting["key"], waiting["timeout"]), (job, "work", "mail", "ready", '{"n": 1}', "k", "30000000"))
        self.start_pool(self.handlers, queues={"mail": {}})
        self.wait_state(job, "done")
        self.assertEqual(self.read(job)["result"], "hello")
        self.assertNotIn("id", self.read("0193f0a2-7c1d-7abc-8def-0123456789ab"))

    def test_only_an_end_that_somebody_waits_for_is_told(self):
        first, second = (self.ok("enqueue", "work", "--queue", "mail") for _ in range(2))
        with subprocess.Popen(["redis-cli", "-p", str(self.server.port), "PSUBSCRIBE", "th:{mail}:end:*"], text=True,
                              stdout=subprocess.PIPE) as listener:
            self.addCleanup(listener.kill)
            self.assertEqual([listener.stdout.readline().strip() for _ in range(3)][0], "psubscribe")
            self.read(second, "60")
            self.ok("cancel", first, second)
            told = [listener.stdout.readline().strip() for _ in range(4)]
            self.assertEqual(told, ["pmessage", "th:{mail}:end:*", f"th:{{mail}}:end:{second}", "cancelled"])
            listener.kill()

    def test_a_mark_that_nobody_needs_any_more_goes_by_itself(self):
        job = self.ok("enqueue", "work", "--queue", "mail")
        self.read(job, "60")
        self.read(job, "5")
        self.assertIn(int(self.server.cli("TTL", "th:{mail}:readers")), range(6, 61))

    def test_what_is_wrong_is_refused(self):
        for words in (("x",), ("0193f0a2-7c1d-7abc-8def-0123456789ab", "0"),
                      ("0193f0a2-7c1d-7abc-8def-0123456789ab", "soon")):
            said = self.server.cli("--eval", str(READER), "th:{mail}:", "th:{mail}:state", ",", *words)
            self.assertIn("INVALID", said)


class Producers(RedisCase):
    """Enqueueing with redis-cli alone."""

    def produce(self, *words):
        return self.server.cli("--eval", str(SCRIPT), "th:{mail}:", "th:{mail}:state", ",", *words).split("\n")

    def test_the_example_of_the_manual_enqueues_a_job(self):
        self.ok("migrate")
        text = MANUAL.read_text().replace("\\(aq", "'").replace("\\-", "-")
        for line in re.findall(r"^redis-cli (.*)$", text, re.M):
            words = shlex.split(line.replace("enqueue.lua", str(SCRIPT)).replace("job.lua", str(READER)))
            subprocess.run(["redis-cli", "-p", str(self.server.port), *words], check=True, capture_output=True)
        (job,) = self.jobs()
        self.assertEqual((job["queue"], job["type"], job["payload"]), ("mail", "email:send", {"to": "a@b.c"}))

    def test_a_job_of_the_script_is_run_and_its_keys_hold(self):
        self.ok("migrate")
        self.server.cli("SADD", "th:queues", "mail")
        self.start_pool(HANDLERS, queues={"mail": {}})
        job_id, state, how = self.produce("type", "work", "idempotency_key", "once", "payload", "x" * 5000,
                                          "encoding", "raw")
        self.assertEqual((state, how), ("ready", "new"))
        self.wait_state(job_id, "done")
        self.assertEqual(self.produce("type", "work", "idempotency_key", "once"), [job_id, "done", "existed"])

    def test_what_is_wrong_is_refused(self):
        for words in (("type", "a b"), ("type", "work", "payload", "{"), ("type", "work", "priority", "10"),
                      ("type", "work", "colour", "red"), ("payload", "1"), ("type", "work", "run_at", "-1")):
            self.assertIn("INVALID", self.produce(*words)[0], words)
        self.assertEqual(self.server.cli("EXISTS", "th:{mail}:job"), "0")

    def test_the_limits_of_the_pool_hold_for_producers(self):
        self.start_pool(HANDLERS, queues={"mail": {}}, max_payload="1K")
        self.assertIn("INVALID payload is 1025 bytes long: use at most 1024",
                      self.produce("type", "work", "encoding", "raw", "payload", "x" * 1025)[0])
        self.assertEqual(self.produce("type", "work", "encoding", "raw", "payload", "x" * 1024)[2], "new")

    def test_a_script_that_is_too_old_for_the_layout_stores_nothing(self):
        self.ok("migrate")
        self.server.cli("HSET", "th:schema", "version", "6", "usable_from", "5")
        self.assertIn("VERSION", self.produce("type", "work")[0])
        self.assertEqual(self.server.cli("EXISTS", "th:{mail}:job", "th:{mail}:state"), "0")
        self.server.cli("HSET", "th:schema", "version", "6", "usable_from", "4")
        self.assertEqual(self.produce("type", "work")[1:], ["ready", "new"])


class Versions(RedisCase):
    """What is stored is the layout; scripts are called by the hash of their text."""

    def test_an_older_layout_is_not_used_until_it_is_raised(self):
        job_id = self.enqueue("work")
        self.server.cli("HSET", "th:schema", "version", "0", "usable_from", "0")
        self.refuses(1, "TaskHarbor has not been here yet: run 'thctl migrate'", "stats")
        self.server.cli("HSET", "th:schema", "version", "1", "usable_from", "1")
        self.refuses(1, "is at version 1 and this program needs 4: run 'thctl migrate'", "stats")
        self.ok("migrate")
        self.assertEqual(self.server.cli("HMGET", "th:schema", "version", "usable_from"), "4\n4")
        self.start_pool(HANDLERS)
        self.wait_state(job_id, "done")

    def test_a_layout_of_a_newer_program_is_refused_and_left_alone(self):
        self.enqueue("work")
        self.server.cli("HSET", "th:schema", "version", "6", "usable_from", "5")
        for words in (("enqueue", "work"), ("migrate",)):
            self.refuses(1, "upgrade TaskHarbor here", *words)
        self.assertEqual(self.server.cli("HMGET", "th:schema", "version", "usable_from"), "6\n5")
        self.assertEqual(self.server.cli("HLEN", "th:{default}:job"), "1")


class Damage(RedisCase):
    """Somebody has written over what is stored. tests/contract/test_damage.c has every kind of record."""

    brisk = {"reaper_interval": "500ms"}

    def test_a_damaged_lease_does_not_crash_the_pool(self):
        stuck, other = self.enqueue("work"), self.enqueue("work", "--queue", "other")
        place = self.server.cli("ZRANGE", "th:{default}:ready", "0", "0")
        self.server.cli("ZREM", "th:{default}:ready", place)
        self.server.cli("HSET", "th:{default}:lease", stuck, "what is this")
        self.server.cli("HSET", "th:{default}:state", "next_expiry", "0" * 18)
        pool = self.start_pool(HANDLERS, pool=self.brisk, queues={"default": {}, "other": {}})
        self.wait_state(other, "done")
        self.assertEqual(self.wait_state(stuck, "done")["stalls"], 1)
        told = pool.wait_event("record_damaged")
        self.assertEqual((told["queue"], told["record"]), ("default", f"lease {stuck}"))
        self.assertEqual(self.server.cli("HGET", "th:{default}:damaged", f"lease {stuck}"), "what is this")
        self.assertEqual(pool.events("process_exited"), [])
        self.assertEqual(pool.events("store_lost"), [])

    def test_a_look_at_leases_that_a_restart_has_cut_is_made_again(self):
        """Where a look goes on is a place in the memory of a server that is no more."""
        expired = "p" + "x" * 20 + "000001700000000000" + " 1 1700000000000000 1 0 " + "pool" * 10
        jobs = {str(cursor): self.enqueue("work", "--queue", f"q{cursor}") for cursor in range(1, 8)}
        for cursor, job_id in jobs.items():
            base = f"th:{{q{cursor}}}:"
            self.server.cli("DEL", base + "ready")
            self.server.cli("HSET", base + "lease", job_id, expired)
            self.server.cli("HSET", base + "state", "next_expiry", "0" * 18, "look_cursor", cursor,
                            "look_min", "9" * 18)
        queues = {f"q{cursor}": {} for cursor in jobs}
        self.start_pool(HANDLERS, pool=self.brisk, queues=queues)
        for job_id in jobs.values():
            self.assertEqual(self.wait_state(job_id, "done")["stalls"], 1)

    def test_a_damaged_job_is_dead_and_the_next_one_runs(self):
        damaged, sound = self.enqueue("work"), self.enqueue("work")
        self.server.cli("HSET", "th:{default}:job", damaged, "p 1 5 what is this")
        pool = self.start_pool(HANDLERS)
        self.wait_state(sound, "done")
        dead = self.wait_state(damaged, "dead")
        self.assertEqual(dead["reason"], "invalid_payload")
        self.assertIn("damaged", dead["last_error"])
        self.assertEqual(pool.events("process_exited"), [])

    def test_a_key_of_another_type_is_set_aside_and_told(self):
        self.enqueue("work")
        self.ok("queues")
        for name in ("retry", "idempotency", "lease"):
            self.server.cli("SET", f"th:{{default}}:{name}", "of another type")
        self.server.cli("SET", "th:{pools}:beat", "of another type")
        pool = self.start_pool(HANDLERS, pool=self.brisk)
        self.run_job("work")
        pool.wait_event("record_damaged", key="th:{default}:retry")
        pool.wait_event("record_damaged", key="th:{pools}:beat")
        self.assertEqual(self.server.cli("GET", "th:{default}:retry:damaged"), "of another type")
        self.assertEqual(pool.events("process_exited"), [])


class Listing(RedisCase):
    """A queue that is not in the list is seen by nobody but those who serve it."""

    def test_a_queue_that_was_forgotten_is_listed_again_by_who_serves_it(self):
        self.write("fails", "")
        script = self.script("once", "[ ! -e fails ] || { rm fails; exit 1; }")
        retry = {"policy": "fixed", "base_delay": "1s"}
        self.start_pool({"once": {"command": [script], "retry": retry}})
        job_id = self.enqueue("once")
        self.wait_state(job_id, "retry")
        self.server.cli("DEL", "th:queues")
        wait_for(lambda: self.server.cli("SMEMBERS", "th:queues") == "default", "the queue")
        self.wait_state(job_id, "done")

    def test_producers_cannot_forget_to_list_a_queue(self):
        self.ok("migrate")
        self.server.cli("--eval", str(SCRIPT), "th:{mail}:", "th:{mail}:state", ",", "type", "work")
        self.assertEqual(self.server.cli("SMEMBERS", "th:queues"), "mail")
        self.assertEqual([queue["ready"] for queue in self.objects("stats")], [1])

    def test_a_restart_that_forgets_everything_is_survived(self):
        pool = self.start_pool(HANDLERS)
        self.run_job("work")
        self.server.kill()
        for name in os.listdir(self.place("redis")):
            if name.startswith(("appendonly", "dump")):
                shutil.rmtree(self.place(f"redis/{name}"), ignore_errors=True)
        self.server.start()
        pool.wait_event("store_back")
        self.ok("migrate")
        self.run_job("work")
        self.assertEqual(self.server.cli("SMEMBERS", "th:queues"), "default")


class Faults(RedisCase):
    def test_flushed_scripts_are_loaded_again(self):
        self.enqueue("work")
        self.server.cli("SCRIPT", "FLUSH")
        pool = self.start_pool(HANDLERS)
        self.run_job("work")
        self.server.cli("SCRIPT", "FLUSH")
        self.run_job("work")
        self.assertEqual(pool.events("store_lost"), [])

    def test_a_pool_goes_on_when_all_its_connections_are_killed(self):
        self.start_pool(HANDLERS)
        self.run_job("work")
        for kind in ("normal", "pubsub"):
            self.server.cli("CLIENT", "KILL", "TYPE", kind)
        self.run_job("work")

    def test_a_server_that_is_killed_and_restarted_loses_nothing(self):
        pool = self.start_pool(HANDLERS)
        self.run_job("work")
        self.ok("pause", "default")
        job_id = self.enqueue("work")
        self.server.kill()
        self.refuses(69, "cannot connect", "stats")
        pool.wait_event("store_lost")
        self.server.start()
        pool.wait_event("store_back")
        self.ok("resume", "default")
        self.wait_state(job_id, "done")

    def test_without_memory_jobs_end_but_none_comes_in(self):
        self.enqueue("work")
        self.server.cli("CONFIG", "SET", "maxmemory", "1")
        self.refuses(69, "out of memory", "enqueue", "work")
        (job,) = self.jobs()
        self.start_pool(HANDLERS, pool={"migrate": False})
        self.wait_state(job["id"], "done")

    def test_a_replica_is_not_written_to(self):
        self.enqueue("work")
        replica = self.run_replica()
        self.refuses(69, "replica", "enqueue", "work", **self.at(replica.url))

    def test_wait_replicas_confirms_only_what_replicas_have(self):
        waiting = self.backend + "?wait_replicas=1"
        refused = self.thctl("enqueue", "work", **self.at(waiting))
        self.assertEqual((refused.code, refused.out), (69, ""), refused)
        self.assertIn("only 0 of 1 replicas", refused.err)
        self.assertIn("the job may be stored", refused.err)
        self.run_replica()
        self.ok("enqueue", "work", **self.at(waiting))


class Failover(RedisCase):
    settings = {"requirepass": "s3rvers", "masterauth": "s3rvers"}

    def refuse_other_passwords(self, url):
        for other, says in (("", "wants a password of its own"),
                            ("?sentinel_password=s3rvers", "does not accept this user and password")):
            refused = self.refuses(69, says, "stats", **self.at(url + other))
            self.assertIn("sentinel", refused.err)
            self.assertNotIn("s3rvers", refused.err)

    def wait_for_a_slow_one(self, sentinel):
        """There is no other to ask, so it has all the time that there is."""
        sentinel.process.send_signal(signal.SIGSTOP)
        wake = threading.Timer(1, sentinel.process.send_signal, [signal.SIGCONT])
        wake.start()
        self.ok("stats")
        wake.join()

    def test_a_pool_follows_the_sentinel_to_the_new_master(self):
        replica = self.run_replica()
        sentinel = self.run_server(Sentinel(self.place("sentinel"), self.server, "s3ntinels"))
        wait_for(lambda: "num-slaves\n1\n" in sentinel.cli("SENTINEL", "MASTER", "jobs") + "\n",
                 "the sentinel to know of the replica")
        url = sentinel.url.replace("//", "//:s3rvers@")
        self.refuse_other_passwords(url)
        self.backend = url + "?sentinel_password=s3ntinels"
        pool = self.start_pool(HANDLERS)
        self.run_job("work")
        self.wait_for_a_slow_one(sentinel)
        self.server.kill()
        wait_for(lambda: str(replica.port) in sentinel.cli("SENTINEL", "get-master-addr-by-name", "jobs"),
                 "the failover")
        wait_for(lambda: self.thctl("stats").code == 0, "the new master")
        self.run_job("work")
        for secret in ("s3rvers", "s3ntinels"):
            self.assertNotIn(secret, pool.log_text())


class Cluster(ServerCase):
    def setUp(self):
        super().setUp()
        self.cluster = self.run_server(RedisCluster(self.place("cluster"),
                                                    {"cluster-require-full-coverage": "no"}))
        self.backend = self.cluster.url

    def test_queues_on_all_nodes_are_served(self):
        queues = ["default", "mail", "invoices"]  # one on each node
        self.start_pool(HANDLERS, queues={queue: {} for queue in queues})
        for queue in queues:
            self.run_job("work", "--queue", queue)
        slots = {node.port: int(node.cli("DBSIZE")) for node in self.cluster.nodes}
        self.assertNotIn(0, slots.values())

    def move_slot(self, slot):
        """The slot goes to another node, as an operator would move it; stops on the way."""
        owner = next(node for node in self.cluster.nodes
                     if int(node.cli("CLUSTER", "COUNTKEYSINSLOT", slot)) > 0)
        target = next(node for node in self.cluster.nodes if node is not owner)
        owner_id, target_id = owner.cli("CLUSTER", "MYID"), target.cli("CLUSTER", "MYID")
        target.cli("CLUSTER", "SETSLOT", slot, "IMPORTING", owner_id)
        owner.cli("CLUSTER", "SETSLOT", slot, "MIGRATING", target_id)
        yield "not a key has moved"
        keys = owner.cli("CLUSTER", "GETKEYSINSLOT", slot, "1000").split()
        for some in (keys[:len(keys) // 2], keys[len(keys) // 2:]):
            owner.cli("MIGRATE", "127.0.0.1", str(target.port), "", "0", "5000", "KEYS", *some)
            yield f"{some} have moved"
        for node in (target, owner, *self.cluster.nodes):
            node.cli("CLUSTER", "SETSLOT", slot, "NODE", target_id)

    def start_gated(self, **sections):
        """A pool on queues of all nodes, which runs a job of `mail` and one of `invoices` until the gate opens."""
        gated = self.script("gated", "until [ -e gate ]; do sleep 0.02; done")
        pool = self.start_pool({**HANDLERS, "gated": {"command": [gated]}}, {"num_workers": 4},
                               queues={queue: {} for queue in ("default", "mail", "invoices")},
                               **sections)
        ids = [self.enqueue("gated", "--queue", queue) for queue in ("mail", "invoices")]
        for job_id in ids:
            self.wait_state(job_id, "running")
        return pool, ids

    def test_a_slot_on_the_move_holds_up_no_other_queue(self):
        pool, (moving, other) = self.start_gated()
        steps = self.move_slot(self.cluster.nodes[0].cli("CLUSTER", "KEYSLOT", "mail"))
        next(steps)
        self.write("gate", "")
        pool.wait_event("queue_lost", queue="mail")
        pool.wait_event("job_done", job=other)
        for queue in ("default", "invoices"):
            self.enqueue("work", "--queue", queue)
        pool.wait_event("job_done", count=3)
        for _ in steps:
            pass
        pool.wait_event("queue_back", queue="mail")
        self.run_job("work", "--queue", "mail")
        self.assertEqual(self.job(moving)["executions"], 1)
        self.assertEqual(pool.events("store_lost"), [])

    def test_a_node_that_is_down_holds_up_no_other_queue(self):
        first, _, third = self.cluster.nodes
        self.backend = "redis://" + ",".join(f"127.0.0.1:{node.port}" for node in self.cluster.nodes)
        pool, (mail, invoice) = self.start_gated(
            cron={"tick": {"schedule": "* * * * * *", "type": "work", "queue": "mail"}})
        third.kill()
        self.write("gate", "")
        pool.wait_event("queue_lost", queue="invoices")
        pool.wait_event("job_done", job=mail)
        ids = [self.enqueue("work", "--queue", "mail"), self.enqueue("work", "--run-at", "+100ms")]
        for job_id in ids:
            pool.wait_event("job_done", job=job_id)
        third.start()
        pool.wait_event("queue_back", queue="invoices")
        pool.wait_event("job_done", job=invoice)
        first.kill()  # the one that the pool is connected by
        pool.wait_event("job_done", job=self.enqueue("work"))
        first.start()
        wait_for(lambda: self.thctl("stats").code == 0, "the cluster to be whole")
        self.run_job("work", "--queue", "mail")
        self.assertEqual(self.job(invoice)["executions"], 1)
        self.assertEqual(pool.events("store_lost", process="dispatcher"), [])

    def test_a_queue_stands_still_while_its_slot_moves_and_loses_nothing(self):
        ids = [self.enqueue("work", "--queue", "mail") for _ in range(3)]
        slot = self.cluster.nodes[0].cli("CLUSTER", "KEYSLOT", "mail")
        steps = self.move_slot(slot)
        next(steps)
        step = next(steps)
        refused = self.thctl("enqueue", "work", "--queue", "mail")
        self.assertEqual(refused.code, 69, step)
        self.assertIn("moving a slot", refused.err)
        for step in steps:
            pass
        self.start_pool(HANDLERS, queues={"mail": {}})
        for job_id in ids:
            self.wait_state(job_id, "done")
        (line,) = self.objects("stats")
        self.assertEqual(line["done_total"], 3)


if __name__ == "__main__":
    unittest.main()

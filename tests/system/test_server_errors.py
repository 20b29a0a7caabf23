"""
What a PostgreSQL or a Redis can answer other than what it was asked for: one sentence that says what to do,
nothing half-written, a pool that goes on by itself, and no secret anywhere.
"""
import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import threading
import unittest
import unittest.mock
import uuid

from daemon import descendants, read_proc, wait_for
from gate import GateCase
from servers import Postgres, Redis, free_port, servers_folder

SECRET = "s3cr3t-Pa55"
SERVICES = ["dispatcher", "heartbeater", "reaper", "retrier", "scheduler"]
CALM = {"lease": "20s", "heartbeat_interval": "300ms", "kill_grace": "100ms",
        "reaper_interval": "500ms"}

servers = {}


def setUpModule():
    folder = unittest.enterModuleContext(servers_folder())
    servers[Postgres] = unittest.enterModuleContext(
        Postgres(os.path.join(folder, "postgres"), settings={"max_connections": 20}))
    servers[Redis] = unittest.enterModuleContext(
        Redis(os.path.join(folder, "redis"), settings={
            "appendonly": "no", "enable-protected-configs": "yes"}))
    # Whoever connects as `app` needs the password, all others none.
    postgres = servers[Postgres]
    postgres.sql(f"CREATE ROLE app SUPERUSER LOGIN PASSWORD '{SECRET}'")
    path = os.path.join(postgres.data, "pg_hba.conf")
    with open(path, encoding="utf-8") as file:
        rules = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write("host all app 127.0.0.1/32 scram-sha-256\n" + rules)
    postgres.sql("SELECT pg_reload_conf()")


class ServerCase(GateCase):
    """A test with a store of its own on one of the servers."""

    kind, option = None, ""

    def setUp(self):
        super().setUp()
        self.server = servers[self.kind]
        self.store = f"?{self.option}=test_{uuid.uuid4().hex}"
        self.backend = self.server.url + self.store
        self.ok("migrate")

    def at(self, url):
        return {"TASKHARBOR_BACKEND": url + self.store}

    def calm_pool(self, **settings):
        return self.start_pool(self.handlers, {**CALM, **settings})

    def assert_one_outage(self, pool, *names):
        """Each of these has lost the store once and has it back, and nobody has died of it."""
        for name in names:
            pool.wait_event("store_back", process=name)
        for event in ("store_lost", "store_back"):
            said = [entry["process"] for entry in pool.events(event)]
            self.assertEqual(len(said), len(set(said)), pool.log_text())
            self.assertLessEqual(set(names), set(said))
        self.assertEqual(pool.events("process_exited"), [])


class Both:
    """What is true of either server."""

    def test_nobody_listens(self):
        port = free_port()
        url = self.server.url.replace(str(self.server.port), str(port))
        result = self.refuses(69, "Connection refused", "stats", env=self.at(url))
        self.assertIn(str(port), result.err)
        self.assertNotIn("Is the server", result.err)  # a second sentence without an end to the first

    def test_a_server_that_is_restarted_is_said_once_by_each_process_and_jobs_go_on(self):
        pool = self.calm_pool()
        job_id = self.held_job()
        self.stop_server()
        for name in SERVICES:
            pool.wait_event("store_lost", process=name)
        self.server.start()
        self.open_gate()
        self.assert_untouched(job_id)
        self.assert_untouched(self.enqueue("quick"))
        self.assert_one_outage(pool, *SERVICES)
        self.assertEqual(pool.stop(), 0)

    def test_whoever_is_thrown_out_comes_back(self):
        pool = self.calm_pool()
        job_id = self.held_job()
        self.throw_out()
        self.open_gate()
        self.assert_untouched(job_id)
        self.assert_untouched(self.enqueue("quick"))
        self.assertEqual(pool.events("process_exited"), [])
        self.assertEqual(pool.events("lease_lost"), [])
        self.assertEqual(pool.stop(), 0)

    def test_a_server_that_takes_no_more_connections_is_tried_again(self):
        self.configure(self.handlers, CALM)
        with self.full_house():
            self.refuses(69, self.full_words, "stats")
            pool = self.start()
            self.assertIn(self.full_words,
                          pool.wait_event("store_lost", process="dispatcher")["error"])
        pool.wait_ready()
        self.assert_untouched(self.enqueue("quick"))
        self.assertEqual(pool.stop(), 0)

    def test_a_server_that_cannot_be_written_to_is_said_and_waited_for(self):
        pool = self.calm_pool()
        job_id = self.held_job()
        with self.read_only():
            self.refuses(69, self.read_only_words, "enqueue", "quick")
            self.refuses(69, self.read_only_words, "enqueue", "--quiet", "quick", "--key", "a",
                         "--queue", "other")
            self.assertIn(self.read_only_words,
                          pool.wait_event("store_lost", process="heartbeater")["error"])
        self.open_gate()
        self.assert_untouched(job_id)
        self.assert_one_outage(pool, "heartbeater")
        self.assertEqual([job["id"] for job in self.jobs()], [job_id])
        self.assertEqual(pool.stop(), 0)

    # ---- secrets ----

    def assert_secret_is_hidden(self, text):
        self.assertNotIn(SECRET, text if isinstance(text, str) else text.decode(errors="replace"))

    def test_a_wrong_password_is_said_and_not_shown(self):
        with self.password_wanted():
            for url in (self.wrong_url(), self.no_password_url()):
                result = self.refuses(69, "password", "stats", env=self.at(url))
                self.assertNotIn("wr0ng", result.err)
            pool = self.start(self.configure(self.handlers, CALM), env=self.at(self.wrong_url()))
            self.assertIn("password", pool.wait_event("store_lost", process="reaper")["error"])
            self.assertNotIn("wr0ng", pool.log_text())

    def test_a_password_shows_in_no_process_no_log_and_no_job(self):
        handlers = {"spy": {"command": [self.script("spy", """
            { env; tr '\\0' '\\n' </proc/self/environ; tr '\\0' ' ' </proc/$PPID/cmdline
              tr '\\0' '\\n' </proc/$PPID/environ; ls -l /proc/self/fd; } >seen 2>&1
            until [ -e gate ]; do sleep 0.02; done
            """)]}}
        variables = {name: SECRET for name in ("PGPASSWORD", "REDISCLI_AUTH", "REDIS_PASSWORD")}
        with self.password_wanted():
            secret = {**self.at(self.secret_url()), **variables}
            config = self.configure(handlers, CALM)
            pool = self.start(config, "--backend", secret["TASKHARBOR_BACKEND"],
                              env=secret).wait_ready()
            job_id = self.ok("enqueue", "spy", env=secret)
            wait_for(lambda: os.path.exists(self.path("seen")), pool.log_text)
            for pid in [pool.pid, *descendants(pool.pid)]:
                self.assert_secret_is_hidden(read_proc(pid, "cmdline"))
            for name, pid in pool.processes().items():
                if name.startswith("worker"):
                    self.assert_secret_is_hidden(read_proc(pid, "environ"))
            pool.signal(signal.SIGUSR1)
            pool.wait_event("process_state", name="dispatcher")
            answers = [self.thctl(*words, env=secret) for words in
                       (["--json", "show", job_id], ["--json", "pools"], ["top", "--once"])]
            self.open_gate()
            wait_for(lambda: self.thctl("show", job_id, env=secret).out.find("done") > 0, "the end")
            self.assertEqual(pool.stop(), 0)
        for answer in answers:
            self.assertEqual(answer.code, 0, answer)
            self.assert_secret_is_hidden(answer.out + answer.err)
        with open(self.path("seen"), "rb") as seen:
            self.assert_secret_is_hidden(seen.read())
        self.assert_secret_is_hidden(pool.log_text())
        self.assertEqual(pool.events("store_lost"), [])

    def test_a_password_that_was_typed_does_not_show_while_thctl_runs(self):
        with self.password_wanted():
            url = self.secret_url() + self.store
            with subprocess.Popen([self.program, "--backend", url, "enqueue", "never", "--wait"],
                                  cwd=self.folder, env=self.environment_with(None, False),
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as waiting:
                waiting.stdout.readline()  # the id: it is about to wait
                shown = read_proc(waiting.pid, "cmdline")
                waiting.terminate()
        self.assertIn(b"enqueue", shown)
        self.assert_secret_is_hidden(shown)

    def test_a_url_that_is_wrong_does_not_show_its_password(self):
        scheme, _, place = self.server.url.partition("//")
        place = place.partition("@")[2] or place
        for url in (f"{scheme}//app:{SECRET}@/x@{place}", f"{scheme}//app:x/{SECRET}@{place}",
                    f"{scheme}//app:x@{SECRET}@{place}", f"{scheme}//app:{SECRET}@{place}?nonsense=1",
                    f"{scheme}//app:{SECRET}@nowhere.invalid/0", f"{scheme}//app:{SECRET}@{place}?x"):
            with self.subTest(url):
                for command in (["stats"], ["migrate"]):
                    result = self.thctl(*command, env={"TASKHARBOR_BACKEND": url})
                    self.assertIn(result.code, (2, 69), result)
                    self.assertEqual(len(result.err.splitlines()), 1, result)
                    self.assert_secret_is_hidden(result.err)
                pool = self.start(self.configure(self.handlers, CALM), "--check",
                                  env={"TASKHARBOR_BACKEND": url})
                self.assertIn(pool.wait(), (2, 69))
                self.assert_secret_is_hidden(pool.log_text())


class OnPostgres(Both, ServerCase):
    kind, option = Postgres, "schema"
    full_words = "raise max_connections of the server"
    read_only_words = "this server is read-only: name the primary"

    def stop_server(self):
        self.server.stop()

    def throw_out(self):
        self.server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        " WHERE application_name LIKE 'th%'")

    @contextlib.contextmanager
    def full_house(self):
        with contextlib.ExitStack() as stack:
            with self.assertRaises(RuntimeError):
                while True:
                    stack.enter_context(self.server.session())
            yield

    @contextlib.contextmanager
    def read_only(self):
        """As a primary is that has become a standby: for those who are connected, too."""
        self.server.sql("ALTER SYSTEM SET default_transaction_read_only = on")
        self.server.sql("SELECT pg_reload_conf()")
        try:
            yield
        finally:
            self.server.sql("ALTER SYSTEM RESET default_transaction_read_only")
            self.server.sql("SELECT pg_reload_conf()")

    @contextlib.contextmanager
    def password_wanted(self):
        yield

    def url_of(self, login):
        return self.server.url.replace("taskharbor@", login + "@", 1)

    def wrong_url(self):
        return self.url_of("app:wr0ng")

    def no_password_url(self):
        return self.url_of("app")

    def secret_url(self):
        return self.url_of("app:" + SECRET)

    def test_no_such_database(self):
        url = self.server.url.rpartition("/")[0] + "/nowhere"
        self.refuses(69, "make it with 'createdb', or name another one in the URL", "stats",
                     env=self.at(url))

    def test_a_statement_that_waits_too_long_is_given_up_and_has_done_nothing(self):
        schema = self.store.partition("=")[2]
        with self.server.session(f"BEGIN; LOCK {schema}.job IN ACCESS EXCLUSIVE MODE;"):
            self.refuses(69, "statement timeout: somebody else holds what we need", "enqueue", "a")
        self.assertEqual(self.jobs(), [])

    def test_a_pool_outlives_a_statement_timeout_and_says_it_once(self):
        pool = self.calm_pool()
        schema = self.store.partition("=")[2]
        with self.server.session(f"BEGIN; LOCK {schema}.pool IN ACCESS EXCLUSIVE MODE;"):
            error = pool.wait_event("store_lost", process="heartbeater")["error"]
            self.assertIn("statement timeout", error)
        self.assert_untouched(self.enqueue("quick"))
        self.assert_one_outage(pool, "heartbeater")
        self.assertEqual(pool.stop(), 0)


    # ---- races that the server ends ----

    def wait_blocked(self):
        """Until a statement of ours waits for somebody."""
        wait_for(lambda: self.server.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                                         " AND application_name LIKE 'th%'") != "0", "it to wait")

    def test_whoever_loses_a_deadlock_tries_again_and_nobody_notices(self):
        schema = self.store.partition("=")[2]
        ids = [self.enqueue("quick", "1", "--key", key) for key in "ab"]
        lock = f"UPDATE {schema}.keyed SET key = key WHERE key = '%s';"
        lines = "".join('{"type": "quick", "payload": 2, "key": "%s"}\n' % key for key in "ab")
        deadlocks = self.server.log_text().count("deadlock detected")
        # The other one would wait for an hour before it looks for a deadlock, so it is us who lose.
        with self.server.session("SET deadlock_timeout = '1h'; BEGIN;" + lock % "b") as go_on, \
                subprocess.Popen([self.program, "--json", "enqueue", "--bulk", "-"], cwd=self.folder,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True,
                                 env=self.environment_with(None, True)) as bulk:
            bulk.stdin.write(lines)
            bulk.stdin.close()
            self.wait_blocked()
            go_on(lock % "a")
            wait_for(lambda: self.server.log_text().count("deadlock detected") == deadlocks + 1,
                     "a deadlock")
            go_on("COMMIT;")
            answers = [json.loads(line) for line in bulk.stdout]
        self.assertEqual(bulk.returncode, 0)
        self.assertEqual([(answer["id"], answer["updated"]) for answer in answers],
                         [(job_id, True) for job_id in ids])
        self.assertEqual([(job["id"], job["payload"]) for job in self.jobs()],
                         [(job_id, 2) for job_id in ids])

    def fail_often(self, table, code, every):
        """Of so many inserts into the table all but the last are a race that was lost."""
        schema, name = self.store.partition("=")[2], f"{table}_{code}"
        self.server.sql(f"""
            CREATE SEQUENCE {schema}.{name};
            CREATE FUNCTION {schema}.{name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF nextval('{schema}.{name}') % {every} <> 0 THEN
                    RAISE EXCEPTION 'a race was lost' USING ERRCODE = '{code}';
                END IF;
                RETURN NULL;
            END $$;
            CREATE TRIGGER {name} AFTER INSERT ON {schema}.{table} FOR EACH STATEMENT
                EXECUTE FUNCTION {schema}.{name}()""")

    def test_lost_races_of_all_who_write_are_tried_again_and_each_job_runs_once(self):
        # An exchange may write both leases and ends, and is tried again for each of them: 8 times are all it has.
        for table, code, every in (("job", "40001", 3), ("lease", "40P01", 2), ("ended", "40001", 2)):
            self.fail_often(table, code, every)
        pool = self.calm_pool()
        self.open_gate()
        ids = [self.enqueue("held") for _ in range(5)]
        for job_id in ids:
            self.assert_untouched(job_id)
            self.assertEqual(len(self.starts(job_id)), 1)
        self.assertEqual([job["id"] for job in self.jobs()], ids)
        self.assertEqual(self.objects("stats")[0]["done_total"], len(ids))
        self.assertEqual(pool.events("store_lost"), [])
        self.assertEqual(pool.stop(), 0)

    def test_a_server_whose_transactions_are_serializable_runs_jobs_as_any_other(self):
        self.server.sql("ALTER DATABASE taskharbor SET default_transaction_isolation = serializable")
        self.addCleanup(self.server.sql, "ALTER DATABASE taskharbor RESET default_transaction_isolation")
        failures = self.server.log_text().count("could not serialize")
        pools = [self.calm_pool(num_workers=4) for _ in range(2)]
        lines = "".join('{"type": "quick", "key": "%d"}\n' % number for number in range(20))
        producers = [threading.Thread(target=self.ok, args=("enqueue", "--bulk", "-"),
                                      kwargs={"stdin": lines + '{"type": "quick"}\n' * 30}) for _ in range(4)]
        for producer in producers:
            producer.start()
        for producer in producers:
            producer.join()
        wait_for(lambda: {job["state"] for job in self.jobs()} <= {"done", "cancelled"}, "the end of all")
        done = [job for job in self.jobs() if job["state"] == "done"]
        self.assertEqual({(job["executions"], job["attempts"], job["stalls"]) for job in done}, {(1, 0, 0)})
        self.assertEqual(self.objects("stats")[0]["done_total"], len(done))
        self.assertEqual(self.server.log_text().count("could not serialize"), failures)
        for pool in pools:
            self.assertEqual(pool.events("store_lost"), [])
            self.assertEqual(pool.stop(), 0)


class OnRedis(Both, ServerCase):
    kind, option = Redis, "prefix"
    full_words = "the server has as many clients as it takes"
    read_only_words = "this is a replica; the master is elsewhere"

    def stop_server(self):
        self.server.cli("SAVE")
        self.server.cli("SHUTDOWN", "SAVE")
        self.server.process.wait()

    def throw_out(self):
        self.server.cli("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        self.server.cli("CLIENT", "KILL", "TYPE", "pubsub")

    @contextlib.contextmanager
    def steadily(self, name, value, usual):
        """Another value for a setting that may lock everybody out who is not connected yet."""
        with socket.create_connection(("127.0.0.1", self.server.port)) as steady:
            try:
                steady.sendall(f"CONFIG SET {name} {value}\r\n".encode())
                self.assertEqual(steady.recv(100), b"+OK\r\n")
                yield
            finally:
                steady.sendall(f"CONFIG SET {name} {usual}\r\n".encode())
                self.assertEqual(steady.recv(100), b"+OK\r\n")

    def full_house(self):
        return self.steadily("maxclients", 1, 1000)

    def password_wanted(self):
        return self.steadily("requirepass", SECRET, '""')

    @contextlib.contextmanager
    def read_only(self):
        self.server.cli("REPLICAOF", "127.0.0.1", str(free_port()))
        try:
            yield
        finally:
            self.server.cli("REPLICAOF", "NO", "ONE")

    def wrong_url(self):
        return self.server.url.replace("//", "//:wr0ng@", 1)

    def no_password_url(self):
        return self.server.url

    def secret_url(self):
        return self.server.url.replace("//", f"//:{SECRET}@", 1)

    def keys(self):
        return sorted(self.server.cli("KEYS", self.store.partition("=")[2] + ":*").splitlines())

    def test_no_such_database(self):
        result = self.thctl("stats", env=self.at(self.server.url.replace("/0", "/99")))
        self.assertEqual(result.code, 2, result)
        self.assertIn("DB index is out of range", result.err)

    def test_scripts_that_are_flushed_are_loaded_again_and_nobody_notices(self):
        pool = self.calm_pool()
        job_id = self.held_job()
        for _ in range(3):
            self.assertEqual(self.server.cli("SCRIPT", "FLUSH"), "OK")
            self.assert_untouched(self.enqueue("quick"))
        self.open_gate()
        self.assert_untouched(job_id)
        self.assertEqual(pool.stop(), 0)
        self.assertEqual(pool.events("store_lost"), [])

    def test_a_server_without_memory_takes_no_jobs_and_ends_those_it_has(self):
        pool = self.calm_pool()
        job_id = self.held_job()
        keys = self.keys()
        with self.steadily("maxmemory", 1, 0):
            says = "the server is out of memory: raise maxmemory"
            self.refuses(69, says, "enqueue", "quick")
            self.refuses(69, says, "enqueue", "quick", "--queue", "new", "--idempotency-key", "k")
            self.assertEqual(self.keys(), keys)
            self.assertEqual(self.calm_pool().stop(), 0)
            self.open_gate()
            self.assert_untouched(job_id)
            self.ok("rm", job_id)
        self.assertEqual(self.jobs(), [])
        self.assert_untouched(self.enqueue("quick"))
        self.assertEqual(pool.stop(), 0)
        self.assertEqual(pool.events("store_lost"), [])

    def test_a_bulk_that_fills_the_memory_stores_whole_batches_and_says_how_many_lines(self):
        line = '{"type": "a", "payload": "%s"}\n' % ("x" * 2000)
        info = self.server.cli("INFO", "memory").splitlines()
        [used] = [int(word.partition(":")[2]) for word in info if word.startswith("used_memory:")]
        with self.steadily("maxmemory", used + 4000000, 0):
            result = self.thctl("enqueue", "--bulk", "-", stdin=line * 5000)
        self.assertEqual(result.code, 69, result)
        self.assertIn("the server is out of memory: raise maxmemory", result.err)
        stored = len(self.jobs())
        self.assertIn(stored, range(1000, 5000, 1000))
        self.assertIn(f"stdin is stored up to line {stored}:", result.err)

    def test_a_server_that_cannot_save_is_said_and_waited_for(self):
        pool = self.calm_pool()
        job_id = self.held_job()
        os.mkdir(self.path("gone"))
        with self.steadily("dir", self.path("gone"), self.server.folder), \
                self.steadily("save", '"3600 1"', '""'):
            os.rmdir(self.path("gone"))
            self.server.cli("BGSAVE")
            wait_for(lambda: "rdb_last_bgsave_status:err" in self.server.cli("INFO", "persistence"),
                     "a save that fails")
            self.refuses(69, "the server cannot save to its disk and refuses to write", "enqueue",
                         "quick")
            pool.wait_event("store_lost", process="heartbeater")
        self.open_gate()
        self.assert_untouched(job_id)
        self.assert_one_outage(pool, "heartbeater")
        self.assertEqual([job["id"] for job in self.jobs()], [job_id])

    def test_a_server_that_still_loads_its_data_is_said_and_waited_for(self):
        pool = self.calm_pool()
        for number in range(30):  # each of them large enough for the server to look up from its file
            self.server.cli("SET", f"large:{number}", secrets.token_hex(4000))
        self.stop_server()
        slow = {"key-load-delay": 100000, "loading-process-events-interval-bytes": 1024}
        with unittest.mock.patch.dict(self.server.settings, slow):
            start = threading.Thread(target=self.server.start)
            start.start()
            wait_for(lambda: "the server is loading its data" in self.thctl("stats").err, "it")
            start.join()
        self.server.cli("CONFIG", "SET", "key-load-delay", "0")
        self.assert_untouched(self.enqueue("quick"))
        self.assert_one_outage(pool, "dispatcher")
        self.assertEqual(pool.stop(), 0)


if __name__ == "__main__":
    unittest.main()

"""
PostgreSQL as users meet it: what they are told when it cannot be used, poolers, and a whole pool on a
server that is killed and started again.
"""
import json
import os
import socket
import subprocess
import time
import unittest

from servers import DEADLINE, Postgres, free_port, is_listening, servers_folder

THD = os.environ.get("THD", "build/dev/thd")
THCTL = os.environ.get("THCTL", "build/dev/thctl")
TWO_ADDRESSES = os.path.join(os.environ.get("TH_BUILD_DIR", "build/dev"), "tests/libtwo_addresses.so")
CONFIG = """\
backend: {url}
pool: {{num_workers: 2, heartbeat_interval: 1s, lease: 3s, kill_grace: 100ms}}
handlers:
  work: {{command: ["true"]}}
"""


shared = {}


def setUpModule():
    shared["folder"] = unittest.enterModuleContext(servers_folder())
    shared["postgres"] = unittest.enterModuleContext(Postgres(os.path.join(shared["folder"], "postgres")))


class Server(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder, cls.postgres = shared["folder"], shared["postgres"]

    def setUp(self):
        self.addCleanup(self.postgres.sql, "SET client_min_messages = warning;"
                                           "DROP SCHEMA IF EXISTS taskharbor CASCADE")

    def thctl(self, *words, url=None, env=None):
        return subprocess.run([THCTL, "--backend", url or self.postgres.url, *words], check=False,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, env=env,
                              timeout=DEADLINE)

    def ok(self, *words):
        result = self.thctl(*words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.strip()

    def start_pool(self, options="", env=None):
        path = os.path.join(self.folder, "jobs.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(url=self.postgres.url + options))
        process = subprocess.Popen([THD, "--config", path], stdin=subprocess.DEVNULL, env=env,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

    def wait_for(self, condition):
        end = time.monotonic() + DEADLINE
        while not condition():
            self.assertLess(time.monotonic(), end, "it did not happen")
            time.sleep(0.02)


class Refusals(Server):
    def test_a_database_that_is_missing_is_named_with_advice(self):
        result = self.thctl("stats", url=self.postgres.url.rsplit("/", 1)[0] + "/nobody")
        self.assertEqual(result.returncode, 69)
        self.assertIn('database "nobody" does not exist: make it with \'createdb\'', result.stderr)

    def test_a_password_does_not_show(self):
        for url in (f"postgres://nobody:sesame@127.0.0.1:{self.postgres.port}/taskharbor",
                    f"postgres://nobody@127.0.0.1:{self.postgres.port}/x?password=sesame",
                    "postgres://me:ses%zzame@127.0.0.1/x", "postgres://me:sesame@[127.0.0.1/x"):
            result = self.thctl("stats", url=url)
            self.assertIn(result.returncode, (2, 69), result)
            self.assertNotIn("ame", result.stderr.replace("name", ""))

    def test_a_schema_that_is_missing_is_not_made_by_looking(self):
        result = self.thctl("ls", url=self.postgres.url + "?schema=other")
        self.assertEqual(result.returncode, 69)
        self.assertIn("no schema other here", result.stderr)
        self.assertEqual(self.postgres.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'other'"), "0")

    def test_a_schema_may_be_named_by_a_word_of_sql(self):
        url = self.postgres.url + "?schema=select"
        self.addCleanup(self.postgres.sql, 'SET client_min_messages = warning; DROP SCHEMA "select" CASCADE')
        for arguments in (("migrate",), ("enqueue", "work"), ("stats",)):
            result = self.thctl(*arguments, url=url)
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.postgres.sql('SELECT count(*) FROM "select".jobs'), "1")

    def test_the_first_host_may_be_down(self):
        self.ok("migrate")
        hosts = f"127.0.0.1:{free_port()},127.0.0.1:{self.postgres.port}"
        result = self.thctl("stats", url=f"postgresql://taskharbor@{hosts}/taskharbor"
                                         "?target_session_attrs=read-write")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_server_that_is_read_only_is_unavailable_with_advice(self):
        self.ok("migrate")
        url = self.postgres.url + "?options=-c%20default_transaction_read_only%3don"
        result = self.thctl("enqueue", "work", url=url)
        self.assertEqual(result.returncode, 69, result.stderr)
        self.assertIn("target_session_attrs=read-write", result.stderr)


class SilentHosts(Server):
    """
    Servers of the URL whose machine is gone, or whose network drops everything. Were each of them
    waited for as long as this URL allows, thctl would not come back before the test gives up.
    """

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.alive = f"127.0.0.1:{cls.postgres.port}"

    def silent(self, address="127.0.0.1", port=0):
        """A place where connections are taken and nobody ever answers."""
        silent = socket.create_server((address, port), backlog=50)
        self.addCleanup(silent.close)
        return f"{address}:{silent.getsockname()[1]}"

    def deaf(self):
        """A place where connections are not even taken, as there is no room left for them."""
        deaf = socket.create_server(("127.0.0.1", 0), backlog=0)
        self.addCleanup(deaf.close)
        for _ in range(10):
            caller = socket.socket()
            self.addCleanup(caller.close)
            caller.setblocking(False)
            caller.connect_ex(deaf.getsockname())
        return f"127.0.0.1:{deaf.getsockname()[1]}"

    def stats(self, *hosts, env=None):
        return self.thctl("stats", env=env, url=f"postgres://taskharbor@{','.join(hosts)}/taskharbor"
                          "?target_session_attrs=read-write&connect_timeout=60")

    def test_one_that_answers_is_found_behind_several_that_do_not(self):
        self.ok("migrate")
        result = self.stats(self.silent(), self.deaf(), self.silent(), self.silent(), self.alive)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_when_none_answers_each_is_named_in_one_sentence(self):
        hosts = [self.silent(), self.deaf(), self.silent()]
        result = self.stats(*hosts)
        self.assertEqual((result.returncode, len(result.stderr.splitlines())), (69, 1), result)
        for host in hosts:
            self.assertIn(f'at "127.0.0.1" (127.0.0.1), port {host.split(":")[1]} failed: no answer',
                          result.stderr)

    def test_of_a_name_with_two_addresses_the_second_is_tried_when_the_first_is_silent(self):
        self.ok("migrate")
        self.silent("127.0.0.2", self.postgres.port)
        env = {**os.environ, "LD_PRELOAD": TWO_ADDRESSES,
               "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
        result = self.stats(f"two.example:{self.postgres.port}", env=env)
        self.assertEqual(result.returncode, 0, result.stderr)


class Poolers(Server):
    def bouncer(self, mode):
        port = free_port()
        folder = os.path.join(self.folder, mode)
        os.makedirs(folder)
        path = os.path.join(folder, "pgbouncer.ini")
        with open(path, "w", encoding="utf-8") as file:
            file.write("[databases]\n"
                       f"taskharbor = host=127.0.0.1 port={self.postgres.port} user=taskharbor\n"
                       f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n"
                       f"auth_type = any\npool_mode = {mode}\nunix_socket_dir =\n")
        process = subprocess.Popen(["/usr/sbin/pgbouncer", path], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   **self.postgres.runs_as())
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.wait_for(lambda: is_listening(port))
        return f"postgres://taskharbor@127.0.0.1:{port}/taskharbor"

    def test_pgbouncer_in_transaction_mode_is_refused_with_advice(self):
        result = self.thctl("migrate", url=self.bouncer("transaction"))
        self.assertEqual(result.returncode, 2, result)
        self.assertIn("pool_mode=session", result.stderr)

    def test_pgbouncer_in_session_mode_is_fine(self):
        result = self.thctl("enqueue", "work", url=self.bouncer("session"))
        self.assertEqual(result.returncode, 0, result.stderr)


class Pool(Server):
    def done(self):
        return int(self.postgres.sql("SELECT coalesce(sum(done), 0) FROM taskharbor.counted"))

    def test_jobs_of_both_ways_in_run_and_go_on_when_the_server_was_killed(self):
        self.ok("migrate")
        self.start_pool()
        self.ok("enqueue", "work")
        self.postgres.sql("SELECT taskharbor.enqueue('work')")
        self.wait_for(lambda: self.done() == 2)
        self.postgres.kill()
        self.postgres.start()
        self.ok("enqueue", "work")
        self.postgres.sql("SELECT taskharbor.enqueue_raw('work', 'bytes')")
        self.wait_for(lambda: self.done() == 4)


class OtherWays(Server):
    """URLs as other programs have them."""

    def test_the_library_that_sqlalchemy_names_does_not_matter(self):
        self.ok("migrate")
        for scheme in ("postgresql", "postgresql+psycopg2", "postgresql+psycopg", "postgres+asyncpg"):
            with self.subTest(scheme):
                result = self.thctl("stats", url=self.postgres.url.replace("postgres:", scheme + ":"))
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_options_of_that_library_are_told_with_ours(self):
        result = self.thctl("stats", url=self.postgres.url.replace("postgres:", "postgres+asyncpg:") + "?ssl=require")
        self.assertEqual(result.returncode, 2)
        self.assertIn("knows the option 'ssl=require': write sslmode=require", result.stderr)


class Names(Server):
    """Who is who in pg_stat_activity."""

    def names(self):
        return set(self.postgres.sql("SELECT application_name FROM pg_stat_activity").splitlines())

    def wait_names(self, expected):
        self.wait_for(lambda: expected <= self.names())

    def pool_name(self):
        self.wait_for(lambda: self.thctl("--json", "pools").stdout)
        return json.loads(self.ok("--json", "pools"))["name"]

    def test_each_process_of_a_pool_has_its_own(self):
        self.ok("migrate")
        self.start_pool()
        pool = self.pool_name()
        self.wait_names({f"thd: {process} pool={pool}" for process in ("dispatcher", "heartbeater")})

    def test_what_the_user_says_wins(self):
        self.ok("migrate")
        self.start_pool("?application_name=mine")
        self.wait_names({"mine"})
        self.start_pool(env={**os.environ, "PGAPPNAME": "ours"})
        self.wait_names({"mine", "ours"})
        self.assertFalse([name for name in self.names() if name.startswith("thd")])

    def test_commands_have_theirs(self):
        self.ok("migrate")
        self.postgres.sql("CREATE TABLE public.seen (name text); CREATE FUNCTION public.note() RETURNS trigger"
                          " LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.seen VALUES"
                          " (current_setting('application_name')); RETURN NULL; END $$;"
                          " CREATE TRIGGER note AFTER INSERT ON taskharbor.job EXECUTE FUNCTION public.note()")
        self.addCleanup(self.postgres.sql, "DROP TABLE public.seen; DROP FUNCTION public.note() CASCADE")
        self.ok("enqueue", "work")
        self.assertEqual(self.postgres.sql("SELECT name FROM public.seen"), "thctl enqueue")


class Producers(Server):
    def test_whoever_may_not_make_roles_migrates_and_is_told_what_is_missing(self):
        self.postgres.sql("DROP ROLE IF EXISTS taskharbor_producer; DROP ROLE IF EXISTS taskharbor_reader")
        for sql in ("CREATE ROLE plain LOGIN", "GRANT CREATE ON DATABASE taskharbor TO plain"):
            self.postgres.sql(sql)
        url = self.postgres.url.replace("taskharbor@", "plain@") + "?schema=mine"
        for said in ("(created)", "(nothing to do)"):
            result = self.thctl("migrate", url=url)
            self.assertEqual(result.returncode, 0, result)
            self.assertIn(said, result.stdout)
            self.assertEqual(result.stderr.count("\n"), 1)
            self.assertIn("run CREATE ROLE taskharbor_producer; CREATE ROLE taskharbor_reader, and then run "
                          "SELECT mine.grant_roles()", result.stderr)
        self.postgres.sql("CREATE ROLE taskharbor_producer; CREATE ROLE taskharbor_reader; CREATE ROLE bob LOGIN;"
                          "GRANT taskharbor_producer, taskharbor_reader TO bob")
        self.postgres.sql("SET ROLE plain; SELECT mine.grant_roles()")
        self.postgres.sql("SET ROLE bob; SELECT mine.enqueue('work'); SELECT * FROM mine.jobs")
        self.assertEqual(self.thctl("migrate", url=url).stderr, "")
        self.postgres.sql("DROP SCHEMA mine CASCADE")

    def test_a_payload_may_be_json_jsonb_text_or_absent(self):
        self.ok("migrate")
        for payload in ("", ", '[1]'", ", '[1]'::json", ", '[1]'::jsonb", ", '[1]'::text", ", payload => '[1]'",
                        ", NULL", ", jsonb_build_array(1), queue => 'mail'"):
            self.postgres.sql(f"SELECT taskharbor.enqueue('work'{payload})")
        self.postgres.sql("PREPARE p AS SELECT taskharbor.enqueue('work', $1, priority => 3); EXECUTE p('[1]')")
        self.assertEqual(len(self.ok("--json", "ls").splitlines()), 9)

    def test_the_limits_of_a_config_hold_for_producers(self):
        config = os.path.join(self.folder, "limits.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(url=self.postgres.url) + "max_payload: 1K\n")
        self.ok("--config", config, "migrate")
        self.postgres.sql("SELECT taskharbor.enqueue_raw('work', convert_to(repeat('x', 1024), 'UTF8'))")
        with self.assertRaisesRegex(RuntimeError, "payload is 1025 bytes long: use at most 1024"):
            self.postgres.sql("SELECT taskharbor.enqueue_raw('work', convert_to(repeat('x', 1025), 'UTF8'))")
        self.ok("migrate")  # without a config, they stay
        with self.assertRaisesRegex(RuntimeError, "payload is 1025 bytes long: use at most 1024"):
            self.postgres.sql("SELECT taskharbor.enqueue_raw('work', convert_to(repeat('x', 1025), 'UTF8'))")


if __name__ == "__main__":
    unittest.main()

"""
SQL for people: what a user of psql can do with the schema, and is told.
"""
import os
import re
import subprocess
import time
import unittest

from servers import DEADLINE, POSTGRES_BIN, VERSION, Postgres, servers_folder

THD = os.environ.get("THD", "build/dev/thd")
THCTL = os.environ.get("THCTL", "build/dev/thctl")

# For a session beside the one that calls wait_for().
ONCE_SOMEBODY_WAITS = """
DO $$
BEGIN
    WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()
            AND query LIKE '%wait_for(%') LOOP
        PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
    END LOOP;
END $$;
"""

shared = {}


def page(path):
    with open(os.path.join(os.environ["TH_SOURCE_DIR"], path), encoding="utf-8") as file:
        return file.read()


def setUpModule():
    shared["folder"] = unittest.enterModuleContext(servers_folder())
    shared["postgres"] = unittest.enterModuleContext(Postgres(os.path.join(shared["folder"], "postgres")))


class SqlCase(unittest.TestCase):
    """A schema that was just made, and psql as its owner."""

    @classmethod
    def setUpClass(cls):
        cls.postgres = shared["postgres"]

    def setUp(self):
        self.postgres.sql("SET client_min_messages = warning; DROP SCHEMA IF EXISTS taskharbor CASCADE")
        self.thctl("migrate")

    def thctl(self, *words, user="taskharbor", status=0):
        url = self.postgres.url.replace("taskharbor@", f"{user}@")
        done = subprocess.run([THCTL, "--backend", url, *words], check=False, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=DEADLINE)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.strip() if status == 0 else done.stderr.strip()

    def psql(self, *statements, user="taskharbor"):
        """As somebody at a terminal: all that psql says, in the verbosity that it has by default."""
        words = [word for statement in statements for word in ("-c", statement)]
        env = {**os.environ, "PGOPTIONS": "-c search_path=public"}  # by itself it has the schema of the user's name
        return subprocess.run([os.path.join(POSTGRES_BIN, "psql"), "-X", "-q", "-A", "-t", "-h", "127.0.0.1", "-p",
                               str(self.postgres.port), "-U", user, "-d", "taskharbor", *words], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env,
                              stdin=subprocess.DEVNULL, timeout=DEADLINE).stdout.strip()

    def sql(self, statement, user="taskharbor"):
        answer = self.psql(statement, user=user)
        self.assertNotIn("ERROR:", answer, statement)
        return answer

    def sqlstate(self, statement, user="taskharbor"):
        return re.search(r"ERROR:  (\w{5})", self.psql(r"\set VERBOSITY sqlstate", statement, user=user)).group(1)


# What is refused, its SQLSTATE, and what psql shows but for CONTEXT.
REFUSALS = (
    ("enqueue('work', priority => 12)", "TH002", "priority is out of range: use 0 to 9"),
    ("enqueue('no work')", "TH002", "type 'no work' has a character that is not allowed: use 1 to 128 of"),
    ("enqueue('work', run_at => 'infinity')", "TH002", "run_at is out of range: use the years 2000 to 9999"),
    ("enqueue('work', timeout => '9000000 years')", "TH002", "timeout is out of range: use 0 to 365d"),
    ("enqueue('work', update_run_at => 'later')", "TH002", "update_run_at is always, never, if_earlier or if_later"),
    ("enqueue('work', headers => '[]')", "TH002", "headers are not a JSON object: use a JSON object of at most 8192"),
    ("enqueue('work', tags => '{a,b c}')", "TH002", "tag 'b c' has a character that is not allowed: use 1 to 128 of"),
    ("enqueue('work', '{bad')", "TH002", r"""payload is not JSON: Token "bad" is invalid \(use raw for other bytes\)
HINT:  enqueue_raw\(\) takes any bytes"""),
    ("enqueue('work', to_json(repeat('x', 1048576)))", "TH002",
     "payload is 1048578 bytes long: use at most 1048576\nHINT:  The limit is max_payload of jobs.yaml"),
    ("enqueue('work', key => 'k')", "TH001",
     "key 'k' of queue 'default' waits with type 'other': a job of type 'work' cannot update it\nHINT:  Use another"),
)

# The same of enqueue_many, which nobody calls with a name.
REFUSALS_OF_MANY = (
    ('{"type": "work"}', "TH002", r'jobs is no array: use \[{"type": ...}, ...\]'),
    ('[{"type": "work"}, 7]', "TH002", 'job 2: a job is an object: use {"type": ...}'),
    ('[{"type": "work"}, {"type": "work", "prio": 1}]', "TH002", "job 2: unknown field 'prio'"),
    ('[{"type": "work"}, {"queue": "mail"}]', "TH002", "job 2: type is blank: use 1 to 128 of"),
    ('[{"type": "work"}, {"type": "work", "priority": "high"}]', "TH002",
     'job 2: invalid input syntax for type integer: "high"'),
    ('[{"type": "work"}, {"type": "work", "priority": 10}]', "TH002", "job 2: priority is out of range: use 0 to 9"),
    ('[{"type": "work"}, {"type": "work", "headers": [1]}]', "TH002", "job 2: headers are not a JSON object"),
    ('[{"type": "work", "tags": ["a", "a"]}]', "TH002", "tag 'a' stands there twice: use it once"),
    ('[{"type": "work", "timeout": "9000000 years"}]', "TH002", "timeout is out of range: use 0 to 365d"),
    ('[{"type": "work", "payload": 1, "payload_base64": "AA=="}]', "TH002",
     "payload and payload_base64 are both there: use one of them"),
    ('[{"type": "work", "payload": %s1%s}]' % ("[" * 129, "]" * 129), "TH002",
     "payload is not JSON: nested deeper than 128 levels"),
    ('[7, {"type": "work", "prio": 1}]', "TH002", "job 1: a job is an object"),  # the first of them is told
    ('[{"type": "work", "priority": 10}, {"type": "work", "priority": 11, "update_run_at": "x"}]', "TH002",
     "job 1: priority is out of range: use 0 to 9"),
    ('[{"queue": "mail"}, {"type": "work", "timeout": "9000000 years"}]', "TH002", "job 1: type is blank"),
    ('[{"type": "work"}, {"type": "work", "key": "k"}]', "TH001",
     "job 2: key 'k' of queue 'default' waits with type 'other': a job of type 'work' cannot update it"),
)


class Refusals(SqlCase):
    def test_what_is_refused_is_an_error_without_a_tale_of_functions(self):
        self.sql("SELECT taskharbor.enqueue('other', key => 'k')")
        many = [(f"enqueue_many('{jobs}')", state, words) for jobs, state, words in REFUSALS_OF_MANY]
        for call, state, words in (*REFUSALS, *many):
            with self.subTest(call):
                said = self.psql(f"SELECT taskharbor.{call}")
                self.assertRegex(said, "^ERROR:  " + words)
                self.assertEqual(len(re.findall("PL/pgSQL|SQL function|SQL statement", said)), 1, said)
                self.assertEqual(self.sqlstate(f"SELECT taskharbor.{call}"), state)
        self.assertEqual(self.sql("SELECT count(*) FROM taskharbor.job"), "1")

    def test_every_sqlstate_of_ours_is_in_the_manual(self):
        manual = page("man/taskharbor-postgres.7")
        for state in ("TH001", "TH002", "TH004"):
            self.assertIn(f".It Li {state}\n", manual)


class Many(SqlCase):
    def many(self, jobs, columns="state, existed, updated"):
        return self.sql(f"SELECT {columns} FROM taskharbor.enqueue_many('{jobs}')").split("\n")

    def test_answers_come_in_the_order_of_the_jobs(self):
        jobs = ('[{"type": "a", "payload": [1]}, {"type": "b", "run_at": "2100-01-01 UTC", "queue": "mail"},'
                ' {"type": "c", "id": "0193f0a2-7c1d-7abc-8def-0123456789ab"},'
                ' {"type": "c", "id": "0193f0a2-7c1d-7abc-8def-0123456789ab"}]')
        self.assertEqual(self.many(jobs), ["ready|f|f", "scheduled|f|f", "ready|f|f", "ready|t|f"])
        self.assertEqual(self.many("[]"), [""])

    def test_jobs_with_keys_are_merged_as_they_come(self):
        jobs = ('[{"type": "a", "key": "k", "payload": 1}, {"type": "a", "key": "k", "payload": 2},'
                ' {"type": "a", "idempotency_key": "i"}, {"type": "a", "idempotency_key": "i"}]')
        self.assertEqual(self.many(jobs), ["ready|f|f", "ready|f|t", "ready|f|f", "ready|t|f"])
        self.assertIn('"payload":2', self.thctl("--json", "ls", "--key", "k"))

    def test_a_job_is_the_same_as_by_enqueue(self):
        self.sql("SELECT taskharbor.enqueue('a', '{\"n\": [1, null]}'::jsonb, queue => 'mail', run_at =>"
                 " '2100-01-01 UTC', priority => 2, timeout => '30s', max_attempts => 7, max_stalls => 2, key => 'k',"
                 " update_payload => false, update_run_at => 'never', update_retry => false, reset_counts => true,"
                 " headers => '{\"a\": [1]}', tags => '{x,y:1}')")
        self.many('[{"type": "a", "payload": {"n": [1, null]}, "queue": "post", "run_at": "2100-01-01 UTC",'
                  ' "priority": 2, "timeout": "30s", "max_attempts": 7, "max_stalls": 2, "key": "k", "update_payload":'
                  ' false, "update_run_at": "never", "update_retry": false, "reset_counts": true, "headers": {"a": [1]},'
                  ' "tags": ["x", "y:1"]}]')
        columns = ("type, encoding, priority, due, run_at, timeout, max_attempts, max_stalls, attempts, stalls, key,"
                   " update_flags, idempotency_key, payload, headers, tags")
        self.assertEqual(self.sql(f"SELECT count(*), count(DISTINCT ({columns})) FROM taskharbor.job"), "2|1")

    def test_headers_and_tags_are_seen_by_sql(self):
        self.many('[{"type": "a", "headers": {"b": 1, "a": "x"}}, {"type": "b", "headers": null, "tags": []},'
                  ' {"type": "c", "tags": ["x", "y"]}]')
        self.assertEqual(self.sql("SELECT type, headers, tags FROM taskharbor.jobs ORDER BY type"),
                         'a|{"a": "x", "b": 1}|\nb||\nc||{x,y}')
        self.assertIn('"type":"c"', self.thctl("--json", "ls", "--tag", "y"))

    def test_bytes_come_as_base64(self):
        self.many('[{"type": "a", "payload_base64": "AP8="}]')
        self.assertIn('"payload_base64":"AP8="', self.thctl("--json", "ls"))

    def test_a_thousand_keep_their_order(self):
        self.sql("SELECT count(*) FROM taskharbor.enqueue_many((SELECT jsonb_agg(jsonb_build_object('type', 'a', 'queue',"
                 " 'q' || n % 7, 'payload', n)) FROM generate_series(1, 1000) n))")
        self.assertEqual(self.sql("SELECT count(*) FROM (SELECT convert_from(payload, 'UTF8')::int AS n, row_number()"
                                  " OVER (ORDER BY seq) AS by_place, row_number() OVER (ORDER BY id) AS by_id"
                                  " FROM taskharbor.job) j WHERE n = by_place AND n = by_id"), "1000")
        self.assertIn('"ready":1', self.thctl("--json", "stats"))


class Looking(SqlCase):
    def test_the_view_has_words_times_and_text(self):
        self.sql("SELECT taskharbor.enqueue('a', '{\"n\": 1}', queue => 'mail', run_at => '2100-01-01 12:00 UTC',"
                 " timeout => '90s', key => 'k')")
        self.assertEqual(self.sql("SELECT type, queue, state, encoding, payload, run_at AT TIME ZONE 'UTC', timeout, key,"
                                  " created_at <= now() FROM taskharbor.jobs"),
                         'a|mail|scheduled|json|{"n": 1}|2100-01-01 12:00:00|00:01:30|k|t')

    def test_bytes_that_are_no_text_are_shown_all_the_same(self):
        self.sql("SELECT taskharbor.enqueue_raw('a', '\\xff41')")
        self.assertEqual(self.sql("SELECT encoding, payload FROM taskharbor.jobs"), r"raw|\377A")

    def test_every_job_is_in_the_view_once_with_the_state_that_thctl_tells(self):
        self.sql("SELECT taskharbor.enqueue('a'), taskharbor.enqueue('a', run_at => '2100-01-01'),"
                 " taskharbor.cancel(taskharbor.enqueue('a'))")
        seen = self.sql("SELECT id || ' ' || state FROM taskharbor.jobs ORDER BY id").split("\n")
        told = re.findall(r'"id":"([^"]*)".*?"state":"([^"]*)"', self.thctl("--json", "ls"))
        self.assertEqual(seen, sorted(" ".join(job) for job in told))
        self.assertEqual(self.sql("SELECT scheduled, ready, cancelled FROM taskharbor.stats"), "1|1|1")

    def test_a_job_that_was_set_aside_is_ready_and_says_why(self):
        job = self.sql("SELECT taskharbor.enqueue('a')")
        self.sql("WITH gone AS (DELETE FROM taskharbor.ready RETURNING *) INSERT INTO taskharbor.aside SELECT seq, queue_id, 2,"
                 " 'a', priority, due, due, 'no such file' FROM gone")
        self.assertEqual(self.sql(f"SELECT state, aside, aside_since = created_at, last_error FROM taskharbor.jobs"
                                  f" WHERE id = '{job}'"), "ready|cannot_start|t|no such file")

    def plan_of(self, where):
        return self.sql(f"EXPLAIN SELECT id, last_error FROM taskharbor.jobs WHERE {where}")

    def test_an_id_and_a_state_are_found_by_an_index(self):
        self.sql("SELECT count(*) FROM taskharbor.enqueue_many((SELECT jsonb_agg(jsonb_build_object('type', 'a'))"
                 " FROM generate_series(1, 20000)))")
        self.sql("SELECT taskharbor.cancel(id) FROM taskharbor.jobs ORDER BY id LIMIT 5")
        self.sql("ANALYZE")
        for where in ("id = '0193f0a2-7c1d-7abc-8def-0123456789ab'", "state = 'cancelled'"):
            with self.subTest(where):
                plan = self.plan_of(where)
                self.assertNotIn("Seq Scan on job ", plan)
                self.assertIn("Index Scan using job_", plan)


class Acting(SqlCase):
    def enqueue(self, arguments="'a'"):
        return self.sql(f"SELECT taskharbor.enqueue({arguments})")

    def test_cancel_and_retry_answer_the_state_that_the_job_is_in_now(self):
        job = self.enqueue("'a', run_at => '2100-01-01'")
        for call, state in (("retry", "ready"), ("cancel", "cancelled"), ("cancel", "cancelled"), ("retry", "ready"),
                            ("retry", "ready")):
            self.assertEqual(self.sql(f"SELECT taskharbor.{call}('{job}')"), state)
            self.assertEqual(self.sql(f"SELECT state FROM taskharbor.jobs WHERE id = '{job}'"), state)

    def test_whoever_sleeps_is_woken_for_a_job_that_runs_again(self):
        channel = "taskharbor_" + self.sql("SELECT 'taskharbor.queue'::regclass::oid")
        job = self.enqueue("'a', run_at => '2100-01-01'")
        with self.postgres.session(f"SET search_path = taskharbor; SELECT arm_v{VERSION}(0) \\g /dev/null"):
            said = self.psql(f"LISTEN {channel}", f"SELECT taskharbor.retry('{job}')")
        self.assertIn(f'Asynchronous notification "{channel}"', said)

    def test_a_job_that_is_not_there_has_no_state(self):
        for call in ("cancel", "retry", "wait_for"):
            self.assertEqual(self.sql(f"SELECT taskharbor.{call}('0193f0a2-7c1d-7abc-8def-0123456789ab') IS NULL"), "t")

    def test_wait_for_sees_the_commit_of_another_session(self):
        job = self.enqueue()
        with self.postgres.session() as other:
            other(f"{ONCE_SOMEBODY_WAITS} SELECT taskharbor.cancel('{job}');")
            self.assertEqual(self.sql(f"SELECT taskharbor.wait_for('{job}', '60s')"), "cancelled")

    def test_wait_for_sees_it_in_an_open_transaction_that_is_read_committed(self):
        job = self.enqueue()
        with self.postgres.session() as other:
            other(f"{ONCE_SOMEBODY_WAITS} SELECT taskharbor.cancel('{job}');")
            answer = self.sql(f"BEGIN; SELECT count(*) FROM taskharbor.jobs; SELECT taskharbor.wait_for('{job}', '60s')")
        self.assertEqual(answer.split("\n")[-1], "cancelled")

    def test_wait_for_answers_the_state_when_the_time_is_over(self):
        job = self.enqueue()
        self.assertEqual(self.sql(f"SELECT taskharbor.wait_for('{job}', '10ms')"), "ready")
        begin = time.monotonic()
        self.assertEqual(self.sql(f"SELECT taskharbor.wait_for('{job}', '0')"), "ready")
        self.assertLess(time.monotonic() - begin, DEADLINE)

    def test_wait_for_says_when_it_could_never_see_the_end(self):
        job = self.enqueue()
        for level in ("REPEATABLE READ", "SERIALIZABLE"):
            said = self.psql(f"BEGIN ISOLATION LEVEL {level}; SELECT taskharbor.wait_for('{job}')")
            self.assertIn(f"wait_for() sees no commits of others in a transaction that is {level}: call it in", said)
        call = "BEGIN; SELECT taskharbor.wait_for(taskharbor.enqueue('a'))"
        self.assertIn("wait_for() cannot wait for a job of its own transaction", self.psql(call))
        self.assertEqual(self.sqlstate(call), "TH004")
        self.sql(f"SELECT taskharbor.cancel('{job}')")
        self.assertEqual(self.sql(f"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT taskharbor.wait_for('{job}')"),
                         "cancelled")


# What a role must not do, as SQL and as thctl.
ACTS = ("SELECT taskharbor.cancel(gen_random_uuid())", "SELECT taskharbor.retry(gen_random_uuid())",
        f"SELECT taskharbor.repair_v{VERSION}('cancel', '{{}}', NULL, 1)", f"SELECT taskharbor.cancel_one_v{VERSION}(NULL, 1)",
        f"SELECT taskharbor.requeue_one_v{VERSION}(NULL, 1, 1)", f"SELECT taskharbor.remove_one_v{VERSION}(NULL)",
        f"SELECT taskharbor.ring_v{VERSION}()",
        f"SELECT taskharbor.set_paused_v{VERSION}('default', 1, 'me')", "SELECT taskharbor.grant_roles()",
        f"SELECT taskharbor.enqueue_items_v{VERSION}('[]', 1)", f"SELECT taskharbor.produce_v{VERSION}(NULL, 1, 1)",
        f"SELECT taskharbor.enqueue_one_v{VERSION}(NULL, 1)", f"SELECT taskharbor.lock_class_v{VERSION}(1)",
        "SELECT * FROM taskharbor.lock_space", "DELETE FROM taskharbor.ready", "UPDATE taskharbor.meta SET max_payload = 1", "INSERT INTO taskharbor.queue_born"
        " VALUES (1, 'x')", "UPDATE taskharbor.jobs SET state = 'done'", "TRUNCATE taskharbor.job",
        "CREATE TABLE taskharbor.mine ()", "CREATE FUNCTION taskharbor.f() RETURNS int LANGUAGE sql RETURN 1",
        "SET ROLE taskharbor")
THCTL_ACTS = (("cancel", "ID"), ("retry", "ID"), ("rm", "ID"), ("pause", "default"))
LOOKS = ("SELECT * FROM taskharbor.jobs", "SELECT * FROM taskharbor.stats", "SELECT * FROM taskharbor.job",
         "SELECT taskharbor.wait_for(gen_random_uuid())", "SELECT max_payload FROM taskharbor.meta",
         "SELECT * FROM taskharbor.job_view")
THCTL_LOOKS = (("ls",), ("ls", "--state", "ready"), ("show", "ID"), ("why", "ID"), ("stats",), ("queues",), ("pools",), ("top", "--once"))
MAY_NOT = "the user in the URL may not do this: GRANT taskharbor_producer lets it enqueue, taskharbor_reader look"


class Roles(SqlCase):
    def setUp(self):
        super().setUp()
        self.job = self.sql("SELECT taskharbor.enqueue('a')")
        self.psql("CREATE ROLE ada LOGIN", "CREATE ROLE rita LOGIN", "CREATE ROLE eve LOGIN",
                  "GRANT taskharbor_producer TO ada", "GRANT taskharbor_reader TO rita")

    def refuses(self, user, statements, commands):
        for statement in statements:
            with self.subTest(statement, user=user):
                self.assertRegex(self.psql(statement, user=user), "ERROR:  (permission denied|cannot update view)")
        for words in commands:
            with self.subTest(words, user=user):
                said = self.thctl(*(word.replace("ID", self.job) for word in words), user=user, status=1)
                self.assertIn(MAY_NOT, said)
                self.assertEqual(len(said.split("\n")), 1)

    def test_a_producer_may_enqueue_and_nothing_else(self):
        self.refuses("ada", ACTS + LOOKS, THCTL_ACTS + THCTL_LOOKS)
        for call in ("enqueue('b', '{\"n\": 1}', queue => 'mail')", "enqueue_raw('b', 'x')", "enqueue_many('[{\"type\": \"b\"}]')"):
            self.sql("SELECT taskharbor." + call, user="ada")
        self.assertIn("priority is out of range: use 0 to 9",
                      self.psql("SELECT taskharbor.enqueue('b', priority => 12)", user="ada"))
        self.assertEqual(self.sql("SELECT count(*) FROM taskharbor.jobs WHERE type = 'b'"), "3")

    def test_a_producer_enqueues_by_thctl_as_its_owner_would(self):
        path = os.path.join(shared["folder"], "jobs.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f'{{"type": "b", "payload": {n}}}\n' for n in range(1500))
        self.thctl("enqueue", "--bulk", path, user="ada")
        for words in (("b", '{"n": [1,  2]}'), ("b", "--key", "k", "--priority", "2"), ("b", "bytes", "--raw"),
                      ("b", "--idempotency-key", "i"), ("b", "--idempotency-key", "i")):
            self.thctl("enqueue", *words, user="ada")
        self.assertEqual(self.sql("SELECT count(*), sum(priority), max(payload) FILTER (WHERE payload LIKE '{%') FROM"
                                  " taskharbor.jobs WHERE type = 'b'"), '1504|7517|{"n": [1,  2]}')
        self.assertIn("cannot update it", self.thctl("enqueue", "c", "--key", "k", user="ada", status=1))

    def test_a_producer_cannot_get_by_what_thctl_checks(self):
        spec = ('[{"id": "0193f0a2-7c1d-7abc-8def-0123456789ab", "queue": "q", "type": "%s", "encoding": %d, "priority": 5,'
                ' "attempts": 0, "stalls": 0, "update_flags": %d, "payload": "%s"}]')
        for values, words in ((("no name", 0, 0, "null"), "type 'no name' has a character"),
                              (("b", 0, 0, "{bad"), "payload is not JSON"), (("b", 2, 0, "1"), "encoding is json or raw"),
                              (("b", 0, 32, "1"), "update_flags is out of range")):
            said = self.psql(f"SELECT taskharbor.enqueue_checked_v{VERSION}('{spec % values}')", user="ada")
            self.assertIn("ERROR:  " + words, said)

    def test_a_reader_may_look_and_nothing_else(self):
        enqueues = ("SELECT taskharbor.enqueue('b')", "SELECT taskharbor.enqueue_many('[]')",
                    f"SELECT taskharbor.enqueue_checked_v{VERSION}('[]')")
        self.refuses("rita", ACTS + enqueues, THCTL_ACTS + (("enqueue", "b"),))
        for look in LOOKS:
            self.sql(look, user="rita")
        for words in THCTL_LOOKS:
            self.thctl(*(word.replace("ID", self.job) for word in words), user="rita")

    def test_somebody_without_a_role_may_do_nothing(self):
        for statement in ACTS + LOOKS + ("SELECT taskharbor.enqueue('b')",):
            with self.subTest(statement):
                self.assertRegex(self.psql(statement, user="eve"), "ERROR:  (permission denied|cannot update view)")
        self.assertIn("none that this user may use", self.thctl("ls", user="eve", status=69))

    def test_nobody_lends_a_function_of_the_owner_names_of_their_own(self):
        """SECURITY DEFINER is only safe with a search_path that the caller cannot choose."""
        loose = self.sql("SELECT proname FROM pg_proc WHERE pronamespace = 'taskharbor'::regnamespace AND prosecdef"
                         " AND NOT coalesce(proconfig::text LIKE '%search_path=taskharbor, pg_temp%', false)")
        self.assertEqual(loose, "")


class Session(SqlCase):
    """The session that README and the manual show, with a pool."""

    def setUp(self):
        super().setUp()
        config = os.path.join(shared["folder"], "session.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"backend: {self.postgres.url}\nqueues: {{mail: {{}}}}\nhandlers:\n"
                       "  email:send: {command: [echo, sent], result: stdout}\n")
        pool = subprocess.Popen([THD, "--config", config], stderr=subprocess.DEVNULL)
        self.addCleanup(pool.wait)
        self.addCleanup(pool.terminate)
        self.psql("DROP TABLE IF EXISTS orders; CREATE TABLE orders (customer text)")

    def test_it_works_as_it_is_shown(self):
        session = re.search(r"```sql\n(.*?)```", page("README.md"), re.DOTALL).group(1)
        manual = re.search(r'session\n\.Bd .*?\n(.*?)\.Ed', page("man/taskharbor-postgres.7"), re.DOTALL).group(1)
        self.assertEqual(manual.replace(r"\-", "-").replace(r"\e", "\\"), session)
        path = os.path.join(shared["folder"], "session.sql")
        with open(path, "w", encoding="utf-8") as file:
            file.write(session)
        said = self.psql(rf"\i {path}").split("\n")
        self.assertEqual(said[0], "done", said)
        self.assertRegex(said[1], r"^done\|sent")


if __name__ == "__main__":
    unittest.main()

"""
The schema in PostgreSQL through versions: what migrate replaces, adds, repairs and leaves alone.

There is one version of the source, so a newer program is played by its functions under the next number.
"""
import json
import os
import re
import subprocess
import unittest

from servers import DEADLINE, POSTGRES_BIN, VERSION
from test_sql import THD, SqlCase, setUpModule, shared  # noqa: F401: its server is ours too

NEWER = VERSION + 1
SNAPSHOT = """
SELECT p.oid::regprocedure, p.oid, md5(pg_get_functiondef(p.oid)), p.proacl FROM pg_proc p
WHERE p.pronamespace = 'taskharbor'::regnamespace ORDER BY 1;
SELECT c.oid::regclass, c.oid, c.relacl, CASE WHEN c.relkind = 'v' THEN md5(pg_get_viewdef(c.oid)) END FROM pg_class c
WHERE c.relnamespace = 'taskharbor'::regnamespace ORDER BY 1;
SELECT * FROM taskharbor.meta;
SELECT * FROM taskharbor.installed ORDER BY 1
"""


def functions_of(version):
    """What a program of this version would bring, as SQL."""
    with open(os.path.join(os.environ["TH_BUILD_DIR"], "generated/postgres_functions.h"), encoding="utf-8") as header:
        text = "".join(json.loads(line) for line in header if line.startswith('    "'))
    return re.sub(rf"_v{VERSION}\b", f"_v{version}", text)


class Versions(SqlCase):
    def play_newer(self):
        """As a newer thctl migrate would leave it, which only has other functions."""
        path = os.path.join(shared["folder"], "newer.sql")
        with open(path, "w", encoding="utf-8") as file:
            file.write("SET search_path = taskharbor, pg_temp; SET check_function_bodies = off;" + functions_of(NEWER) +
                       f"UPDATE meta SET version = {NEWER}; SELECT set_rights_v{NEWER}();"
                       f"INSERT INTO installed VALUES ('functions_v{NEWER}', 'newer')")
        done = subprocess.run([os.path.join(POSTGRES_BIN, "psql"), "-X", "-q", "-1", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1",
                               "-p", str(self.postgres.port), "-U", "taskharbor", "-d", "taskharbor", "-f", path],
                              check=False, capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual(done.returncode, 0, done.stderr)

    def play_made_by_newer(self):
        """As if no program of this version had ever been here."""
        self.play_newer()
        functions = self.sql("SELECT string_agg(oid::regprocedure::text, ', ') FROM pg_proc"
                             f" WHERE pronamespace = 'taskharbor'::regnamespace AND proname ~ '_v{VERSION}$'")
        types = self.sql("SELECT string_agg(oid::regtype::text, ', ') FROM pg_type WHERE typtype = 'c'"
                         f" AND typnamespace = 'taskharbor'::regnamespace AND typname ~ '_v{VERSION}$'")
        self.sql(f"DROP FUNCTION {functions}; DROP TYPE {types};"
                 f"DELETE FROM taskharbor.installed WHERE part = 'functions_v{VERSION}'")

    def definition(self, signature):
        return self.sql(f"SELECT pg_get_functiondef('taskharbor.{signature}'::regprocedure)")

    def pool(self, **settings):
        config = os.path.join(shared["folder"], "versions.yaml")
        lines = "".join(f"  {key}: {value}\n" for key, value in settings.items())
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"backend: {self.postgres.url}\nhandlers:\n  work: {{command: [\"true\"]}}\n" +
                       (f"pool:\n{lines}" if lines else ""))
        pool = subprocess.Popen([THD, "--config", config], stderr=subprocess.PIPE, text=True)
        self.addCleanup(pool.stderr.close)
        self.addCleanup(pool.wait)
        self.addCleanup(pool.terminate)
        return pool

    def test_migrating_again_changes_nothing(self):
        self.sql("SELECT taskharbor.enqueue('work')")
        before = self.psql(SNAPSHOT)
        self.assertEqual(self.thctl("migrate"), f"schema is at version {VERSION} (nothing to do)")
        self.assertEqual(self.psql(SNAPSHOT), before)

    def test_what_users_have_made_of_public_things_survives(self):
        self.psql("DROP SCHEMA IF EXISTS mine CASCADE", "CREATE ROLE vera LOGIN")
        self.sql("CREATE SCHEMA mine; GRANT USAGE ON SCHEMA mine, taskharbor TO vera;"
                 "CREATE VIEW mine.jobs AS SELECT id, state, taskharbor.moment_of(0) FROM taskharbor.jobs;"
                 "CREATE FUNCTION mine.order() RETURNS uuid LANGUAGE sql RETURN taskharbor.enqueue('work');"
                 "GRANT SELECT ON mine.jobs, taskharbor.stats TO vera;"
                 "GRANT EXECUTE ON FUNCTION taskharbor.cancel(uuid), taskharbor.moment_of(bigint) TO vera")
        for change in (lambda: self.thctl("migrate"), self.play_newer, lambda: self.thctl("migrate")):
            change()
            job = self.sql("SELECT mine.order()")
            self.assertEqual(self.sql(f"SELECT state FROM mine.jobs WHERE id = '{job}'", user="vera"), "ready")
            self.assertEqual(self.sql(f"SELECT taskharbor.cancel('{job}')", user="vera"), "cancelled")
            self.assertIn("permission denied", self.psql(f"SELECT taskharbor.retry('{job}')", user="vera"))
            self.sql("SELECT * FROM taskharbor.stats", user="vera")

    def test_an_older_program_goes_on_beside_a_newer_one(self):
        pool = self.pool()
        for change in (lambda: None, self.play_newer):
            change()
            jobs = [self.sql("SELECT taskharbor.enqueue('work')"), self.thctl("enqueue", "work"),
                    self.thctl("enqueue", "work", "--key", "k")]
            for job in jobs:
                self.assertEqual(self.sql(f"SELECT taskharbor.wait_for('{job}')"), "done")
        self.assertIn(f"offer_v{NEWER}(", self.definition("enqueue(text, text, text, timestamptz, integer, interval, integer,"
                                                          " integer, text, text, interval, boolean, text, boolean, boolean, uuid, jsonb, text[])"))
        self.assertIsNone(pool.poll())

    def test_a_program_adds_its_functions_to_what_a_newer_one_has_made_and_touches_nothing_else(self):
        self.play_made_by_newer()
        before = self.definition("retry(uuid)")
        said = self.thctl("ls", status=1)
        self.assertIn(f"is at version {NEWER} and has no functions of version {VERSION}, which this program needs", said)
        job = self.thctl("enqueue", "work")
        self.thctl("ls")
        self.pool()
        self.assertEqual(self.sql(f"SELECT taskharbor.wait_for('{job}')"), "done")
        self.assertEqual(self.thctl("migrate"), f"schema is at version {NEWER} (nothing to do)")
        self.assertEqual(self.definition("retry(uuid)"), before)
        self.assertIn(f"repair_v{NEWER}(", before)

    def test_a_pool_that_may_not_migrate_says_what_is_missing(self):
        self.play_made_by_newer()
        pool = self.pool(migrate="false")
        self.assertEqual(pool.wait(DEADLINE), 1)
        self.assertIn(f"has no functions of version {VERSION}", pool.stderr.read())

    def test_whoever_may_not_migrate_is_told(self):
        self.play_made_by_newer()
        self.psql("CREATE ROLE rita LOGIN", "GRANT taskharbor_reader TO rita")
        said = self.thctl("migrate", user="rita", status=2)
        self.assertIn(f"migrate schema taskharbor to version {VERSION}", said)
        self.assertIn("it has to own the schema", said)

    def test_migrate_repairs_functions(self):
        self.sql("DROP FUNCTION taskharbor.retry(uuid);"
                 f"DROP FUNCTION taskharbor.requeue_one_v{VERSION}(taskharbor.standing_v{VERSION}, bigint, bigint);"
                 f"CREATE OR REPLACE FUNCTION taskharbor.pick_share_v{VERSION}(queue_id_ int, share int, max_ bigint, types_ text[],"
                 " may_look boolean, use_segments boolean, segment_shares int[], segment_priorities int[], segment_dues bigint[],"
                 f" segment_seqs bigint[], segment_ends int[], OUT all_ taskharbor.picked_v{VERSION}, OUT looked bigint)"
                 " LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'mine'; END $$")
        self.thctl("migrate")
        self.pool()
        job = self.sql("SELECT taskharbor.enqueue('work')")
        self.assertEqual(self.sql(f"SELECT taskharbor.wait_for('{job}')"), "done")
        self.sql(f"SELECT taskharbor.retry('{job}')")
        self.psql("CREATE ROLE eve LOGIN", "GRANT USAGE ON SCHEMA taskharbor TO eve")
        self.assertIn("permission denied for function", self.psql(f"SELECT taskharbor.retry('{job}')", user="eve"))

    def test_migrate_waits_for_nobody_who_enqueues_and_looks(self):
        with subprocess.Popen([os.path.join(POSTGRES_BIN, "psql"), "-X", "-q", "-A", "-t", "-h", "127.0.0.1", "-p",
                               str(self.postgres.port), "-U", "taskharbor", "-d", "taskharbor"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as producer:
            producer.stdin.write("BEGIN; SELECT taskharbor.enqueue('work', key => 'k'); SELECT 'jobs', count(*)"
                                 " FROM taskharbor.jobs;\n")
            producer.stdin.flush()
            while not producer.stdout.readline().startswith("jobs"):
                pass
            self.thctl("migrate")
            self.sql("SELECT taskharbor.enqueue('work')")
            producer.stdin.close()

    def test_another_build_of_the_same_number_is_refused(self):
        self.sql("UPDATE taskharbor.installed SET digest = 'another' WHERE part LIKE 'functions%'")
        for words in (("ls",), ("enqueue", "work"), ("migrate",)):
            self.assertIn(f"has functions of version {VERSION} that are not those of this program", self.thctl(*words, status=1))

    def test_a_schema_from_before_the_first_release_is_refused(self):
        self.sql("DROP TABLE taskharbor.installed; UPDATE taskharbor.meta SET version = 8, usable_from = 8")
        for words in (("ls",), ("enqueue", "work"), ("migrate",)):
            self.assertIn("was made before the first release: DROP SCHEMA taskharbor CASCADE", self.thctl(*words, status=1))


del SqlCase  # a base class, and no test

if __name__ == "__main__":
    unittest.main()

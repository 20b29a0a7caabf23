"""
What operations on PostgreSQL touch when there are many jobs of every other kind around: what they are
about, and no more. Counted in rows by the server itself, so a slow machine is no excuse.
"""
import os
import re
import subprocess
import unittest

import test_postgres
from servers import VERSION
from test_postgres import setUpModule  # noqa: F401: its server is ours too

MANY = 20000
NOW = 1790000000000000
LEASE_TOKEN = r"\x" + 20 * "ab"

# So many jobs in one state, ended or due one after the other.
FILL = """
SET search_path = taskharbor;
WITH many AS (
    INSERT INTO job (id, queue_id, type, encoding, priority, due, attempts, stalls, executions, created_at, payload)
    SELECT make_id_v{version}({now} + i * 1000), queue_make_v{version}('{queue}'), 'work', 0, i % 3, {now} + i, 0, 0, 0, {now}, '{{}}'
    FROM generate_series(1, {count}) i RETURNING *), {place}
INSERT INTO counted (queue_id, {word}) SELECT queue_id, count(*) FROM many GROUP BY 1;
"""
PLACES = {
    "scheduled": "p AS (INSERT INTO waiting (state, due, seq, queue_id) SELECT 0, due, seq, queue_id FROM many)",
    "retry": "p AS (INSERT INTO waiting (state, due, seq, queue_id) SELECT 4, due, seq, queue_id FROM many)",
    "ready": "p AS (INSERT INTO ready (queue_id, priority, due, seq, keyed, traces)"
             " SELECT queue_id, priority, due, seq, false, false FROM many)",
    "done": "p AS (INSERT INTO ended (seq, state, traces, queue_id, ended_at, executions, attempts, stalls)"
            " SELECT seq, 5, false, queue_id, due, 1, 0, 0 FROM many)",
    "dead": "p AS (INSERT INTO ended (seq, state, traces, queue_id, ended_at, executions, attempts, stalls)"
            " SELECT seq, 6, false, queue_id, due, 1, 0, 0 FROM many)",
}
ASIDE = "p AS (INSERT INTO aside (seq, queue_id, why, type, priority, due, since)" \
        " SELECT seq, queue_id, 1 + seq % 2, type, priority, due, due FROM many)"

RESULTS = """\
backend: {url}
pool: {{num_workers: 2}}
handlers:
  work: {{command: ["echo", "42"], result: stdout}}
"""


class Scale(test_postgres.Server):
    def setUp(self):
        super().setUp()
        self.ok("migrate")

    def fill(self, state, count, queue="default"):
        self.postgres.sql(FILL.format(version=VERSION, now=NOW, queue=queue, count=count, place=PLACES[state], word=state))

    def rows_read(self):
        """By everybody so far. Whoever has left has told its numbers."""
        self.wait_for(lambda: self.postgres.sql(
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'") == "1")
        return int(self.postgres.sql(
            "SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0) FROM pg_stat_user_tables"
            " WHERE schemaname = 'taskharbor'"))

    def rows_for(self, work):
        before = self.rows_read()
        work()
        return self.rows_read() - before

    def prune(self, done_max, limit):
        return int(self.postgres.sql(
            "SET search_path = taskharbor;"
            f"SELECT prune_v{VERSION}(0, 0, {done_max}, {NOW}, {limit})"))

    def test_counting_jobs_for_people_looks_at_none(self):
        for state in PLACES:
            self.fill(state, MANY // 5)
        line = self.ok("--json", "stats")
        for state in PLACES:
            self.assertIn(f'"{state}":{MANY // 5}', line.replace(" ", ""))
        self.assertLess(self.rows_for(lambda: self.ok("stats")), 100)

    def test_a_list_looks_at_the_jobs_that_it_shows(self):
        for state in PLACES:
            self.fill(state, MANY)
            self.fill(state, MANY // 10, queue="other")
        for words in [()] + [("--state", state) for state in PLACES] + \
                [("--state", state, "--queue", "other") for state in PLACES]:
            for order in "asc", "desc":
                with self.subTest(words=words, order=order):
                    shown = []
                    rows = self.rows_for(lambda: shown.append(self.ok(
                        "--json", "ls", *words, "--order", order, "--limit", "20")))
                    self.assertEqual(len(shown[0].splitlines()), 20)
                    self.assertLess(rows, 1500)

    def test_retention_looks_at_what_it_removes(self):
        for state in PLACES:
            self.fill(state, MANY)
        removed = []
        rows = self.rows_for(lambda: removed.append(self.prune(MANY - 50, 1000)))
        self.assertEqual(removed, [50])
        self.assertLess(rows, 500)
        self.assertEqual(self.postgres.sql("SELECT count(*), min(ended_at) FROM taskharbor.ended WHERE state = 5"),
                         f"{MANY - 50}|{NOW + 51}")

    def blocks_for(self, call, settings=""):
        """How many blocks the call touches, when its session has done so before."""
        plan = self.postgres.sql(f"SET search_path = taskharbor; {settings} SELECT {call};"
                                 f"EXPLAIN (ANALYZE, BUFFERS) SELECT {call}")
        return sum(int(count) for count in re.findall(r"(?:hit|read)=(\d+)", re.search("Buffers:.*", plan).group()))

    def test_a_page_of_the_view_looks_at_the_jobs_that_it_shows(self):
        """With statistics and without, and wherever in their table the jobs of a state lie."""
        for state in PLACES:
            self.fill(state, MANY)
        self.fill("dead", 20, queue="other")
        pages = [f"* FROM jobs {where} LIMIT 10" for where in (
            "", "WHERE queue = 'other'", "WHERE state <> 'ready'", "WHERE state = 'ready' AND queue = 'other'",
            "WHERE state = 'dead' AND queue = 'other' ORDER BY ended_at",
            "WHERE id = (SELECT id FROM job ORDER BY seq DESC LIMIT 1)",
            *(f"WHERE state = '{state}'" for state in PLACES),
            *(f"WHERE state = '{state}' AND queue = 'default'" for state in PLACES))]
        for statistics in "", "ANALYZE":
            self.postgres.sql(statistics)
            for page in pages:
                with self.subTest(page, statistics=statistics):
                    self.assertLess(self.blocks_for(page), 500)

    def test_the_view_counts_jobs_without_a_look_at_what_they_are(self):
        plan = self.postgres.sql("EXPLAIN SELECT state, count(*) FROM taskharbor.jobs GROUP BY state")
        for table in "ended", "ready", "waiting", "lease", "aside":
            self.assertRegex(plan, rf" on {table}\b")
        self.assertNotRegex(plan, r" on (job|queue|detail)\b")

    def test_whoever_looks_at_what_is_aside_steps_from_type_to_type(self):
        self.postgres.sql(FILL.format(version=VERSION, now=NOW, queue="default", count=MANY, place=ASIDE, word="ready"))
        for call in (f"aside_types_v{VERSION}(NULL)", f"bring_back_v{VERSION}('default', 'work', 1, NULL, 1)",
                     f"bring_back_v{VERSION}('default', 'work', 2, {NOW + MANY}, 1)",
                     f"give_up_v{VERSION}('default', 'work', 1, {NOW + MANY}, 'late', 1, {NOW + MANY}, 1)"):
            with self.subTest(call=call):
                self.assertLess(self.blocks_for(call), 100)

    def test_the_newest_failures_are_found_without_a_look_at_all_jobs(self):
        self.fill("dead", MANY)
        self.postgres.sql("INSERT INTO taskharbor.detail (seq, last_error, failed_at)"
                          " SELECT seq, 'no', ended_at FROM taskharbor.ended; ANALYZE")
        self.assertLess(self.blocks_for(f"newest_failures_v{VERSION}(10)"), 250)

    def test_failures_of_one_moment_were_all_sorted_to_show_a_few(self):
        """As when a database that all jobs need goes away."""
        self.fill("dead", MANY)
        self.postgres.sql("INSERT INTO taskharbor.detail (seq, last_error, failed_at)"
                          f" SELECT seq, 'no', {NOW} FROM taskharbor.ended; ANALYZE")
        self.assertLess(self.rows_for(lambda: self.postgres.sql(
            f"SET search_path = taskharbor; SELECT newest_failures_v{VERSION}(10)")), 500)

    def test_leases_that_statistics_do_not_know_of_were_all_walked_over_to_find_one(self):
        """As after a vacuum that found only dead rows. A beat that met 1,000 ended jobs timed out, with its pool's lock."""
        self.fill("done", MANY)
        lease = f"INSERT INTO lease SELECT queue_id, seq, 1, '{LEASE_TOKEN}', {NOW}, 'gone', {NOW}, false FROM job"
        self.postgres.sql(f"SET search_path = taskharbor; {lease};"
                          "DELETE FROM lease WHERE seq < (SELECT max(seq) FROM lease)")
        self.postgres.sql("VACUUM ANALYZE taskharbor.lease")
        self.postgres.sql(f"SET search_path = taskharbor; {lease} WHERE seq < (SELECT max(seq) - 1 FROM job)")
        one = "(SELECT max(seq) - 1 FROM job)"
        for call in f"standing_of_v{VERSION}({one})", f"(SELECT state FROM job_view WHERE seq = {one})":
            with self.subTest(call=call):
                self.assertLess(self.blocks_for(call, "SET enable_seqscan = off; SET enable_bitmapscan = off;"), 60)

    def test_two_who_prune_do_not_remove_more_than_one_would(self):
        self.fill("done", 100)
        with self.postgres.session("BEGIN; SET search_path = taskharbor;"
                                   f"SELECT prune_v{VERSION}(0, 0, 90, {NOW}, 1000) \\g /dev/null"):
            self.assertEqual(self.prune(90, 1000), 0)
        # The first one has not been committed.
        self.assertEqual(self.prune(90, 1000), 10)

    def test_a_job_that_somebody_holds_is_left_to_the_next_time(self):
        self.fill("done", 100)
        with self.postgres.session("BEGIN; SELECT FROM taskharbor.ended WHERE seq ="
                                   " (SELECT min(seq) FROM taskharbor.ended) FOR UPDATE \\g /dev/null"):
            self.assertEqual(self.prune(0, 1000), 99)
        self.assertEqual(self.prune(0, 1000), 1)

    def count_to_and_fro(self):
        """Ten jobs are ready after all."""
        self.fill("ready", 10)
        self.postgres.sql("INSERT INTO taskharbor.counted (queue_id, ready) SELECT queue_id, n"
                          " FROM taskharbor.queue_name, (VALUES (1), (-1)) v (n), generate_series(1, 6000)")
        self.assertEqual(self.postgres.sql("SELECT count(*), sum(ready) FROM taskharbor.counted"), "12001|10")

    def test_whoever_reads_many_changes_adds_them_up(self):
        self.count_to_and_fro()
        for _ in range(2):
            self.assertIn('"ready":10,', self.ok("--json", "stats").replace(" ", ""))
        self.assertEqual(self.postgres.sql("SELECT count(*) FROM taskharbor.counted"), "0")
        self.assertEqual(self.postgres.sql("SELECT ready FROM taskharbor.tally"), "10")

    def test_changes_that_were_added_up_leave_nothing_to_walk_over(self):
        self.count_to_and_fro()
        self.prune(1000, 1000)
        self.postgres.sql("VACUUM taskharbor.counted")
        self.assertEqual(self.postgres.sql("SELECT pg_relation_size('taskharbor.counted')"), "0")
        self.assertIn('"ready":10,', self.ok("--json", "stats").replace(" ", ""))

    def test_who_adds_up_and_is_rolled_back_has_changed_no_count(self):
        self.fill("ready", 10)
        with self.postgres.session(f"BEGIN; SET search_path = taskharbor; SELECT add_up_counts_v{VERSION}() \\g /dev/null"):
            self.fill("ready", 5)
            self.assertIn('"ready":15,', self.ok("--json", "stats").replace(" ", ""))
        self.postgres.sql(f"SET search_path = taskharbor; SELECT add_up_counts_v{VERSION}()")
        self.assertEqual(self.postgres.sql("SELECT ready FROM taskharbor.tally"), "15")

    def test_results_do_not_make_a_pool_walk_over_dead_rows(self):
        """Each job has a result, and an old snapshot keeps the rows of all that were taken before."""
        self.postgres.sql("SELECT taskharbor.enqueue('work') FROM generate_series(1, 600)")
        path = os.path.join(self.folder, "results.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(RESULTS.format(url=self.postgres.url))
        with self.postgres.session("BEGIN ISOLATION LEVEL REPEATABLE READ;"
                                   "SELECT count(*) FROM taskharbor.job \\g /dev/null"):
            subprocess.run([test_postgres.THD, "--config", path, "--once"], check=True, timeout=60,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.wait_for(lambda: self.postgres.sql(
                "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'") == "2")
            walked = int(self.postgres.sql("SELECT idx_tup_read FROM pg_stat_user_indexes"
                                           " WHERE schemaname = 'taskharbor' AND indexrelname = 'ready_pkey'"))
        self.assertEqual(self.postgres.sql("SELECT count(*) FROM taskharbor.detail WHERE result IS NOT NULL"), "600")
        self.assertLess(walked, 5000)


if __name__ == "__main__":
    unittest.main()

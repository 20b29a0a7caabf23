"""
An application that enqueues in a transaction of its own, on PostgreSQL, and takes its time to commit
it: nobody else may have to wait for that, above all no pool. And a server whose commits take long.
"""
import os
import time
import unittest

from daemon import wait_for
from running import HOLD, RunningCase
from servers import VERSION, Postgres, servers_folder

LEASE_USEC = 2_000_000  # of a quick pool
SPIN = 400  # commits a second of a pool that asks again and again; one that waits makes some tens, and the test a few
shared = {}


def setUpModule():
    folder = unittest.enterModuleContext(servers_folder())
    shared["postgres"] = unittest.enterModuleContext(Postgres(os.path.join(folder, "postgres")))


class OpenTransaction(RunningCase):
    def setUp(self):
        super().setUp()
        self.server = shared["postgres"]
        self.backend = self.server.url
        self.addCleanup(self.server.sql, "SET client_min_messages = warning;"
                                         "DROP SCHEMA IF EXISTS taskharbor CASCADE")

    def sql(self, text):
        return self.server.sql("SET search_path = taskharbor; " + text)

    def enqueues(self, arguments):
        """A transaction that has enqueued this and is not over."""
        return self.server.session(f"BEGIN; SELECT taskharbor.enqueue({arguments}) \\g /dev/null")

    def wait_extended(self, job_id):
        """Until the job has been leased for twice as long as one lease lasts."""
        wait_for(lambda: self.sql("SELECT 1 FROM lease JOIN job USING (seq)"
                                  f" WHERE id = '{job_id}' AND expires_at - lease.started_at"
                                  f" > {3 * LEASE_USEC}") == "1",
                 lambda: "the lease was not extended:\n" + self.pools[-1].log_text())

    def assert_calm(self):
        for pool in self.pools:
            for event in ("store_lost", "settlement_refused", "lease_lost", "job_stalled"):
                self.assertEqual(pool.events(event), [])

    def commits(self):
        """As the server has counted them, which it writes down a second late."""
        return int(self.server.sql("SELECT xact_commit FROM pg_stat_database"
                                   " WHERE datname = 'taskharbor'"))


class Keys(OpenTransaction):

    def hold_key(self, queue="default", **sections):
        """A job with a key that runs, and the pool that runs it."""
        pool = self.start_quick({"hold": {"command": HOLD}, "x": {"command": ["true"]}}, **sections)
        job_id = self.enqueue("hold", "--key", "K", "--queue", queue)
        self.wait_held()
        return pool, job_id

    def test_the_end_of_a_run_whose_key_is_held_stops_no_other_job(self):
        _, job_id = self.hold_key()
        with self.enqueues("'hold', key => 'K'") as go_on:
            self.let_go(job_id)
            self.enqueue_many(50, "x")
            self.wait_stats(done=50)
            self.wait_extended(job_id)  # so it outlives its lease
            self.enqueue_many(50, "x")
            self.wait_stats(done=100, running=1)
            self.let_go()
            go_on("COMMIT;")
            self.wait_stats(done=102)
        job = self.job(job_id)
        self.assertEqual((job["executions"], job["attempts"], job["stalls"]), (1, 0, 0), job)
        self.assert_calm()

    def test_a_full_queue_is_not_locked_meanwhile_and_nobody_asks_in_vain(self):
        pool, job_id = self.hold_key("few", queues={"few": {"max_running": 2}, "default": {}})
        self.start().wait_ready()
        with self.enqueues("'hold', key => 'K', queue => 'few'"):
            self.let_go(job_id)
            self.enqueue_many(50, "x", "few")
            self.wait_stats("few", done=50)
            other = self.enqueue("hold", "--queue", "few")  # now it is full
            wait_for(lambda: other in self.held(), "the other job")
            self.enqueue_many(3, "x", "few")
            before, start = self.commits(), time.monotonic()
            self.wait_extended(job_id)
            self.assertLess((self.commits() - before) / (time.monotonic() - start), SPIN)
            self.assertEqual(self.stats("few")["ready"], 3)
        self.let_go()
        self.wait_stats("few", done=55)
        self.assert_calm()

    def test_a_run_whose_pool_died_is_taken_back_later_and_others_at_once(self):
        pool, job_id = self.hold_key()
        other = self.enqueue("hold")
        self.wait_held(2)
        with self.enqueues("'hold', key => 'K'"):
            pool.kill()
            second = self.start().wait_ready()
            second.wait_event("job_stalled", job=other)
            self.let_go()
            self.wait_state(other, "done")
            self.assertEqual(self.job(job_id)["state"], "running")
        job = self.wait_state(job_id, "done")
        self.assertEqual(job["stalls"], 1)
        self.assertEqual(second.events("store_lost"), [])

    def test_a_cron_entry_whose_key_is_held_waits_alone(self):
        every = {"schedule": "* * * * * *"}
        with self.server.session("SELECT 1 \\g /dev/null") as go_on:
            self.ok("migrate")
            go_on("BEGIN; SELECT taskharbor.enqueue('x', key => 'K', queue => 'cron');")
            wait_for(lambda: self.server.sql(
                "SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction'") == "1", "it")
            pool = self.start_quick({"x": {"command": ["true"]}}, queues={"default": {}, "cron": {}}, cron={
                "a": {**every, "type": "x", "key": "K", "queue": "cron"}, "b": {**every, "type": "x"}})
            pool.wait_event("cron_refused", name="a")
            pool.wait_event("cron_enqueued", count=3, name="b")
            self.assertEqual(pool.events("cron_enqueued", name="a"), [])
            go_on("COMMIT;")
            pool.wait_event("cron_enqueued", name="a")
        self.assertEqual(pool.events("store_lost"), [])


class Places(OpenTransaction):
    def test_a_due_job_that_is_held_is_not_asked_for_again_and_again(self):
        self.ok("migrate")
        job_id = self.enqueue("x", "--key", "K", "--run-at", "+1s")
        with self.enqueues("'x', key => 'K', update_run_at => 'never'") as go_on:
            pool = self.start_quick({"x": {"command": ["true"]}})
            due = self.enqueue("x", "--run-at", "+1s")
            self.wait_state(due, "done")  # the held one is due by now
            before, start = self.commits(), time.monotonic()
            for _ in range(3):
                self.run_job("x", "--run-at", "+1s")
            self.assertLess((self.commits() - before) / (time.monotonic() - start), SPIN)
            self.assertEqual(self.job(job_id)["state"], "scheduled")
            go_on("COMMIT;")
            self.wait_state(job_id, "done")
        self.assertEqual(pool.events("store_lost"), [])


class NewQueues(OpenTransaction):
    def test_a_queue_that_an_open_transaction_named_first_is_everybodys(self):
        self.ok("migrate")
        pool = self.start_quick({"x": {"command": ["true"]}}, queues={"fresh": {}})
        with self.enqueues("'x', queue => 'fresh'") as go_on:
            self.assertEqual(self.objects("stats"), [])
            self.run_job("x", "--queue", "fresh")
            self.ok("pause", "fresh")
            self.ok("resume", "fresh")
            with self.enqueues("'x', queue => 'fresh'"):
                self.run_job("x", "--queue", "fresh", "--key", "K")
            go_on("COMMIT;")
            self.wait_stats("fresh", done=3)
        self.assertEqual(self.sql("SELECT count(DISTINCT queue_id) FROM job"), "1")
        self.assertEqual(pool.events("store_lost"), [])

    def test_a_queue_that_nobody_serves_is_seen_all_the_same(self):
        self.ok("migrate")
        job_id = self.server.sql("SELECT taskharbor.enqueue('x', queue => 'lonely')")
        self.assertEqual(self.stats("lonely")["ready"], 1)
        self.assertEqual(self.job(job_id)["queue"], "lonely")
        self.assertEqual([job["id"] for job in self.objects("ls", "--queue", "lonely")], [job_id])

    def test_two_names_whose_numbers_would_be_the_same_get_two(self):
        self.ok("migrate")
        first = int(self.sql(f"SELECT queue_make_v{VERSION}('first')"))
        self.sql("UPDATE queue_born SET queue_id = hashtext('second')")
        self.assertNotEqual(int(self.sql(f"SELECT queue_make_v{VERSION}('second')")), first)
        self.assertEqual(self.sql("SELECT count(DISTINCT queue_id) FROM queue_born"), "2")


class Strangers(OpenTransaction):
    """Somebody who may connect to the database, and nothing else."""

    def setUp(self):
        super().setUp()
        self.server.sql("CREATE ROLE stranger LOGIN")
        self.addCleanup(self.server.sql, "DROP ROLE stranger")

    def test_who_knows_the_tables_cannot_take_our_locks(self):
        self.ok("migrate")
        self.run_pools_beside("SELECT count(pg_advisory_lock(c.oid::int, o)) FROM pg_class c,"
                              " generate_series(0, 9) o WHERE relkind = 'r'"
                              " AND relnamespace::regnamespace::text = 'taskharbor'")
        refused = self.server.sql("SET ROLE stranger; SELECT has_table_privilege(c.oid, 'SELECT')"
                                  " FROM pg_class c WHERE relname = 'lock_space'")
        self.assertEqual(refused, "f")

    def test_who_knows_the_schema_cannot_keep_it_from_being_made(self):
        self.run_pools_beside("SELECT pg_advisory_lock(hashtextextended('taskharbor taskharbor', 0))")

    def run_pools_beside(self, locks):
        with self.server.session(f"SET ROLE stranger; {locks} \\g /dev/null"):
            self.run_job_of_each_kind()

    def run_job_of_each_kind(self):
        pool = self.start_quick({"x": {"command": ["true"]}}, queues={"default": {"max_running": 1}})
        self.run_job("x")
        self.run_job("x", "--key", "K")
        self.run_job("x", "--run-at", "+1s")
        self.assertEqual(pool.events("store_lost"), [])
        self.assertEqual(pool.stop(), 0)


class SlowCommits(OpenTransaction):
    def set_standby(self, name):
        self.server.sql(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")
        self.server.sql("SELECT pg_reload_conf()")

    def test_what_is_reserved_by_a_commit_that_outlasts_the_call_runs_without_a_stall(self):
        self.ok("migrate")
        pool = self.start_quick({"x": {"command": ["true"]}}, {"lease": "20s"})
        self.addCleanup(self.set_standby, "")
        self.set_standby("nobody")
        job_id = self.server.sql("SET synchronous_commit = local; SELECT taskharbor.enqueue('x')")
        pool.wait_event("store_lost", process="dispatcher")
        waits = ("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'th%'"
                 " AND wait_event = 'advisory'")
        wait_for(lambda: self.server.sql(waits) == "1", "somebody who waits for the exchange")
        self.assertEqual(self.server.sql("SELECT count(*) FROM taskharbor.lease"), "0")
        self.set_standby("")
        job = self.wait_state(job_id, "done")
        self.assertEqual((job["attempts"], job["stalls"]), (0, 0), job)
        self.assertEqual(pool.events("job_stalled"), [])


if __name__ == "__main__":
    unittest.main()

"""
A pool and its store: the store goes away and comes back, leases are lost, pools share the work.
"""
import os
import signal
import sqlite3
import time
import unittest

from daemon import is_alive, read_proc, wait_for
from gate import GateCase

SERVICES = ["dispatcher", "heartbeater", "scheduler", "retrier", "reaper"]
CLOCK_NANOSLEEP = {230, 115}  # the system call's number on x86-64, and elsewhere


def waits_for_lock(pid):
    """Whether it naps, as only those do who cannot get the file: all else waits in its loop."""
    number = read_proc(pid, "syscall").split(b" ")[0]
    return number.isdigit() and int(number) in CLOCK_NANOSLEEP


class StoreCase(GateCase):
    """A test whose store may go away."""

    def setUp(self):
        super().setUp()
        self.database = self.path("store/jobs.db")
        self.backend = "sqlite:" + self.database
        os.mkdir(self.path("store"))

    def take_store(self):
        os.rename(self.path("store"), self.path("elsewhere"))

    def return_store(self):
        os.rename(self.path("elsewhere"), self.path("store"))

    def lock_store(self):
        """Keeps everybody from the file, as another program would; returns who does."""
        connection = sqlite3.connect(self.database, timeout=60, isolation_level=None)
        self.addCleanup(connection.close)
        connection.execute("BEGIN EXCLUSIVE")
        return connection

    def assert_said_once(self, pool, event):
        """Each process has said it at most once."""
        said = [entry["process"] for entry in pool.events(event)]
        self.assertEqual(sorted(said), sorted(set(said)), pool.log_text())

    def tries(self, pool, name):
        """How often a service has come round, with its store or in vain."""
        count = len(pool.events("process_state", name=name))
        pool.signal(signal.SIGUSR1)
        return pool.wait_event("process_state", count + 1, name=name)["done"]


class Files(StoreCase):
    """Somebody tidies up beside a database that is in use."""

    def test_a_bell_file_that_is_deleted_is_told_once_and_made_anew(self):
        pool = self.start(self.configure(self.handlers))
        pool.wait_ready()
        self.assert_untouched(self.enqueue("quick"))
        os.unlink(self.database + "-bell")
        pool.wait_event("bell_lost", process="dispatcher")
        self.assert_untouched(self.enqueue("quick"))
        self.assertTrue(os.path.exists(self.database + "-bell"))
        self.assertEqual(len(pool.events("bell_lost")), 1)

    def test_a_wal_that_is_deleted_is_told_and_no_job_is_lost(self):
        pool = self.start(self.configure(self.handlers))
        pool.wait_ready()
        done = self.enqueue("quick")
        self.assert_untouched(done)
        os.unlink(self.database + "-wal")
        lost = pool.wait_event("store_lost", process="heartbeater")
        self.assertIn("jobs.db-wal: was deleted while the database was in use", lost["error"])
        pool.wait_event("store_back", process="heartbeater")
        self.assertEqual(self.job(done)["state"], "done")
        self.assert_untouched(self.enqueue("quick"))


class Outages(StoreCase):

    def test_a_pool_that_starts_without_its_store_waits_says_so_once_and_then_works(self):
        self.take_store()
        pool = self.start(self.configure(self.handlers))
        for name in SERVICES:
            pool.wait_event("store_lost", process=name)
        for name in SERVICES:
            wait_for(lambda: self.tries(pool, name) >= 3, f"several tries of the {name}")
        self.assertEqual(pool.events("pool_ready"), [])
        self.return_store()
        pool.wait_ready()
        self.assert_untouched(self.enqueue("quick"))
        for name in SERVICES:
            pool.wait_event("store_back", process=name)
        for event in ("store_lost", "store_back"):
            self.assert_said_once(pool, event)
        self.assertEqual(pool.events("process_exited"), [])
        self.assertEqual(pool.stop(), 0)

    def test_jobs_run_on_while_the_store_is_away_and_are_settled_when_it_is_back(self):
        pool = self.brisk_pool(lease="60s")
        job_id = self.held_job()
        self.take_store()
        pool.wait_event("store_lost", process="heartbeater")
        self.assertTrue(is_alive(self.starts(job_id)[0]))
        self.open_gate()
        wait_for(lambda: self.lines("ends"), "the end of the run")
        pool.wait_event("store_lost", process="dispatcher")
        self.return_store()
        self.assert_untouched(job_id)
        for name in SERVICES:
            if pool.events("store_lost", process=name):
                pool.wait_event("store_back", process=name)
        self.assert_untouched(self.enqueue("quick"))
        for event in ("store_lost", "store_back"):
            self.assert_said_once(pool, event)
        self.assertEqual(pool.events("process_exited"), [])
        self.assertEqual(pool.stop(), 0)

    def test_a_lock_that_is_shorter_than_the_lease_disturbs_no_job(self):
        pool = self.brisk_pool(lease="6s")
        job_id = self.held_job()
        beats = self.sql("SELECT beat_at FROM pool")
        lock = self.lock_store()
        self.open_gate()
        wait_for(lambda: self.lines("ends"), "the end of the run")
        lock.rollback()
        self.assert_untouched(job_id)
        wait_for(lambda: self.sql("SELECT beat_at FROM pool") != beats, "a beat")
        self.assertEqual(pool.events("process_exited"), [])

    def test_a_run_whose_lease_cannot_be_confirmed_is_stopped_before_it_ends(self):
        pool = self.brisk_pool(lease="6s")  # a third of it is for whoever has to wait for a core
        job_id = self.held_job()
        lock = self.lock_store()
        [(expiry,)] = lock.execute("SELECT expires_at FROM lease")
        [run] = self.starts(job_id)
        wait_for(lambda: not is_alive(run), "the end of the run")
        ended = time.time() * 1e6
        lock.rollback()
        self.assertLess(ended, expiry)
        self.wait_start(job_id, 2)
        self.open_gate()
        job = self.wait_state(job_id, "done")
        self.assertEqual((job["executions"], job["attempts"]), (2, 0), job)
        self.assert_no_overlaps()

    def test_a_job_that_was_asked_for_in_vain_until_its_lease_would_be_over_is_not_stalled(self):
        pool = self.brisk_pool(num_workers=1, lease="1s")
        pool.signal(signal.SIGTSTP)
        pool.wait_event("pool_paused")
        job_id = self.enqueue("held")
        self.open_gate()
        lock = self.lock_store()
        pool.signal(signal.SIGCONT)
        pool.wait_event("pool_resumed")
        dispatcher = pool.pid_of("dispatcher")
        wait_for(lambda: waits_for_lock(dispatcher), "the dispatcher to ask for the job")
        over = time.monotonic() + 1
        wait_for(lambda: time.monotonic() > over, "the end of the lease that it asked for")
        lock.rollback()
        job = self.wait_state(job_id, "done")
        self.assertEqual((job["stalls"], job["attempts"]), (0, 0), job)
        pool.signal(signal.SIGUSR1)
        self.assertEqual(pool.wait_event("process_state", name="worker 1")["done"], 1)
        self.assertEqual(len(self.lines("starts")), 1)

    def test_two_pools_behind_a_long_lock_never_run_a_job_twice_at_once(self):
        self.brisk_pool(num_workers=4)
        self.brisk_pool(num_workers=4)
        for _ in range(3):
            jobs = [self.enqueue("held", "--max-stalls", "100") for _ in range(4)]
            for job_id in jobs:
                self.wait_start(job_id)
            lock = self.lock_store()
            wait_for(lambda: not any(is_alive(pid) for job_id in jobs
                                     for pid in self.starts(job_id)), "the end of all runs")
            lock.rollback()
            for job_id in jobs:
                self.wait_start(job_id, 2)
            self.open_gate()
            for job_id in jobs:
                self.wait_state(job_id, "done")
            self.close_gate()
        self.assert_no_overlaps()

    def test_a_pool_whose_store_is_away_ends_when_it_is_told_to(self):
        for away in ("taken", "locked"):
            with self.subTest(away):
                pool = self.brisk_pool()
                lock = self.lock_store() if away == "locked" else self.take_store()
                pool.signal(signal.SIGTERM)
                self.assertEqual(pool.wait(), 0, pool.log_text())
                lock.rollback() if lock else self.return_store()

    def test_a_job_that_cannot_be_given_back_makes_the_pool_fail(self):
        pool = self.brisk_pool(shutdown_timeout="100ms")
        job_id = self.held_job()
        self.take_store()
        pool.signal(signal.SIGTERM)
        self.assertEqual(pool.wait(), 1, pool.log_text())
        self.return_store()
        self.assertEqual(self.job(job_id)["state"], "running")
        self.assertFalse(is_alive(self.starts(job_id)[0]))

    def test_a_schema_that_is_too_new_ends_the_pool_with_a_clear_line(self):
        self.brisk_pool().stop()
        self.sql("UPDATE meta SET version = 99, usable_from = 98")
        pool = self.start()
        self.assertEqual(pool.wait(), 1, pool.log_text())
        said = pool.wait_event("store_unusable", process="dispatcher")["error"]
        self.assertIn("the schema is at version 99", said)
        self.assertEqual(pool.events("store_lost"), [])


class Leases(StoreCase):

    def test_a_run_whose_lease_another_has_taken_is_stopped(self):
        pool = self.brisk_pool()
        job_id = self.held_job()
        [run] = self.starts(job_id)
        self.sql("UPDATE lease SET token = zeroblob(20), pool = 'somebody.else',"
                 " expires_at = expires_at + 60000000")
        pool.wait_event("lease_lost", job=job_id, reason="lease_mismatch")
        wait_for(lambda: not is_alive(run), "the end of the run")
        job = self.job(job_id)
        self.assertEqual((job["state"], job["pool"], job["attempts"]),
                         ("running", "somebody.else", 0))
        self.assert_untouched(self.enqueue("quick"))
        self.assertEqual(len(pool.events("lease_lost")), 1)

    def test_a_pool_whose_heartbeater_hangs_gives_its_jobs_up_before_another_gets_them(self):
        first = self.brisk_pool(num_workers=1)
        job_id = self.held_job()
        os.kill(first.pid_of("heartbeater"), signal.SIGSTOP)
        second = self.brisk_pool(num_workers=1)
        self.wait_start(job_id, 2)
        self.assertFalse(is_alive(self.starts(job_id)[0]))
        os.kill(first.pid_of("heartbeater"), signal.SIGCONT)
        self.open_gate()
        job = self.wait_state(job_id, "done")
        self.assertEqual(job["attempts"], 0)
        self.assert_no_overlaps()
        self.assertEqual(second.stop(), 0)

    def test_a_pool_that_was_removed_is_there_again(self):
        pool = self.brisk_pool()
        job_id = self.held_job()
        [name] = [entry["name"] for entry in self.objects("pools")]
        self.sql("DELETE FROM pool")
        wait_for(lambda: [entry["name"] for entry in self.objects("pools")] == [name], "the pool")
        self.assertEqual(pool.wait_event("pool_removed")["registered"], "again")
        self.open_gate()
        self.assert_untouched(job_id)

    def test_a_beat_that_fails_once_is_tried_again_before_the_lease_ends(self):
        pool = self.brisk_pool(lease="3s", heartbeat_interval="1s")
        job_id = self.held_job()
        self.take_store()
        pool.wait_event("store_lost", process="heartbeater")
        self.return_store()
        pool.wait_event("store_back", process="heartbeater")
        [(expiry,)] = self.sql("SELECT expires_at FROM lease")
        wait_for(lambda: self.sql("SELECT expires_at > ? FROM lease", expiry) == [(1,)], "a beat")
        self.open_gate()
        self.assert_untouched(job_id)


class Neighbours(StoreCase):

    def test_two_pools_run_a_scheduled_job_once(self):
        self.brisk_pool()
        self.brisk_pool()
        self.open_gate()
        jobs = [self.enqueue("held", "--run-at", "+1s") for _ in range(10)]
        for job_id in jobs:
            self.assert_untouched(job_id)
        self.assertEqual(sorted(words[0] for words in self.lines("starts")), sorted(jobs))

    def test_two_pools_share_many_jobs_and_do_each_once(self):
        pools = [self.brisk_pool(pool_id=name) for name in ("left", "right")]
        lines = '{"type": "quick"}\n' * 300
        self.ok("enqueue", "--bulk", self.write("jobs.jsonl", lines))
        wait_for(lambda: self.objects("stats")[0]["done"] == 300,
                 lambda: f"300 done jobs: {self.objects('stats')}")
        jobs = self.jobs()
        self.assertEqual({(job["executions"], job["attempts"], job["stalls"]) for job in jobs},
                         {(1, 0, 0)})
        self.assertEqual({job["pool"].split(".")[0] for job in jobs}, {"left", "right"})
        self.assertEqual(sum(len(pool.events("job_done")) for pool in pools), 300)
        self.assertEqual([pool.stop() for pool in pools], [0, 0])


if __name__ == "__main__":
    unittest.main()

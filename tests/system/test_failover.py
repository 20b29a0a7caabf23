"""
A PostgreSQL with a standby: what can be done with the standby alone, and a pool that follows when the
primary is killed and the standby takes its place.
"""
import os
import subprocess
import threading
import unittest

from daemon import THD, wait_for
from gate import GateCase
from servers import Postgres, PostgresStandby, servers_folder

CALM = {"lease": "20s", "heartbeat_interval": "300ms", "kill_grace": "100ms", "reaper_interval": "500ms"}
SERVICES = ["dispatcher", "heartbeater", "reaper", "retrier", "scheduler"]
ADVICE = "this server is read-only: name the primary, or all servers and target_session_attrs=read-write"


class PairCase(GateCase):
    """A test with a primary that answers when its standby has what was written, too."""

    def setUp(self):
        super().setUp()
        folder = self.enterContext(servers_folder())
        self.primary = self.enterContext(Postgres(os.path.join(folder, "primary")))
        self.standby = self.enterContext(PostgresStandby(os.path.join(folder, "standby"), self.primary))
        self.primary.sql("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
        self.primary.sql("ALTER SYSTEM SET synchronous_commit = 'remote_apply'")
        self.primary.sql("SELECT pg_reload_conf()")
        wait_for(lambda: self.primary.sql("SELECT sync_state FROM pg_stat_replication") == "sync",
                 "a standby that is waited for")
        self.backend = (f"postgres://taskharbor@{self.primary.place},{self.standby.place}/taskharbor"
                        "?target_session_attrs=read-write")
        self.ok("migrate")

    def at(self, server, options=""):
        return {"TASKHARBOR_BACKEND": server.url + options}


class Standby(PairCase):
    def check(self, env):
        done = subprocess.run([THD, "--config", self.configure(self.handlers), "--check"],
                              env=self.environment_with(env, True), capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stderr

    def test_a_standby_can_be_looked_at_and_what_it_cannot_do_is_said(self):
        job_id = self.enqueue("quick")
        alone = self.at(self.standby)
        for words in (["ls"], ["show", job_id], ["stats"], ["queues"], ["pools"], ["top", "--once"]):
            with self.subTest(words):
                self.ok(*words, env=alone)
        self.assertEqual([job["id"] for job in self.objects("ls", env=alone)], [job_id])
        for options in ("", "?target_session_attrs=primary", "?target_session_attrs=read-write"):
            for words in (["enqueue", "quick"], ["enqueue", "quick", "--key", "a"], ["cancel", job_id],
                          ["pause", "default"]):
                with self.subTest(words, options=options):
                    self.refuses(69, ADVICE, *words, env=self.at(self.standby, options))
            code, said = self.check(self.at(self.standby, options))
            self.assertEqual((code, len(said.splitlines())), (69, 1), said)
            self.assertIn(ADVICE, said)
        self.assertEqual(self.check({}), (0, ""))
        self.assertEqual([job["state"] for job in self.jobs()], ["ready"])

    LOCK = "LOCK taskharbor.%s IN ACCESS EXCLUSIVE MODE;"

    @staticmethod
    def is_locked(server, table):
        return server.sql("SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted"
                          f" AND relation = 'taskharbor.{table}'::regclass") == "1"

    def test_a_look_that_the_standby_cancels_is_told_as_that_and_can_be_repeated(self):
        self.standby.sql("ALTER SYSTEM SET max_standby_streaming_delay = 0")
        self.standby.sql("SELECT pg_reload_conf()")
        job_id, alone = self.enqueue("quick"), self.at(self.standby)
        with self.primary.session("BEGIN;" + self.LOCK % "run") as go_on:
            self.primary.sql("SELECT pg_switch_wal()")  # so that the standby hears of the lock at once
            wait_for(lambda: self.is_locked(self.standby, "run"), "the lock to arrive")
            with subprocess.Popen([self.program, "show", job_id], stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.PIPE, env=self.environment_with(alone, True)) as look:
                wait_for(lambda: self.standby.sql("SELECT count(*) FROM pg_stat_activity WHERE"
                                                  " wait_event_type = 'Lock'") != "0", "it to wait")
                go_on(self.LOCK % "job")  # it has read from there already
                wait_for(lambda: self.is_locked(self.primary, "job"), "the lock")
                self.primary.sql("SELECT pg_switch_wal()")
                said = look.communicate()[1]
        self.assertEqual((look.returncode, said), (69, "thctl: postgres: canceling statement due to"
                                                   " conflict with recovery\n"))
        self.ok("show", job_id, env=alone)


class Producer(threading.Thread):
    """Enqueues one job after the other, and remembers those that it was told are stored."""

    def __init__(self, case):
        super().__init__()
        self.case, self.ids, self.ended = case, [], threading.Event()

    def run(self):
        while not self.ended.is_set():
            result = self.case.thctl("enqueue", "quick")
            if result.code == 0:
                self.ids.append(result.out.strip())

    def finish(self):
        self.ended.set()
        self.join()
        return self.ids


class Failover(PairCase):
    def test_a_pool_follows_to_the_standby_and_nothing_that_was_answered_is_lost(self):
        pool = self.start_pool(self.handlers, CALM)
        running = self.held_job()
        waiting = [self.enqueue("held") for _ in range(10)]
        producer = Producer(self)
        producer.start()
        self.addCleanup(producer.finish)
        wait_for(lambda: len(producer.ids) >= 3, "some jobs")
        self.primary.kill()
        for name in SERVICES:
            pool.wait_event("store_lost", process=name)
        self.refuses(69, ADVICE, "stats")
        before = len(producer.ids)
        self.standby.promote()
        wait_for(lambda: len(producer.ids) >= before + 3, "more jobs")
        self.open_gate()
        for job_id in [running, *waiting, *producer.finish()]:
            self.assert_untouched(job_id)
        self.assertEqual(len(self.starts(running)), 1)
        for name in SERVICES:
            pool.wait_event("store_back", process=name)
            self.assertEqual([entry["event"] for entry in pool.events(process=name)
                              if entry["event"] in ("store_lost", "store_back")],
                             ["store_lost", "store_back"], pool.log_text())
        self.assertEqual(pool.events("process_exited"), [])
        self.assertEqual(pool.stop(), 0)


if __name__ == "__main__":
    unittest.main()

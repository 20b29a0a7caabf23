"""
Jobs that do to their worker, and to its pool, what no job should: it costs them, and nobody else.
"""
import json
import os
import time
import unittest
from signal import SIGABRT, SIGCONT, SIGKILL, SIGSTOP

from daemon import descendants, is_alive, title, wait_for
from plugins import SANITIZER, plugin
from running import HOLD, RunningCase

QUICK = {"lease": "2s", "heartbeat_interval": "300ms", "kill_grace": "100ms", "num_workers": 1}
RETRY = {"policy": "fixed", "base_delay": "10ms"}


class HostileCase(RunningCase):

    def setUp(self):
        super().setUp()
        self.environment["ASAN_OPTIONS"] = SANITIZER

    def start_hostile(self, pool=None, **handlers):
        """A pool whose every job is the hostile plugin's, but for those named here."""
        handlers = {"*": {"plugin": plugin("hostile"), "max_attempts": 1}, **handlers}
        return self.start_pool(handlers, {**QUICK, **(pool or {})}, defaults={"retry": RETRY})


class Signals(HostileCase):

    def test_a_plugin_that_ignores_sigchld_does_not_break_the_next_command(self):
        pool = self.start_hostile(command={"command": ["true"]}, fails={"command": "exit 65"})
        for _ in range(3):
            self.run_job("ignore_children")
            self.run_job("command")
            self.assertEqual(self.run_job("fails", state="dead")["exit_code"], 65)
        self.assertEqual(pool.events("process_exited"), [])


class WildWrites(HostileCase):
    """A plugin overwrites all that its worker shares with others."""

    def test_a_wild_write_costs_the_job_that_made_it_and_no_other(self):
        self.start_hostile()
        for round_, byte in enumerate((255, 127, 1, 0), 1):
            with self.subTest(byte=byte):
                job = self.run_job("scribble", str(byte), state="dead")
                self.assertEqual((job["attempts"], job["executions"]), (1, 1))
                self.assertIn(job["signal"], (SIGABRT, SIGKILL))  # the master may be faster than its abort()
                self.enqueue_many(200, "done")
                self.wait_stats(done=200 * round_, dead=round_, ready=0, running=0)
        self.assertEqual(self.pools[0].stop(), 0)

    def test_a_job_that_is_killed_after_a_wild_write_has_failed(self):
        """Or it would run again and again, uncounted."""
        self.start_hostile()
        for byte in (255, 127, 1):
            with self.subTest(byte=byte):
                job = self.run_job("scribble_and_stay", str(byte), state="dead")
                self.assertEqual((job["attempts"], job["executions"], job["signal"]),
                                 (1, 1, SIGKILL))

    def test_a_wild_write_is_survived_by_those_that_wait_and_run(self):
        pool = self.start_hostile({"num_workers": 2}, hold={"command": HOLD})
        held = self.enqueue("hold")
        self.wait_held()
        lines = [json.dumps({"type": "scribble", "payload": 255})]
        lines += [json.dumps({"type": "done"}) for _ in range(100)]
        self.ok("enqueue", "--bulk", self.write("many.jsonl", "\n".join(lines) + "\n"))
        self.wait_stats(done=100, dead=1, ready=0, running=1)
        self.let_go()
        self.wait_state(held, "done")
        self.assertEqual(pool.stop(), 0)

    def test_a_worker_that_overwrote_its_memory_and_goes_on_harms_no_other_job(self):
        self.start_hostile({"num_workers": 2})
        for byte in (255, 127, 0):
            self.enqueue("scribble_on", str(byte))
            self.enqueue_many(50, "done")
        wait_for(lambda: self.stats()["done"] >= 150 and self.stats()["running"] == 0,
                 self.stats)
        self.assertEqual(self.pools[0].stop(), 0)


class Forks(HostileCase):
    """A plugin forks, and its child comes back to where only the worker should be."""

    def test_a_child_that_returns_is_not_taken_for_the_worker(self):
        pool = self.start_hostile(command={"command": ["true"]})
        worker = pool.pid_of("worker 1")
        for job_type in ("fork_both", "fork_and_wait", "fork_and_return_late"):
            with self.subTest(job_type):
                job = self.run_job(job_type)
                self.assertEqual((job["executions"], job["progress"], job["output"]),
                                 (1, None, None))
                for _ in range(3):
                    self.run_job("done")
                    self.run_job("command")
        self.enqueue_many(20, "fork_both")
        self.enqueue_many(100, "done")
        self.wait_stats(done=141, dead=0, ready=0, running=0)
        self.assertEqual({job["executions"] for job in self.jobs()}, {1})
        self.assertEqual(pool.processes()["worker 1"], worker)
        self.assertEqual(pool.stop(), 0)

    def test_a_child_that_stays_is_killed_with_its_job(self):
        self.start_hostile()
        for _ in range(3):
            child = self.run_job("fork_and_leave")["result"]
            self.assertFalse(is_alive(child))


class DeathOfTheMaster(HostileCase):
    """The job runs again elsewhere when its lease is over: until then nothing of it may be left."""

    # A grandchild in a session of its own, and the command itself.
    STOPS = "setsid sleep 1000 & kill -STOP $PPID; " + HOLD

    def wait_gone(self, pool):
        """Well before the lease of a minute."""
        tree = descendants(pool.pid)
        pool.kill()
        wait_for(lambda: not any(map(is_alive, tree)),
                 lambda: [title(pid) for pid in tree if is_alive(pid)], deadline=20)

    def test_a_plugin_that_blocks_all_signals_ends_with_the_master(self):
        pool = self.start_hostile({"lease": "60s", "heartbeat_interval": "300ms"})
        job = self.enqueue("block_all")
        wait_for(lambda: self.job(job)["progress"], "the plugin to block signals")
        self.wait_gone(pool)

    def test_the_command_of_a_stopped_worker_ends_with_the_master_and_all_it_started(self):
        pool = self.start_hostile({"lease": "60s", "heartbeat_interval": "300ms"},
                                  stops={"command": self.STOPS})
        self.enqueue("stops")
        self.wait_held()
        self.wait_gone(pool)


class Standstill(HostileCase):
    """Processes that a signal has stopped; it takes five seconds until that is too long."""

    STOPS = {"command": "kill -STOP $PPID; " + HOLD, "timeout": "1h", "max_attempts": 1}

    def test_a_job_that_stops_its_worker_has_failed_or_is_cancelled_and_the_next_is_done(self):
        pool = self.start_hostile({"num_workers": 3}, stops=self.STOPS)
        fails, cancelled = self.enqueue("stops"), self.enqueue("stops")
        self.wait_held(2)
        plugin_job = self.enqueue("stop_self")
        self.ok("cancel", cancelled)
        job = self.wait_state(fails, "dead")
        self.assertRegex(job["last_error"], "worker [123] was killed after a signal had stopped it "
                                            "while it ran the job")
        self.assertEqual((job["attempts"], job["executions"], job["stalls"]), (1, 1, 0))
        self.wait_state(cancelled, "cancelled")
        self.assertEqual(self.wait_state(plugin_job, "dead")["last_error"],
                         "killed after a signal had stopped it in plugin hostile")
        self.run_job("done")
        self.assertEqual(pool.stop(), 0)

    def test_a_worker_that_starts_nothing_while_jobs_wait_is_replaced(self):
        pool = self.start_hostile()
        worker = pool.pid_of("worker 1")
        self.run_job("deafen")
        job = self.run_job("done")
        self.assertEqual((job["attempts"], job["stalls"]), (0, 0))
        self.assertNotEqual(pool.pid_of("worker 1"), worker)
        pool.wait_event("process_hangs", name="worker 1", state="deaf")

    def test_every_process_that_is_stopped_is_replaced(self):
        pool = self.start_hostile()
        before = pool.processes()
        for pid in before.values():
            os.kill(pid, SIGSTOP)
        for name, pid in before.items():
            pool.wait_replaced(name, pid)
        self.assertEqual({entry["name"] for entry in pool.events("process_hangs", state="stopped")},
                         set(before))
        self.run_job("done")
        self.assertEqual(pool.stop(), 0)

    def test_a_pool_that_is_stopped_as_a_whole_kills_nobody_when_it_goes_on(self):
        pool = self.start_hostile({"lease": "60s"})
        before = pool.processes()
        tree = [*before.values(), pool.pid]  # the master sees them stop, and has to wait itself
        for pid in tree:
            os.kill(pid, SIGSTOP)
        end = time.monotonic() + 5.5
        wait_for(lambda: time.monotonic() > end, "more than they may be stopped")
        for pid in reversed(tree):
            os.kill(pid, SIGCONT)
        self.run_job("done")
        self.assertEqual((pool.processes(), pool.events("process_hangs")), (before, []))


if __name__ == "__main__":
    unittest.main()

"""
Jobs that do to their worker, and to its pool, what no job should: it costs them, and nobody else.
"""
import json
import unittest
from signal import SIGABRT

from daemon import wait_for
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
                self.assertEqual((job["attempts"], job["executions"], job["signal"]),
                                 (1, 1, SIGABRT))
                self.enqueue_many(200, "done")
                self.wait_stats(done=200 * round_, dead=round_, ready=0, running=0)
        self.assertEqual(self.pools[0].stop(), 0)

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


if __name__ == "__main__":
    unittest.main()

"""
Jobs that do to their worker, and to its pool, what no job should: it costs them, and nobody else.
"""
import unittest

from plugins import SANITIZER, plugin
from running import RunningCase

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


if __name__ == "__main__":
    unittest.main()

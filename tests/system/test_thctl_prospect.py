"""What thctl enqueue says when nobody would run the job."""
import re
import subprocess
import unittest

from daemon import DaemonCase
from harness import DEADLINE, THCTL

OFFER = {"state": "running", "processes": [], "queues": [{"name": "default"}, {"name": "mail"}],
         "handlers": [{"pattern": "email:send"}, {"pattern": "report:*"}]}


class Prospects(DaemonCase):
    def told(self, *arguments):
        """What somebody who waits is told before anything else."""
        result = self.thctl("enqueue", *arguments, "--wait=1ms")
        self.assertEqual(result.code, 124, result)
        first = result.err.splitlines()[0]
        return None if first.endswith(" ready") else first

    def test_without_a_pool_it_says_that_none_runs(self):
        self.assertEqual(self.told("email:send"), f"no pool is running on {self.backend}: the job "
                                                  "waits until thd is started")
        self.make_pool("old.1", OFFER, silent_for=120)
        self.assertIn("no pool is running", self.told("email:send"))

    def test_a_queue_that_no_pool_serves_is_told(self):
        self.ok("migrate")
        self.make_pool("web.1", OFFER)
        self.assertEqual(self.told("email:send", "--queue", "mial"),
                         "no pool serves the queue 'mial' (did you mean 'mail'?): the job waits "
                         "until one does")

    def test_a_type_that_no_pool_handles_is_told(self):
        self.ok("migrate")
        self.make_pool("web.1", OFFER)
        self.assertEqual(self.told("emial:send"),
                         "no pool that serves the queue 'default' has a handler for 'emial:send' "
                         "(did you mean 'email:send'?): the job waits until one does")

    def test_nothing_is_said_where_somebody_would_run_it_or_may_do_so(self):
        self.ok("migrate")
        self.make_pool("web.1", OFFER)
        self.assertIsNone(self.told("email:send"))
        self.assertIsNone(self.told("report:day", "--queue", "mail"))
        self.make_pool("silent.2", {"state": "running"})
        self.assertIsNone(self.told("x", "--queue", "other"))

    def test_a_paused_queue_is_told(self):
        self.ok("migrate")
        self.make_pool("web.1", OFFER)
        self.ok("pause", "mail")
        self.assertEqual(self.told("email:send", "--queue", "mail"),
                         "the queue 'mail' is paused: the job waits until 'thctl resume mail'")
        self.assertIsNone(self.told("email:send"))

    def test_a_terminal_is_told_and_a_script_is_not(self):
        self.assertIn("no pool is running", self.on_terminal("enqueue", "x")[1])
        self.assertEqual(self.thctl("enqueue", "x").err, "")

    def test_many_jobs_are_told_of_once(self):
        result = self.thctl("enqueue", "--lines", "x", "--wait=1ms", stdin="1\n2\n")
        self.assertIn("the jobs wait until thd is started\n", result.err)
        self.assertEqual(result.err.count("no pool"), 1, result)

    def test_whoever_waits_sees_that_a_job_was_set_aside(self):
        self.start_pool({"broken": {"command": ["./nothere"]}})
        for job_type, words in (("broken", "ready, cannot start: .*nothere.*"),
                                ("nope", "ready, no handler")):
            process = subprocess.Popen([THCTL, "enqueue", job_type, "--wait"], cwd=self.folder,
                                       stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                       env=self.environment_with(None, True), text=True)
            self.addCleanup(process.stderr.close)
            self.addCleanup(process.kill)
            said = []
            while not said or not re.search(f"^[0-9a-f-]+ {words}$", said[-1]):
                said.append(process.stderr.readline())
                self.assertNotEqual(said[-1], "", said)
            process.kill()
            process.wait(timeout=DEADLINE)

    def test_a_real_pool_says_what_it_serves(self):
        self.start_pool({"ok": {"command": ["true"]}})
        result = self.thctl("enqueue", "ok", "--wait")
        self.assertNotIn("no pool", result.err)
        self.assertEqual(self.told("nope"), "no pool that serves the queue 'default' has a handler "
                                            "for 'nope': the job waits until one does")


if __name__ == "__main__":
    unittest.main()

"""thd: a command that cannot be started is the fault of the setup, not of its jobs."""
import os
import unittest

from running import RunningCase, moment

NOTE = 'echo "$TH_JOB_TYPE" >>ran'
JOBS = 3


class Starts(RunningCase):
    def repair(self):
        """What somebody does who has read the log."""
        self.script("missing", NOTE)
        self.script("plain", NOTE)
        os.mkdir(self.path("folder"))

    def test_jobs_that_cannot_be_started_wait_uncounted_until_they_can(self):
        self.write("plain", "#!/bin/sh\n" + NOTE)  # without the right to run it
        errors = {"program": "missing: No such file", "right": "plain: Permission denied",
                  "folder": "folder: No such file", "shell": "exit code 127: .*not found",
                  "shell-right": "exit code 126: .*Permission denied"}
        pool = self.start_quick({
            "program": {"command": ["./missing"]}, "right": {"command": ["./plain"]},
            "folder": {"command": ["/bin/sh", "-c", f"cd ..; {NOTE}"], "cwd": "./folder"},
            "shell": {"command": "./missing"}, "shell-right": {"command": "./plain"},
            "fine": {"command": NOTE}})
        jobs = [self.enqueue(job_type) for job_type in errors for _ in range(JOBS)]
        for job_type in errors:
            pool.wait_event("start_failed", type=job_type, level="error")
        for job in jobs:
            found = self.wait_state(job, "ready")
            self.assertEqual((found["attempts"], found["stalls"]), (0, 0))
        self.wait_stats(ready=len(jobs), cannot_start=len(jobs))
        for job in jobs:
            found = self.job(job)
            self.assertRegex(found["last_error"], errors[found["type"]])
        self.assertEqual(self.run_job("fine")["executions"], 1)
        for job_type in errors:  # the one that asks again
            pool.wait_event("start_failed", type=job_type, retry_ms=2000)

        self.repair()
        self.wait_stats(done=len(jobs) + 1)
        self.assertEqual(sorted(self.read("ran").split()),
                         sorted(["fine", *list(errors) * JOBS]))
        self.assertEqual({(job["attempts"], job["stalls"]) for job in self.jobs()}, {(0, 0)})
        for job_type, error in errors.items():
            [loud] = pool.events("start_failed", type=job_type, level="error")
            self.assertRegex(loud["error"], error)
            self.assertEqual(len(pool.events("start_works", type=job_type)), 1)

    def test_it_is_asked_again_by_one_job_at_a_time(self):
        pool = self.start_quick({"x": {"command": ["./missing"]}}, {"num_workers": 4})
        self.enqueue_many(30, "x")
        pool.wait_event("start_failed", retry_ms=4000)
        *_, probe, next_one = pool.events("start_failed")
        self.assertEqual((probe["retry_ms"], next_one["retry_ms"]), (2000, 4000))
        self.assertGreater(moment(next_one["time"]) - moment(probe["time"]), 1.9)
        self.wait_stats(ready=30, cannot_start=30)
        self.assertEqual({job["attempts"] for job in self.jobs()}, {0})
        self.assertGreater(sum(job["runs"] == [] for job in self.jobs()), 10)  # never tried


if __name__ == "__main__":
    unittest.main()

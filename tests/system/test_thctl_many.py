"""thctl cancel, run, retry and rm of all jobs that match, on each store."""
import unittest

from running import HOLD, RunningCase


class Many(RunningCase):
    def setUp(self):
        super().setUp()
        self.ok("migrate")

    def states(self):
        return [job["state"] for job in self.jobs()]

    def test_all_unfinished_jobs_are_cancelled_and_ended_ones_stay(self):
        ended = self.enqueue("x")
        self.ok("cancel", ended)
        waiting = [self.enqueue("x"), self.enqueue("x", "--run-at", "+1h"),
                   self.enqueue("x", "--queue", "other")]
        self.assertEqual(self.ok("cancel", "--all", "--yes"), "3 jobs cancelled or asked to stop")
        self.assertEqual([self.job(job)["state"] for job in waiting], ["cancelled"] * 3)
        result = self.thctl("cancel", "--all")
        self.assertEqual((result.code, result.out, result.err), (0, "", "no unfinished jobs\n"))

    def test_running_and_blocked_ones_are_cancelled_too(self):
        self.start_quick({"hold": {"command": HOLD}})
        running = self.enqueue("hold", "--key", "k")
        self.wait_held()
        blocked = self.enqueue("hold", "--key", "k")
        self.assertEqual(self.job(blocked)["state"], "blocked")
        self.assertEqual(len(self.objects("cancel", "--all", "--yes")), 2)
        self.wait_state(running, "cancelled")
        self.wait_state(blocked, "cancelled")

    def test_the_filters_pick_what_is_cancelled(self):
        self.enqueue("x", "--queue", "a")
        self.enqueue("x", "--run-at", "+1h", "--queue", "a")
        self.enqueue("y", "--queue", "b", "--key", "k")
        for count, filters in ((1, ["--state", "scheduled"]), (2, ["--type", "x"]),
                               (1, ["--key", "k"]), (1, ["--queue", "b"]), (0, ["--error", "e"]),
                               (1, ["--since", "+30m"]), (2, ["--until", "+30m"])):
            with self.subTest(filters):
                self.assertEqual(self.objects("cancel", "--all", "--dry-run", *filters),
                                 [{"matched": count}])
        self.ok("cancel", "--all", "--queue", "a", "--state", "ready", "--yes")
        self.assertEqual(self.states(), ["cancelled", "scheduled", "ready"])

    def test_run_takes_scheduled_ones_and_those_that_failed(self):
        self.start_quick({"bad": {"command": "exit 1", "retry": {"base_delay": "1h"}}})
        failed = self.enqueue("bad", "--max-attempts", "2")
        self.wait_state(failed, "retry")
        later = self.enqueue("bad", "--run-at", "+1h", "--max-attempts", "1")
        self.assertEqual(self.ok("run", "--all", "--dry-run"),
                         "2 scheduled or retry jobs would be due now")
        self.assertEqual(self.ok("run", "--all", "--state", "scheduled", "-y"), "1 job due now")
        self.wait_state(later, "dead")
        self.assertEqual(self.job(failed)["state"], "retry")
        self.assertEqual(self.ok("run", "--all", "--yes"), "1 job due now")
        self.wait_state(failed, "dead")
        self.assertEqual(self.job(failed)["attempts"], 2)

    def test_retry_of_a_job_that_waits_lets_it_run_now(self):
        later, ended = self.enqueue("x", "--run-at", "+1h"), self.enqueue("x")
        self.ok("cancel", ended)
        self.refuses(1, "is scheduled: --run-at is for dead and cancelled jobs", "retry", later,
                     "--run-at", "+2h")
        self.assertEqual(self.ok("retry", ended, later), f"{ended} queued again\n{later} due now")
        self.assertEqual(self.states(), ["ready", "ready"])
        self.refuses(1, "is ready: it will run by itself", "retry", later)

    def test_retry_and_rm_of_all_take_the_state_that_is_given(self):
        self.enqueue("x")
        self.ok("cancel", "--all", "--yes")
        result = self.thctl("retry", "--all")
        self.assertEqual((result.code, result.err), (0, "no dead jobs\n"))
        self.assertEqual(self.ok("retry", "--all", "--state", "cancelled", "--yes"),
                         "1 job queued again")
        self.ok("cancel", "--all", "--yes")
        self.assertEqual(self.ok("rm", "--all", "--state", "cancelled", "--yes"), "1 job deleted")

    def test_a_dry_run_counts_and_changes_nothing(self):
        self.enqueue("x", "--run-at", "+1h")
        self.ok("cancel", self.enqueue("x"))
        before = self.jobs()
        for says, *command in (
                ("1 unfinished job would be cancelled or asked to stop", "cancel"),
                ("1 scheduled or retry job would be due now", "run"),
                ("0 dead jobs would be queued again", "retry"),
                ("1 cancelled job would be deleted", "rm", "--state", "cancelled")):
            self.assertEqual(self.ok(*command, "--all", "--dry-run", "--yes"), says)
        self.assertEqual(self.jobs(), before)

    def test_the_number_is_asked_about(self):
        for _ in range(2):
            self.enqueue("x", "--run-at", "+1h")
        self.refuses(2, "2 unfinished jobs would be cancelled or asked to stop: give --yes",
                     "cancel", "--all")
        code, screen = self.on_terminal("run", "--all", answers=[("[y/N]", "n\n")])
        self.assertEqual(code, 1, screen)
        self.assertIn("Run 2 scheduled or retry jobs? [y/N] ", screen)
        code, screen = self.on_terminal("cancel", "--all", answers=[("[y/N]", "y\n")])
        self.assertEqual(code, 0, screen)
        self.assertIn("Cancel 2 unfinished jobs? [y/N] ", screen)
        self.assertEqual(self.states(), ["cancelled"] * 2)


if __name__ == "__main__":
    unittest.main()

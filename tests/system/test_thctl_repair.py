"""thctl cancel, run, retry and rm."""
import os
import unittest

from harness import Case, limit_file_size

AN_ID = "0193f0a2-7c1d-7abc-8def-0123456789ab"


class Cancel(Case):
    def test_a_waiting_job_is_cancelled(self):
        job = self.enqueue("x")
        self.assertEqual(self.ok("cancel", job), f"{job} cancelled")
        self.assertEqual(self.job(job)["state"], "cancelled")

    def test_a_running_job_is_asked_to_stop(self):
        job = self.enqueue("x")
        self.make_running(job)
        self.assertEqual(self.ok("cancel", job), f"{job} is running: it was asked to stop")
        self.assertIsNotNone(self.job(job)["cancel_requested_at"])

    def test_all_are_tried_and_one_that_fails_makes_it_1(self):
        first, second, done = self.enqueue("x"), self.enqueue("x"), self.enqueue("x")
        self.make_ended(done, "done")
        result = self.thctl("cancel", first, AN_ID, done, second)
        self.assertEqual(result.code, 1)
        self.assertEqual(result.out, f"{first} cancelled\n{second} cancelled\n")
        self.assertEqual(result.err, f"thctl: job {AN_ID} does not exist\n"
                                     f"thctl: job {done} is done: there is nothing to cancel\n")

    def test_json_has_id_ok_and_error(self):
        job = self.enqueue("x")
        result = self.thctl("--json", "cancel", job, AN_ID)
        self.assertEqual((result.code, result.err), (1, ""))
        self.assertEqual(result.objects, [
            {"id": job, "ok": True, "error": None},
            {"id": AN_ID, "ok": False, "error": "does not exist"}])


class Retry(Case):
    def test_a_dead_job_waits_again_with_its_counts_cleared(self):
        [job] = self.dead_jobs(1)
        self.assertEqual(self.ok("retry", job), f"{job} queued again")
        after = self.job(job)
        self.assertEqual((after["state"], after["attempts"], after["last_error"]),
                         ("ready", 0, None))

    def test_a_job_that_starts_at_once_is_not_said_to_stop(self):
        [job] = self.dead_jobs(1)
        self.sql("CREATE TRIGGER start AFTER INSERT ON ready BEGIN"
                 " DELETE FROM ready WHERE seq = new.seq;"
                 " INSERT INTO lease VALUES (new.seq, new.queue_id, 2, zeroblob(20), 1 << 60,"
                 "  'pool-1', 1, 1, 1, NULL); END")
        self.assertEqual(self.ok("retry", job), f"{job} queued again")
        self.assertEqual(self.job(job)["state"], "running")

    def test_a_cancelled_job_may_run_again_later(self):
        job = self.enqueue("x")
        self.ok("cancel", job)
        self.ok("retry", job, "--run-at", "2031-01-31T10:00:00Z")
        after = self.job(job)
        self.assertEqual((after["state"], after["run_at"]),
                         ("scheduled", "2031-01-31T10:00:00.000000Z"))

    def test_refusals_say_why_and_change_nothing(self):
        ready, running, done = self.enqueue("x"), self.enqueue("x"), self.enqueue("x")
        self.make_running(running)
        self.make_ended(done, "done")
        dead = self.enqueue("x", "--key", "k")
        self.make_ended(dead, "dead", "bad", 1)
        self.enqueue("x", "--key", "k")
        before = self.jobs()
        for job, reason in ((ready, "is ready: it will run by itself"),
                            (running, "is running: there is nothing to retry"),
                            (done, "is done: only dead and cancelled jobs can run again"),
                            (dead, "is dead: another job with its key is waiting"),
                            (AN_ID, "does not exist")):
            self.refuses(1, f"thctl: job {job} {reason}", "retry", job)
        self.assertEqual(self.jobs(), before)

    def test_a_job_that_waits_for_its_next_attempt_runs_now_and_keeps_its_counts(self):
        job = self.enqueue("x")
        self.make_running(job)
        self.make_retry(job)
        self.assertEqual(self.ok("retry", job), f"{job} due now")
        after = self.job(job)
        self.assertEqual((after["state"], after["attempts"]), ("ready", 1))

    def test_a_bad_time_changes_nothing(self):
        [job] = self.dead_jobs(1)
        self.refuses(2, "--run-at", "retry", job, "--run-at", "soon")
        self.assertEqual(self.job(job)["state"], "dead")


class Remove(Case):
    def test_ended_jobs_are_deleted_and_their_idempotency_keys_are_free(self):
        job = self.enqueue("x", "--idempotency-key", "k")
        self.ok("cancel", job)
        self.assertEqual(self.ok("rm", job), f"{job} deleted")
        self.assertEqual(self.jobs(), [])
        self.assertNotEqual(self.enqueue("x", "--idempotency-key", "k"), job)

    def test_others_are_refused_and_stay(self):
        ready, running = self.enqueue("x"), self.enqueue("x")
        self.make_running(running)
        self.refuses(1, f"job {ready} is ready: cancel it first", "rm", ready)
        self.refuses(1, f"job {running} is running: cancel it first", "rm", running)
        result = self.thctl("--json", "rm", running)
        self.assertEqual((result.code, result.objects),
                         (1, [{"id": running, "ok": False, "error": "is running: cancel it first"}]))
        self.assertEqual(len(self.jobs()), 2)


class All(Case):
    def setUp(self):
        super().setUp()
        self.dead_jobs(2)
        self.dead_jobs(1, "--queue", "mail")
        self.ok("cancel", self.enqueue("x"))
        self.make_ended(self.enqueue("x"), "done")
        self.enqueue("x")

    def states(self):
        return sorted(job["state"] for job in self.jobs())

    def test_without_a_terminal_yes_is_needed_and_the_count_is_said(self):
        before = self.jobs()
        self.refuses(2, "3 dead jobs would be deleted: give --yes", "rm", "--all")
        self.refuses(2, "1 dead job would be queued again: give --yes", "retry", "--all", "--queue",
                     "mail")
        self.refuses(2, "1 cancelled job would be deleted", "rm", "--all", "--state", "cancelled",
                     stdin="y\n")
        self.assertEqual(self.jobs(), before)

    def test_yes_deletes_the_dead_by_default(self):
        self.assertEqual(self.ok("rm", "--all", "--yes"), "3 jobs deleted")
        self.assertEqual(self.states(), ["cancelled", "done", "ready"])

    def test_filters_narrow_it(self):
        self.assertEqual(self.ok("rm", "--all", "--queue", "mail", "-y"), "1 job deleted")
        self.assertEqual(self.ok("rm", "--all", "--state", "done", "-y"), "1 job deleted")
        result = self.thctl("rm", "--all", "--type", "other", "--yes")
        self.assertEqual((result.code, result.out, result.err), (0, "", "no dead jobs like that\n"))
        self.assertEqual(self.states(), ["cancelled", "dead", "dead", "ready"])

    def test_retry_takes_the_dead_only(self):
        self.assertEqual(self.ok("retry", "--all", "--yes", "--run-at", "+1h"), "3 jobs queued again")
        self.assertEqual(self.states(), ["cancelled", "done"] + ["ready"] + ["scheduled"] * 3)

    def test_nothing_to_do_is_no_error_and_needs_no_yes(self):
        self.ok("rm", "--all", "--yes")
        result = self.thctl("rm", "--all")
        self.assertEqual((result.code, result.out, result.err), (0, "", "no dead jobs\n"))
        result = self.thctl("--json", "rm", "--all")
        self.assertEqual((result.code, result.out, result.err), (0, "", ""))

    def test_json_has_a_line_per_job(self):
        answers = self.objects("rm", "--all", "--yes")
        self.assertEqual([(answer["ok"], answer["error"]) for answer in answers],
                         [(True, None)] * 3)

    def test_a_terminal_is_asked_and_yes_does_it(self):
        for answer in ("y\n", "YES\n"):
            code, screen = self.on_terminal("rm", "--all", "--state", "dead",
                                            answers=[("[y/N]", answer)])
            self.assertEqual(code, 0, screen)
            self.assertIn("Delete 3 dead jobs? [y/N] ", screen)
            self.assertIn("3 jobs deleted", screen)
            self.dead_jobs(3)

    def test_anything_else_does_nothing(self):
        before = self.jobs()
        for answer in ("n\n", "\n", "maybe\n", "yes please, do\n", "\x04"):
            code, screen = self.on_terminal("retry", "--all", answers=[("[y/N]", answer)])
            self.assertEqual(code, 1, screen)
            self.assertIn("Retry 3 dead jobs? [y/N] ", screen)
            self.assertIn("nothing was changed", screen)
        self.assertEqual(self.jobs(), before)

    def test_thousands_are_done_in_batches(self):
        self.ok("enqueue", "--bulk", "-", stdin='{"type":"many"}\n' * 2345)
        self.sql("INSERT INTO ended (seq, state, queue_id, ended_at, executions, attempts, stalls)"
                 " SELECT seq, 6, queue_id, due, 1, 1, 0 FROM job WHERE type = 'many'")
        self.sql("DELETE FROM ready WHERE seq IN (SELECT seq FROM ended)")
        self.refuses(2, "2,345 dead jobs would be deleted", "rm", "--all", "--type", "many")
        self.assertEqual(self.ok("rm", "--all", "--type", "many", "--yes"), "2,345 jobs deleted")
        self.assertEqual(len(self.jobs()), 6)

    def test_of_many_that_changed_meanwhile_twenty_are_named_and_the_others_counted(self):
        def delete_them_first():
            self.ok("rm", "--all", "--yes")
            return "y\n"

        self.dead_jobs(25)
        code, screen = self.on_terminal("rm", "--all", answers=[("[y/N]", delete_them_first)])
        self.assertEqual(code, 1, screen)
        self.assertEqual(screen.count("does not exist"), 20)
        self.assertIn("thctl: and 8 more were not deleted\n0 jobs deleted\n", screen)

    def test_the_store_survives_a_full_disk(self):
        before = self.jobs()
        size = os.path.getsize(self.database + "-wal") if os.path.exists(
            self.database + "-wal") else 0
        result = self.thctl("rm", "--all", "--yes", preexec=limit_file_size(max(size, 1)))
        self.assertIn(result.code, (1, 69), result)
        self.assertEqual(self.jobs(), before)


if __name__ == "__main__":
    unittest.main()

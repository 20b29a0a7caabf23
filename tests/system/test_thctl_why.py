"""thctl why: every reason that a job can have to wait, on each store."""
import os
import unittest
from signal import SIGHUP

from daemon import wait_for
from running import QUICK, RunningCase


class Why(RunningCase):
    def why(self, job_id):
        [answer] = self.objects("why", job_id)
        self.assertEqual(answer["id"], job_id)
        [shown] = self.objects("show", job_id)
        self.assertEqual(shown["why"]["code"], answer["why"]["code"])
        text = self.ok("why", job_id)
        self.assertRegex(text.splitlines()[0], rf"^{job_id}  {answer['state']}  {answer['why']['code']}$")
        return answer["why"]

    def wait_why(self, job_id, code):
        wait_for(lambda: self.objects("why", job_id)[0]["why"]["code"] == code, code)
        return self.why(job_id)

    def test_before_there_is_a_pool(self):
        self.ok("migrate")
        later = self.ok("enqueue", "x", "--run-at", "+1h")
        why = self.why(later)
        self.assertEqual((why["code"], why["help"]), ("due_later", "thctl run lets it run now"))
        self.assertEqual(why["until"], self.job(later)["run_at"])
        ready = self.ok("enqueue", "x")
        self.assertEqual(self.why(ready)["code"], "no_pool")
        self.ok("pause", "default")
        why = self.why(ready)
        self.assertEqual(why["code"], "paused")
        self.assertRegex(why["by"], r"^\S+@\S+$")
        self.assertIsNotNone(why["since"])
        self.assertEqual(self.ok("run", later), f"{later} due now")
        self.assertEqual(self.job(later)["state"], "ready")
        self.assertEqual(self.objects("run", later), [{"id": later, "ok": True, "error": None}])
        self.ok("cancel", later)
        self.refuses(1, "thctl retry runs it again", "run", later)
        self.assertEqual(self.why(later)["code"], "ended")

    @unittest.skipUnless(os.environ.get("TH_TEST_BACKEND", "sqlite") == "sqlite", "pools are made by SQL")
    def test_what_pools_say_they_cannot_do(self):
        self.ok("migrate")
        job = self.ok("enqueue", "email:send")
        status = {"state": "running", "heartbeat_ms": 5000, "queues": [{"name": "default"}],
                  "handlers": [{"pattern": "report:*"}]}
        self.make_pool("web-1", status)
        self.assertEqual(self.why(job)["code"], "no_handler")
        self.make_pool("web-0", {**status, "handlers": [{"pattern": "email:sent"}]})
        self.assertIn("for type email:send (did you mean 'email:sent'?)", self.why(job)["text"])
        self.make_pool("web-2", {**status, "handlers": [{"pattern": "email:*"}], "start_failures": [
            {"pattern": "email:*", "error": "exec send: No such file", "since": None,
             "next_try": "2999-01-01T00:00:00.000000Z"}]})
        why = self.why(job)
        self.assertEqual((why["code"], why["error"]), ("cannot_start", "exec send: No such file"))
        self.assertIn("No such file", why["text"])
        self.make_pool("web-3", {**status, "handlers": [{"pattern": "email:send"}]})
        self.assertEqual(self.why(job)["code"], "turn")
        self.make_pool("web-4", {**status, "queues": [{"name": "other"}]}, silent_for=20)

    def test_beside_a_pool(self):
        self.start_quick({"hold": {"command": "sleep 60"}, "x": {"command": ["true"]}},
                         pool={"num_workers": 2}, queues={
            "default": {}, "few": {"max_running": 1}, "slow": {"rate": "1/h"}})
        self.assertEqual(self.why(self.ok("enqueue", "x", "--queue", "other"))["code"], "no_pool")
        holder = self.ok("enqueue", "hold", "--queue", "few", "--key", "K")
        self.assertIsNotNone(self.wait_why(holder, "running")["pool"])
        twin = self.ok("enqueue", "hold", "--queue", "few", "--key", "K")
        self.assertEqual(self.why(twin)["jobs"], [holder])
        self.assertEqual(self.why(twin)["code"], "key")
        full = self.ok("enqueue", "x", "--queue", "few")
        why = self.wait_why(full, "max_running")
        self.assertEqual((why["jobs"], why["max_running"]), ([holder], 1))
        first = self.ok("enqueue", "x", "--queue", "slow")
        wait_for(lambda: self.job(first)["state"] == "done", "the first of a slow queue")
        limited = self.wait_why(self.ok("enqueue", "x", "--queue", "slow"), "rate")
        self.assertIsNotNone(limited["until"])
        blocker = self.ok("enqueue", "hold")
        self.wait_why(blocker, "running")
        turns = [self.ok("enqueue", "x") for _ in range(3)]
        self.assertEqual([self.wait_why(job, "turn")["before"] for job in turns], [0, 1, 2])
        self.pools[0].kill()
        why = self.wait_why(blocker, "pool_silent")
        self.assertIsNotNone(why["until"])

    def test_a_handler_that_could_not_be_started_and_is_gone_is_no_handler_everywhere(self):
        others = {"y": {"command": ["true"]}}
        pool = self.start_quick({"x": {"command": ["./missing"]}, **others})
        job = self.ok("enqueue", "x")
        self.wait_stats(ready=1, cannot_start=1)
        # Asked once: it is tried again now and then, and may be running when it is asked again.
        wait_for(lambda: self.objects("why", job)[0]["why"]["code"] == "cannot_start", "why it waits")
        self.configure(others, QUICK)
        pool.signal(SIGHUP)
        self.wait_stats(ready=1, cannot_start=0, no_handler=1)
        self.wait_why(job, "no_handler")
        self.assertEqual(self.job(job)["last_error"], None)
        self.assertIn("no handler", self.ok("ls"))
        for screen in ("ls",), ("show", job), ("top", "--once"), ("pools",):
            self.assertNotIn("cannot start", self.ok(*screen))


if __name__ == "__main__":
    unittest.main()

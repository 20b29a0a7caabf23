"""
test_api_steer.py - what an operator looks at and steers over HTTP: queues, cron entries, pools.
"""
import json
import os

from api import ApiCase
from daemon import wait_for

STATES = ["scheduled", "ready", "blocked", "running", "retry", "done", "dead", "cancelled"]
COUNTS = [*STATES, "no_handler", "cannot_start", "done_total", "failed_total"]
BAD_NAMES = ["a%20b", "%00", "x" * 129, "%2e%2e", "%ff"]


class SteerTest(ApiCase):
    def serve_all(self):
        return self.serve(
            {"noop": {"command": "true"}, "wait": {"command": self.script("wait", "until [ -e go ]; do sleep 0.05; done")}},
            {"heartbeat_interval": "100ms"},
            queues={"default": {}, "mail": {"max_running": 3, "rate": "50/s", "weight": 2}},
            cron={"nightly": {"schedule": "0 3 * * *", "type": "noop", "timezone": "Europe/Berlin"},
                  "off": {"schedule": "@hourly", "type": "noop", "enabled": False}})

    def objects(self, *arguments):
        return [json.loads(line) for line in self.thctl("--json", *arguments).out.splitlines()]

    def queue(self, name):
        found = [queue for queue in self.api.get("/api/queues").json["queues"] if queue["queue"] == name]
        return found[0] if found else None

    def entry(self, name):
        return next(entry for entry in self.api.get("/api/cron").json["entries"] if entry["name"] == name)

    def test_counts_are_those_of_thctl(self):
        self.serve_all()
        self.run_job("noop")
        self.enqueue("noop", "{}", "--queue", "mail", "--run-at", "+1h")
        stats = self.api.get("/api/stats").json
        self.assertEqual(stats["queues"], self.objects("stats"))
        for name in COUNTS:
            self.assertEqual(stats["totals"][name], sum(queue[name] for queue in stats["queues"]), name)
        mail = self.queue("mail")
        self.assertEqual((mail["waiting"], mail["scheduled"], mail["done_total"]), (1, 1, 0))
        [served] = mail["served_by"]
        self.assertTrue(served.pop("pool"))
        self.assertEqual(served, {"weight": 2, "max_running": 3, "rate": "50/s"})
        rated = wait_for(lambda: (queue := self.queue("default"))["done_per_second"] is not None and queue, "a rate")
        self.assertGreaterEqual(rated["done_per_second"], 0)
        self.assertEqual(rated["failed_per_second"], 0)

    def test_a_queue_is_paused_resumed_and_hidden(self):
        api = self.serve_all()
        self.assertEqual(api.post("/api/queues/mail/pause").json, {"queue": "mail", "paused": True})
        mail = self.queue("mail")
        self.assertEqual((mail["paused"], mail["paused_by"]), (True, "http@127.0.0.1"))
        self.assertTrue(mail["paused_at"])
        self.assertEqual(api.post("/api/queues/mail/pause", {"by": "kim"}).status, 200)
        self.assertEqual(self.queue("mail"), mail, "the first pause counts")
        self.assertEqual(api.post("/api/queues/mail/resume").json, {"queue": "mail", "paused": False})
        self.assertEqual(api.post("/api/queues/mail/pause", {"by": "kim"}).status, 200)
        self.assertEqual(self.queue("mail")["paused_by"], "kim")
        self.assertIn("'mail'", self.assert_problem(api.post("/api/queues/mial/pause"), 404, "not_found")["message"])
        self.assert_problem(api.post("/api/queues/mial/resume"), 404, "not_found")
        self.assertEqual(api.post("/api/queues/later/pause", {"create": True}).status, 200)
        self.assertEqual(api.delete("/api/queues/later").status, 204)
        self.assertIsNone(self.queue("later"))
        self.assert_problem(api.delete("/api/queues/never"), 404, "not_found")
        self.enqueue("noop", "{}", "--queue", "mail")
        self.assert_problem(api.delete("/api/queues/mail"), 409, "conflict")
        for name in BAD_NAMES:
            for method, path in (("POST", "/pause"), ("POST", "/resume"), ("DELETE", "")):
                self.assertIn(api.call(method, f"/api/queues/{name}{path}").status, (400, 404), name)
        self.assert_problem(api.post("/api/queues/mail/pause", {"who": "kim"}), 400, field="/who")
        self.assert_problem(api.post("/api/queues/mail/pause", {"by": 7}), 400, field="/by")
        self.assert_problem(api.post("/api/queues/mail/pause", {"by": "k" * 201}), 400, field="/by")
        self.assert_problem(api.post("/api/queues/mail/resume", {"by": "kim"}), 400, field="/by")
        self.assert_problem(api.get("/api/queues?x=1"), 400, field="x")
        self.assert_problem(api.call("PUT", "/api/queues/mail"), 405)

    def test_cron_entries_are_listed_run_paused_and_resumed(self):
        api = self.serve_all()
        self.assertEqual(api.get("/api/cron").json["entries"], self.objects("--config", self.path("jobs.yaml"), "cron"))
        nightly = self.entry("nightly")
        self.assertEqual(nightly["words"], "at 03:00 every day (Europe/Berlin)")
        self.assertEqual(len(nightly["next_times"]), 5)
        self.assertEqual(nightly["next_times"], sorted(nightly["next_times"]))
        self.assertEqual((nightly["next"], nightly["last"]), (nightly["next_times"][0], None))
        self.assertEqual(self.entry("off")["next_times"], [])
        answer = api.post("/api/cron/off/run")
        self.assertEqual(answer.status, 201)
        self.assertEqual({name: answer.json[name] for name in ("existed", "updated")},
                         {"existed": False, "updated": False})
        self.wait_state(answer.json["id"], "done")
        self.assertEqual(api.post("/api/cron/nightly/pause", {"by": "kim"}).json, {"name": "nightly", "paused": True})
        self.assertEqual((self.entry("nightly")["paused_by"], self.entry("nightly")["next_times"]), ("kim", []))
        self.assertEqual(api.post("/api/cron/nightly/resume").json, {"name": "nightly", "paused": False})
        self.assertEqual(self.entry("nightly")["next"], nightly["next"])
        for act in ("run", "pause", "resume"):
            self.assertIn("'nightly'", self.assert_problem(api.post(f"/api/cron/nightlx/{act}"), 404)["message"])
            for name in BAD_NAMES:
                self.assertIn(api.post(f"/api/cron/{name}/{act}").status, (400, 404), name)
            self.assert_problem(api.post(f"/api/cron/nightly/{act}", {"x": 1}), 400, field="/x")

    def test_an_entry_leaves_a_waiting_job_of_another_type_alone(self):
        api = self.serve(cron={"nightly": {"schedule": "0 3 * * *", "type": "noop", "key": "report"}})
        self.enqueue("other", "{}", "--key", "report", "--run-at", "+1h")
        self.assertIn("'report'", self.assert_problem(api.post("/api/cron/nightly/run"), 409, "conflict")["message"])

    def test_pools_tell_what_they_run_and_silent_ones_are_marked(self):
        api = self.serve_all()
        job = self.enqueue("wait")

        def busy():
            [pool] = api.get("/api/workers").json["pools"]
            return [process for process in pool["processes"] if process["job"] == job]
        [worker] = wait_for(busy, "a worker that runs it")
        self.assertEqual((worker["type"], worker["state"]), ("wait", "running"))
        self.assertTrue(worker["since"])
        self.write("go", "")
        self.wait_state(job, "done")
        other = self.start_pool({"noop": {"command": "true"}},
                                {"heartbeat_interval": "100ms", "pool_id": "other", "enable_reaper": False})
        other.kill()
        wait_for(lambda: "silent" in [pool["state"] for pool in api.get("/api/workers").json["pools"]
                                      if pool["name"].startswith("other")], "a silent pool")
        self.assert_problem(api.get("/api/workers?x=1"), 400, field="x")

    def pool_names(self):
        return [pool["name"] for pool in self.api.get("/api/workers").json["pools"]]

    def want(self, name, want, **body):
        answer = self.api.post(f"/api/workers/{name}/{want}", body)
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def test_a_pool_takes_no_more_goes_on_and_ends(self):
        self.serve_all()
        [name] = self.pool_names()
        running = self.enqueue("wait")
        self.wait_state(running, "running")
        self.assertEqual(self.want(name, "quiet", by="kim"), {"name": name, "want": "quiet"})
        self.assertIn("by kim", self.ok("pools"))
        self.pool.wait_event("pool_paused")
        waiting = self.enqueue("noop")
        self.write("go", "")
        self.wait_state(running, "done")  # so the dispatcher has heard of it
        self.assertEqual(self.job(waiting)["state"], "ready")
        self.assertEqual(self.want(name.rsplit(".", 1)[0], "resume"), {"name": name, "want": "nothing"})
        self.pool.wait_event("pool_resumed")
        self.wait_state(waiting, "done")
        os.remove(self.path("go"))
        running = self.enqueue("wait")
        self.wait_state(running, "running")
        self.assertEqual(self.want(name[:-1], "terminate"), {"name": name, "want": "terminate"})
        self.assertIn("by http@127.0.0.1", self.ok("pools"))
        self.pool.wait_event("pool_draining", reason="wanted")
        self.write("go", "")
        self.assertEqual(self.pool.wait(), 0)
        self.assertEqual(self.job(running)["state"], "done")

    def test_whoever_means_no_pool_or_several_is_told_which_there_are(self):
        api = self.serve_all()
        for worker in ("a1", "a2"):
            self.assertEqual(api.post("/api/claim", {"worker": worker, "queues": ["nobody"]}).status, 204)
        for want in ("quiet", "terminate", "resume"):
            message = self.assert_problem(api.post(f"/api/workers/nobody/{want}"), 404, "not_found")["message"]
            for name in self.pool_names():
                self.assertIn(name, message)
            message = self.assert_problem(api.post(f"/api/workers/http/{want}"), 409, "conflict")["message"]
            self.assertIn("http.a1, http.a2", message)
            for name in BAD_NAMES:
                self.assertIn(api.post(f"/api/workers/{name}/{want}").status, (400, 404), name)
            self.assert_problem(api.post(f"/api/workers/http.a1/{want}", {"who": "kim"}), 400, field="/who")
            self.assert_problem(api.post(f"/api/workers/http.a1/{want}", {"by": 7}), 400, field="/by")
        self.assertEqual([pool["want"] for pool in api.get("/api/workers").json["pools"] if "want" in pool], [])

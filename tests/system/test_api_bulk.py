"""
test_api_bulk.py - what is done to many jobs over HTTP: /api/bulk, and /api/dead/retry, delete and groups.
"""
import json
import os
import signal
import unittest

from daemon import wait_for
from harness import STATES
from test_api_jobs import NOT_THERE, JobsCase

ALL = {"filter": {}}

# What is wrong with a body, and what is said of which field.
WRONG_BODIES = [
    ({}, "/action", "is missing"),
    ({"action": "kill", **ALL}, "/action", "has to be one of: cancel, retry, run, delete"),
    ({"action": 1, **ALL}, "/action", "has to be one of: cancel, retry, run, delete"),
    ({"acton": "run", **ALL}, "/acton", "did you mean 'action'?"),
    ({"action": "run"}, "/filter", "give a filter, which may be {}, or ids"),
    ({"action": "run", "filter": None}, "/filter", "give a filter, which may be {}, or ids"),
    ({"action": "run", "ids": [NOT_THERE], **ALL}, "/ids", "filter and ids exclude each other"),
    ({"action": "run", "ids": []}, "/ids", "has to have 1 to 1000 entries"),
    ({"action": "run", "ids": [NOT_THERE] * 1001}, "/ids", "has to have 1 to 1000 entries"),
    ({"action": "run", "ids": ["x"]}, "/ids", "'x' is not the id of a job"),
    ({"action": "run", "ids": NOT_THERE}, "/ids", ""),
    ({"action": "run", "filter": []}, "/filter", ""),
    ({"action": "run", "filter": {"stat": "retry"}}, "/filter/stat", "did you mean 'state'?"),
    ({"action": "run", "filter": {"queue": "a b"}}, "/filter/queue", "'a b' is not a name"),
    ({"action": "run", "filter": {"since": 5}}, "/filter/since", "has to be a time"),
    ({"action": "run", "filter": {"limit": 5}}, "/filter/limit", "is not known here"),
    ({"action": "run", "filter": {"state": "dead"}}, "/filter/state", "run is for scheduled and retry jobs"),
    ({"action": "delete", "filter": {"state": "running"}}, "/filter/state", "delete is for dead, cancelled and done"),
    ({"action": "run", "dry_run": "yes", **ALL}, "/dry_run", "has to be true or false"),
]


class BulkCase(JobsCase):
    def enqueue_same(self, count, **job):
        return self.enqueue_lines(*[job] * count)

    def counts(self):
        jobs = self.jobs()
        return {state: count for state in STATES if (count := sum(job["state"] == state for job in jobs))}

    def begin(self, path="/api/bulk", **body):
        answer = self.api.post(path, body)
        self.assertEqual(answer.status, 202, answer)
        return answer.json

    def wait_over(self, bulk):
        def look():
            answer = self.api.get("/api/bulk/" + bulk)
            self.assertEqual(answer.status, 200, answer)
            return answer.json if answer.json["state"] not in ("counting", "running") else None
        return wait_for(look, "the end of a bulk repair")

    def do(self, path="/api/bulk", failed=0, **body):
        """Counts it, does it to the end, and returns to how many it was done."""
        dry = self.api.post(path, {**body, "dry_run": True})
        self.assertEqual(dry.status, 200, dry)
        begun = self.begin(path, **body)
        self.assertEqual({**dry.json, "bulk": begun["bulk"]}, begun)
        over = self.wait_over(begun["bulk"])
        self.assertEqual((over["state"], over["failed"], over["matched"], over["capped"], over["error"]),
                         ("done", failed, begun["matched"], False, None), over)
        self.assertEqual(over["done"] + over["failed"] + over["passed_over"], over["matched"], over)
        return over["done"]


class BulkTest(BulkCase):
    def test_each_action_means_its_states_and_no_others(self):
        self.serve_few()
        self.enqueue_same(30)
        self.enqueue_same(20, run_at="+1h", type="later")
        self.make_dead(3)
        done = [self.run_job("noop")["id"] for _ in range(2)]
        self.assertEqual(self.do(action="run", filter={"type": "later"}), 20)
        self.assertEqual(self.do(action="run", **ALL), 0)
        self.assertEqual(self.counts(), {"ready": 50, "done": 2, "dead": 3})
        self.assertEqual(self.do(action="cancel", filter={"type": "later", "state": "ready"}), 20)
        self.assertEqual(self.do(action="retry", filter={"state": "cancelled", "queue": "shelf"}), 20)
        self.assertEqual(self.do(action="cancel", filter={"queue": "shelf"}), 50)
        self.assertEqual(self.do(action="delete", **ALL), 3)
        self.assertEqual(self.do(action="delete", ids=[done[0], NOT_THERE], failed=1), 1)
        self.assertEqual(self.counts(), {"cancelled": 50, "done": 1})
        self.assertEqual(self.do(action="delete", filter={"state": "cancelled"}), 50)
        self.assertEqual(self.do(action="delete", filter={"state": "done"}), 1)
        self.assertEqual(self.counts(), {})

    def test_what_is_wrong_changes_nothing_and_is_told_by_name(self):
        self.serve_few()
        self.enqueue_same(3, run_at="+1h")
        for body, field, words in WRONG_BODIES:
            with self.subTest(body=json.dumps(body)[:60]):
                problem = self.assert_problem(self.api.post("/api/bulk", body), 400, "invalid", field)
                self.assertIn(words, problem["message"])
        for body in (b"{", b"[]", b'{"action":"run","action":"run"}', b'{"a":"\xff"}', b"[" * 10000):
            self.assert_problem(self.api.post("/api/bulk", body), 400)
        self.assert_problem(self.api.post("/api/bulk", b" " * 70000), 413)
        self.assert_problem(self.api.post("/api/dead/retry", {"state": "dead"}), 400, "invalid", "/state")
        both = {"type": "x", "filter": {"type": "x"}}
        self.assert_problem(self.api.post("/api/dead/delete", both), 400, "invalid", "/filter")
        for name in ("1", "0-0", "1-1", "x" * 900, "a%2Fb", "-", "1795035826223667-", NOT_THERE):
            self.assert_problem(self.api.get("/api/bulk/" + name), 404, "not_found")
        self.assertEqual(self.counts(), {"scheduled": 3})

    def test_dead_jobs_are_grouped_retried_and_deleted(self):
        self.serve_few()
        self.make_dead(4)
        self.make_dead(1, tags=["t"])
        answer = self.api.get("/api/dead/groups")
        [group] = answer.json["groups"]
        self.assertEqual((group["type"], group["error"], group["count"], group["queues"]),
                         ("bad", "exit code #: no customer #", 5, ["default"]))
        self.assertLessEqual(group["first"], group["last"])
        self.assertEqual((answer.json["looked_at"], answer.json["more"]), (5, False))
        self.assertEqual(self.do("/api/dead/retry", type="nothing"), 0)
        self.assertEqual(self.do("/api/dead/retry", filter={"type": "bad"}), 5)
        wait_for(lambda: self.counts() == {"dead": 5} and {job["executions"] for job in self.jobs()} == {2},
                 "five second deaths")
        self.assertEqual(self.do("/api/dead/delete", tag="t"), 1)
        self.assertEqual(self.do("/api/dead/delete"), 4)
        self.assertEqual(self.api.get("/api/dead/groups").json, {"groups": [], "looked_at": 0, "more": False})

    def test_others_are_answered_meanwhile_and_what_its_process_left_is_interrupted(self):
        self.serve_few()
        self.enqueue_same(12000)
        begun = self.begin(action="cancel", **ALL)
        self.assertEqual(begun["matched"], 12000)
        self.assertEqual(self.api.get("/api/jobs?limit=1").status, 200)
        meanwhile = self.api.get("/api/bulk/" + begun["bulk"]).json
        pid = self.pool.pid_of("browse")
        os.kill(pid, signal.SIGKILL)
        self.pool.wait_replaced("browse", pid)
        self.assertIn(meanwhile["state"], ("running", "done"))
        answer = self.api.get("/api/bulk/" + begun["bulk"])
        self.assertEqual((answer.status, answer.json["state"], answer.json["done"]), (200, "interrupted", None))
        left = 12000 - self.counts().get("cancelled", 0)
        self.assertEqual(self.do(action="cancel", **ALL), left)
        self.assertEqual(self.counts(), {"cancelled": 12000})


if __name__ == "__main__":
    unittest.main()

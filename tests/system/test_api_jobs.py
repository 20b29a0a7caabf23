"""
test_api_jobs.py - what people read of jobs over HTTP, and what they do to one: /api/jobs and /api/dead.
"""
import json
import re
import unittest
import uuid

from api import ApiCase
from daemon import wait_for

NOT_THERE = str(uuid.UUID(int=0x0193f0a27c1d7abc8def0123456789ab))
LEFT_OUT = {"payload", "result", "output", "runs", "headers"}
NUMBERS = '{"price":10.00,"long":123456789012345678901234567890,"tiny":1e-400,"e":1E5}'

# What is wrong with a query, and what is said of which parameter.
WRONG_QUERIES = [
    ("state=deaf", "state", "has to be one of: scheduled, ready, blocked, running, retry, done, dead, cancelled"),
    ("stat=dead", "stat", "is not known here (did you mean 'state'?)"),
    ("queue=a%20b", "queue", "'a b' is not a name"),
    ("queue=", "queue", "is not a name"),
    ("type=" + "x" * 129, "type", "128"),
    ("tag=a/b", "tag", "'a/b' is not a name"),
    ("key=" + "k" * 257, "key", "has more than 256 bytes"),
    ("key=%ff%fe", "key", "is not UTF-8"),
    ("error=" + "e" * 1025, "error", "has more than 1024 bytes"),
    ("since=yesterday", "since", "yesterday"),
    ("until=-1000000h", "until", "is longer than 100 years"),
    ("order=up", "order", "has to be one of: desc, asc"),
    ("limit=0", "limit", "has to be a whole number from 1 to 200"),
    ("limit=201", "limit", "has to be a whole number from 1 to 200"),
    ("limit=1e2", "limit", "has to be a whole number from 1 to 200"),
    ("limit=99999999999999999999", "limit", "has to be a whole number from 1 to 200"),
    ("full=yes", "full", "has to be true or false"),
    ("after=abc", "after", "is no position in a list"),
    ("after=" + "g" * 64, "after", "is no position in a list"),
    ("after=" + "a" * 5000, "after", "is no position in a list"),
]


class JobsCase(ApiCase):
    def enqueue_lines(self, *jobs):
        """Stores them, in a queue that nobody serves unless they name one; returns their ids."""
        lines = [json.dumps({"queue": "shelf", "type": "noop", **job}) if isinstance(job, dict) else job for job in jobs]
        return self.ok("enqueue", "--bulk", self.write("lines", "\n".join(lines) + "\n")).split()

    def make_dead(self, count=1, **job):
        ids = self.enqueue_lines(*[{"queue": "default", "type": "bad", **job}] * count)
        for job_id in ids:
            self.wait_state(job_id, "dead")
        return ids

    def serve_few(self):
        return self.serve({"noop": {"command": "true"}, "bad": {"command": "echo no customer 17 >&2; exit 3",
                                                                "max_attempts": 1}})

    def ids(self, path, **query):
        """Of all pages, going by their links."""
        found = []
        answer = self.api.get(path, query=query)
        while True:
            self.assertEqual(answer.status, 200, answer)
            found += [job["id"] for job in answer.json["jobs"]]
            link = answer.headers.get("Link")
            self.assertEqual(link is None, answer.json["next"] is None)
            if link is None:
                return found
            reference = re.fullmatch(r'<(\?[^>]*)>; rel="next"', link)[1]
            self.assertTrue(reference.endswith("after=" + answer.json["next"]))
            answer = self.api.get(path + reference)


class JobsTest(JobsCase):
    def test_a_list_has_all_jobs_a_page_at_a_time_whatever_the_filter(self):
        self.serve_few()
        ids = self.enqueue_lines(*[{"tags": ["even" if i % 2 == 0 else "odd"], "key": f"k {i}/%&"} for i in range(7)])
        [timed] = self.enqueue_lines({"run_at": "+1h", "queue": "other", "type": "later"})
        [dead] = self.make_dead()
        everything = [dead, timed, *reversed(ids)]
        self.assertEqual(self.ids("/api/jobs", limit=2), everything)
        self.assertEqual(self.ids("/api/jobs", limit=3, order="asc"), everything[::-1])
        self.assertEqual(self.ids("/api/jobs", limit=1, tag="odd", queue="shelf"), ids[5::-2])
        self.assertEqual(self.ids("/api/jobs", key="k 3/%&"), [ids[3]])
        self.assertEqual(self.ids("/api/jobs", type="later"), [timed])
        self.assertEqual(self.ids("/api/jobs", state="scheduled"), [timed])
        self.assertEqual(self.ids("/api/jobs", state="scheduled", until="+30m"), [])
        self.assertEqual(self.ids("/api/jobs", state="scheduled", since="+30m"), [timed])
        self.assertEqual(self.ids("/api/jobs", state="ready", limit=2, order="asc"), ids)
        self.assertEqual(self.ids("/api/jobs", error="customer 17"), [dead])
        self.assertEqual(self.ids("/api/jobs", error="customer 18"), [])
        self.assertEqual(self.ids("/api/jobs", since="-1h", until="+1h"), everything)
        self.assertEqual(self.ids("/api/jobs", until="-1h"), [])
        self.assertEqual(self.ids("/api/dead"), [dead])
        self.assertEqual(self.ids("/api/dead", queue="shelf"), [])

    def test_a_position_is_one_whatever_became_of_its_job(self):
        self.serve_few()
        ids = self.make_dead(3)
        first = self.api.get("/api/dead", query={"limit": 1, "order": "asc"}).json
        self.assertEqual(self.api.delete("/api/dead/" + first["jobs"][0]["id"]).status, 204)
        rest = self.api.get("/api/dead", query={"order": "asc", "after": first["next"]}).json
        self.assertEqual({first["jobs"][0]["id"], *[job["id"] for job in rest["jobs"]]}, set(ids))
        for path in ("/api/jobs", "/api/dead"):
            self.assertEqual(len(self.api.get(path, query={"after": "f" * 64}).json["jobs"]), 2)
            self.assertEqual(self.api.get(path, query={"after": "0" * 64}).json, {"jobs": [], "next": None})

    def test_a_row_is_brief_unless_it_is_asked_for_in_full_and_payloads_stay_as_they_were_sent(self):
        self.serve_few()
        [job_id] = self.enqueue_lines('{"queue":"shelf","type":"noop","headers":{"a":1},"payload":' + NUMBERS + "}")
        [brief] = self.api.get("/api/jobs").json["jobs"]
        full = self.api.get("/api/jobs", query={"full": 1})
        [row] = full.json["jobs"]
        one = self.api.get("/api/jobs/" + job_id)
        self.assertEqual({name for name in row if name not in brief}, LEFT_OUT)
        self.assertEqual({name: row[name] for name in brief}, brief)
        self.assertIn(NUMBERS.encode(), full.body)
        self.assertIn(NUMBERS.encode(), one.body)
        self.assertIsNone(row["why"])
        self.assertEqual(one.json["why"]["code"], "no_pool")
        self.assertEqual({**one.json, "why": None}, row)
        self.assertEqual(self.api.get(f"/api/jobs/{job_id.upper()}").json["id"], job_id)
        self.assertEqual(self.api.call("HEAD", "/api/jobs/" + job_id).body, b"")

    def test_each_parameter_that_is_wrong_is_told_by_name(self):
        self.serve_few()
        for query, field, words in WRONG_QUERIES:
            with self.subTest(query=query[:40]):
                problem = self.assert_problem(self.api.get("/api/jobs?" + query), 400, "invalid", field)
                self.assertIn(words, problem["message"])
        all_wrong = self.api.get("/api/jobs?" + "&".join(query for query, _, _ in WRONG_QUERIES[:1] + WRONG_QUERIES[1:3]))
        self.assertEqual([place["field"] for place in all_wrong.json["errors"]], ["state", "stat", "queue"])
        self.assert_problem(self.api.get("/api/jobs?limit=1&limit=2"), 400)
        self.assert_problem(self.api.get("/api/jobs?key=%zz"), 400)
        self.assert_problem(self.api.request("GET", "/api/jobs?" + "x" * 9000), 431)
        self.assert_problem(self.api.get("/api/dead?state=dead"), 400, "invalid", "state")
        self.assert_problem(self.api.get(f"/api/jobs/{NOT_THERE}?full=1"), 400, "invalid", "full")

    def test_what_is_no_job_is_not_found(self):
        self.serve_few()
        for name in (NOT_THERE, "1", "a%2Fb", "50%25", "%23x", "%ff", "x" * 900):
            with self.subTest(name=name[:40]):
                problem = self.assert_problem(self.api.get("/api/jobs/" + name), 404, "not_found")
                self.assertTrue(problem["message"].startswith("no job "), problem)
                for method, path in (("DELETE", f"/api/jobs/{name}"), ("POST", f"/api/jobs/{name}/retry"),
                                     ("POST", f"/api/jobs/{name}/run"), ("POST", f"/api/dead/{name}/retry"),
                                     ("DELETE", f"/api/dead/{name}")):
                    self.assert_problem(self.api.call(method, path), 404, "not_found")

    def test_a_filter_that_no_index_serves_answers_what_it_has_seen_and_goes_on(self):
        self.serve_few()
        [wanted] = self.enqueue_lines({"type": "rare"})
        self.enqueue_lines(*[{}] * 20500)
        answer = self.api.get("/api/jobs", query={"type": "rare"}).json
        self.assertEqual(answer["jobs"], [])
        self.assertIsNotNone(answer["next"])
        self.assertEqual(self.ids("/api/jobs", type="rare"), [wanted])
        lines = self.api.get("/api/jobs?type=rare", headers={"Accept": "application/x-ndjson"}).body
        self.assertEqual([json.loads(line)["id"] for line in lines.splitlines()], [wanted])


class MendingTest(JobsCase):
    def mend(self, method, path, status=200, says=None, body=None):
        answer = self.api.call(method, path, body)
        if status < 400:
            self.assertEqual(answer.status, status, answer)
            return answer.json
        problem = self.assert_problem(answer, status, "conflict")
        self.assertIn(says, problem["message"])
        return problem

    def test_what_is_done_to_a_job_is_answered_with_what_became_of_it(self):
        self.serve_few()
        [early] = self.enqueue_lines({"run_at": "+1h", "key": "one"})
        path = "/api/jobs/" + early
        self.assertEqual(self.mend("POST", path + "/run")["state"], "ready")
        self.assertEqual(self.mend("POST", path + "/run")["state"], "ready")
        self.assertEqual(self.mend("POST", path + "/retry", body={})["state"], "ready")
        self.assertEqual(self.mend("DELETE", path)["state"], "cancelled")
        self.mend("DELETE", path, 409, f"job {early} is cancelled: there is nothing to cancel")
        self.mend("POST", path + "/run", 409, "is cancelled: only jobs that wait can be run")
        [twin] = self.enqueue_lines({"run_at": "+1h", "key": "one"})
        self.mend("POST", path + "/retry", 409, "is cancelled: another job with its key is waiting")
        self.assertEqual(self.mend("DELETE", "/api/jobs/" + twin)["state"], "cancelled")
        self.assertEqual(self.mend("POST", path + "/retry")["state"], "ready")
        [later] = self.enqueue_lines({"run_at": "+1h"})
        self.assertEqual(self.mend("POST", f"/api/jobs/{later}/retry")["state"], "ready")
        done = self.run_job("noop")["id"]
        self.mend("DELETE", "/api/jobs/" + done, 409, "is done: there is nothing to cancel")
        self.mend("POST", f"/api/jobs/{done}/retry", 409, "is done: only dead and cancelled jobs can run again")
        self.mend("POST", f"/api/jobs/{done}/run", 409, "is done: only jobs that wait can be run")
        self.mend("POST", f"/api/dead/{done}/retry", 409, f"job {done} is done, not dead")
        self.mend("DELETE", f"/api/dead/{done}", 409, f"job {done} is done, not dead")
        for wrong, field in (({"at": 1}, "/at"), ([], ""), ({"run_at": "+1h"}, "/run_at")):
            answer = self.api.post(path + "/retry", wrong)
            self.assertEqual((answer.status, answer.json["field"]), (400, field), answer)
        self.assertEqual(self.api.post(path + "/run", b"{").status, 400)
        self.assertEqual(self.api.post(path + "/run", b" " * 70000).status, 413)
        self.assertEqual(self.job(early)["state"], "ready")

    def test_a_dead_job_runs_again_or_goes(self):
        self.serve_few()
        one, two = self.make_dead(2)
        self.mend("POST", f"/api/jobs/{one}/run", 409, "is dead: only jobs that wait can be run")
        self.assertEqual(self.mend("POST", f"/api/dead/{one}/retry")["attempts"], 0)
        wait_for(lambda: self.job(one)["executions"] == 2 and self.job(one)["state"] == "dead", "its second death")
        self.assertIn(self.mend("POST", f"/api/jobs/{one}/retry")["state"], ("ready", "running", "dead"))
        self.mend("DELETE", f"/api/dead/{two}", 204)
        self.assert_problem(self.api.get("/api/jobs/" + two), 404, "not_found")

    def test_a_running_job_is_asked_to_stop(self):
        self.serve({"hold": {"command": "sleep 600"}}, {"kill_grace": "100ms"})
        job_id = self.enqueue("hold")
        self.wait_state(job_id, "running")
        path = "/api/jobs/" + job_id
        self.assertEqual(self.api.get(path).json["why"]["code"], "running")
        self.mend("POST", path + "/retry", 409, "is running: there is nothing to retry")
        self.mend("POST", path + "/run", 409, "is running: it runs already")
        self.mend("DELETE", f"/api/dead/{job_id}", 409, "is running, not dead")
        self.assertIsNotNone(self.mend("DELETE", path)["cancel_requested_at"])
        self.wait_state(job_id, "cancelled")


if __name__ == "__main__":
    unittest.main()

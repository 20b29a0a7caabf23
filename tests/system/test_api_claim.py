"""
test_api_claim.py - workers anywhere: they claim jobs over HTTP, keep them alive, and settle them.
"""
import os
import signal
import socket
import threading
import time
import unittest

from api import ApiCase
from daemon import is_alive, is_stopped, wait_for

LONG = {"lease": "1h", "wait": 30}
TAKEN = "10s"  # a door that dies while it writes leaves a job to nobody, for as long
ESTABLISHED, CLOSE_WAIT = "01", "08"


class Later:
    """Something that another thread does; .result is what came of it."""

    def __init__(self, function, *arguments, **options):
        self.result = None

        def run():
            self.result = function(*arguments, **options)
        self.thread = threading.Thread(target=run)
        self.thread.start()

    def wait(self):
        self.thread.join()
        return self.result


class ClaimCase(ApiCase):
    def claim(self, worker="w", status=200, api=None, **wish):
        answer = (api or self.api).post("/api/claim", {"worker": worker, **wish})
        self.assertEqual(answer.status, status, answer)
        return answer.json["jobs"] if status == 200 else None

    def claim_one(self, worker="w", **wish):
        jobs = self.claim(worker, **{"wait": 30, **wish})
        self.assertEqual(len(jobs), 1)
        return jobs[0]

    def post(self, job, **fields):
        answer = self.api.post("/api/jobs", {"type": "remote", "queue": "q", **fields} if job is None else job)
        self.assertEqual(answer.status, 201, answer)
        return answer.json["id"] if not isinstance(answer.json, list) else [one["id"] for one in answer.json]

    def enqueue_q(self, **fields):
        return self.post(None, **fields)

    def say(self, verb, job, status=200, api=None, **fields):
        answer = (api or self.api).post(f"/api/jobs/{job['id']}/{verb}", {"lease_token": job["lease_token"], **fields})
        self.assertEqual(answer.status, status, answer)
        return answer.json if status == 200 else answer.json["error"]

    def connections(self):
        """State and unread bytes of the API's, as /proc/net/tcp has them."""
        port = int(self.api.address.rsplit(":", 1)[1])
        with open("/proc/net/tcp", encoding="ascii") as file:
            lines = [line.split() for line in file.readlines()[1:]]
        return [(words[3], words[4]) for words in lines if int(words[1].split(":")[1], 16) == port]

    def waiting(self):
        """How many clients wait for an answer, as far as the system knows: they are connected, and have sent all."""
        return self.connections().count((ESTABLISHED, "00000000:00000000"))

    def claim_later(self, worker="w", **wish):
        return self.begin(self.api.post, "/api/claim", {"worker": worker, "queues": ["q"], **LONG, **wish})

    def begin(self, *what):
        """Lets another thread claim, and waits until all who do are connected."""
        self.laters = [later for later in getattr(self, "laters", []) if later.thread.is_alive()] + [Later(*what)]
        wait_for(lambda: self.waiting() >= sum(later.thread.is_alive() for later in self.laters), "a claim that waits")
        return self.laters[-1]

    def freeze_gate(self):
        gate = self.pool.pid_of("gate")
        os.kill(gate, signal.SIGSTOP)
        wait_for(lambda: is_stopped(gate), "a gate that stands still")
        return gate


class ClaimTest(ClaimCase):
    def setUp(self):
        super().setUp()
        self.serve(queues={"mine": {}, "q": {"remote": True}, "few": {"remote": True, "max_running": 1}},
                   handlers={"noop": {"command": "true"}, "fragile": {
                       "command": "true", "max_attempts": 2, "retry": {"policy": "fixed", "base_delay": "1h"}}},
                   pool={"reaper_interval": "500ms", "stale_threshold": "3s", "heartbeat_interval": "500ms"})

    def test_a_worker_gets_the_record_and_settles_it(self):
        job_id = self.enqueue_q(payload={"n": 1}, headers={"h": 1}, tags=["t"], timeout="10s")
        job = self.claim_one(queues=["q"])
        self.assertEqual([job[name] for name in ("id", "state", "payload", "headers", "tags", "attempt", "max_attempts")],
                         [job_id, "running", {"n": 1}, {"h": 1}, ["t"], 1, 4])
        self.assertTrue(job["started_at"] < job["deadline"] < job["lease_expires_at"], job)
        self.assertEqual(self.job(job_id)["pool"], "http.w")
        self.claim("other", 204, queues=["q"])
        beat = self.say("heartbeat", job, progress={"percent": 50, "text": "half"}, output="hello\n")
        self.assertEqual((beat["cancel_requested"], beat["state"]), (False, "running"))
        self.assertGreater(beat["lease_expires_at"], job["lease_expires_at"])
        shown = self.job(job_id)
        self.assertEqual((shown["progress"], shown["output"]), ({"percent": 50, "text": "half"}, "hello\n"))
        self.assertEqual(self.say("complete", job, result={"r": 1}), {"id": job_id, "state": "done"})
        self.assertEqual(self.say("complete", job, result={"r": 1})["state"], "done")
        done = self.job(job_id)
        self.assertEqual((done["state"], done["result"], done["runs"][0]["pool"]), ("done", {"r": 1}, "http.w"))
        self.assertEqual(self.say("heartbeat", job, 409), "not_running")
        self.assertEqual(self.say("fail", job, 409), "not_running")

    def test_a_failure_goes_by_the_policy_of_its_type(self):
        self.post({"type": "fragile", "queue": "q"})
        job = self.claim_one(queues=["q"])
        self.assertEqual(job["max_attempts"], 2)
        self.assertEqual(self.say("fail", job, error="ouch")["state"], "retry")
        self.assertEqual(self.say("fail", job, error="ouch")["state"], "retry")
        shown = self.job(job["id"])
        self.assertEqual((shown["attempts"], shown["last_error"]), (1, "ouch"))
        self.claim(status=204, queues=["q"])
        self.ok("run", job["id"])
        self.assertEqual(self.say("fail", self.claim_one(queues=["q"]))["state"], "dead")
        self.assertEqual(self.job(job["id"])["reason"], "exhausted")
        self.enqueue_q()
        job = self.claim_one(queues=["q"])
        self.assertEqual(self.say("fail", job, retry=False, error="never")["state"], "dead")
        self.assertEqual(self.job(job["id"])["reason"], "permanent")
        self.enqueue_q()
        job = self.claim_one(queues=["q"])
        self.assertEqual(self.say("fail", job, retry_in=0)["state"], "ready")
        again = self.claim_one(queues=["q"])
        self.assertEqual((again["id"], again["attempt"]), (job["id"], 2))
        self.assertEqual(self.say("complete", job, 409), "lease_mismatch")
        self.assertEqual(self.say("release", again)["state"], "ready")
        self.assertEqual(self.say("release", again)["state"], "ready")
        self.assertEqual(self.job(job["id"])["attempts"], 1)

    def test_a_cancelled_job_says_so_with_its_next_heartbeat(self):
        self.enqueue_q()
        job = self.claim_one(queues=["q"])
        self.ok("cancel", job["id"])
        self.assertEqual(self.say("heartbeat", job)["cancel_requested"], True)
        self.assertEqual(self.say("release", job)["state"], "cancelled")
        self.assertEqual(self.job(job["id"])["state"], "cancelled")

    def test_queues_types_and_limits_count(self):
        first, second, third = self.post([{"type": "a", "queue": "q"}, {"type": "b", "queue": "q"},
                                          {"type": "c", "queue": "few"}])
        fourth = self.post({"type": "c", "queue": "few"})
        self.claim(status=204)
        self.claim(status=204, queues=["q"], types=["x"])
        self.assertEqual(self.claim_one(queues=["q"], types=["x", "b"])["id"], second)
        jobs = self.claim(queues=["few", "q"], max=100, wait=30)
        self.assertEqual([job["id"] for job in jobs], [third, first])
        self.claim(status=204, queues=["few"])
        later = self.claim_later("second", queues=["few"])
        self.say("complete", jobs[0])
        self.assertEqual([job["id"] for job in later.wait().json["jobs"]], [fourth])
        self.ok("pause", "q")
        self.enqueue_q()
        self.claim(status=204, queues=["q"])

    def test_a_claim_waits_until_something_is_ready(self):
        claims = [self.claim_later(f"w{n}") for n in range(4)]
        ids = self.post([{"type": "a", "queue": "q"}] * 3)
        ids.append(self.enqueue_q())
        jobs = [job for claim in claims for job in claim.wait().json["jobs"]]
        self.assertEqual(sorted(job["id"] for job in jobs), sorted(ids))
        self.claim(status=204, queues=["q"], wait="100ms")
        later = self.claim_later()
        self.post({"type": "a", "queue": "q", "run_at": "+1s"})
        self.assertEqual(len(later.wait().json["jobs"]), 1)

    def claim_and_leave(self):
        """Once the gate knows of the claim, and nobody waits any more."""
        host, port = self.api.address.rsplit(":", 1)
        body = b'{"worker": "gone", "queues": ["q"], "wait": 30, "lease": "1h"}'
        client = socket.create_connection((host, int(port)))
        client.sendall(b"POST /api/claim HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                       b"Content-Length: %d\r\n\r\n" % len(body) + body)
        wait_for(lambda: any(pool["name"] == "http.gone" for pool in self.objects("pools")), "its pool")
        client.close()
        wait_for(lambda: self.waiting() == 0, "that it has gone")

    def test_a_client_that_leaves_is_forgotten_before_it_would_be_answered(self):
        self.claim_and_leave()
        wait_for(lambda: CLOSE_WAIT not in dict(self.connections()), "that its connection is closed")
        self.assertFalse(b'route="/api/claim"' in self.api.get("/metrics").body, "it was answered")

    def test_a_client_that_has_left_gets_nothing(self):
        self.claim_and_leave()
        job_id = self.enqueue_q()
        self.assertEqual(self.claim_one("here", queues=["q"], wait=30)["id"], job_id)

    def test_a_lease_that_ran_out_is_somebody_elses(self):
        self.enqueue_q()
        job = self.claim_one(queues=["q"], lease=1)
        again = self.claim_one("other", queues=["q"], **LONG)
        self.assertEqual(again["id"], job["id"])
        self.assertEqual((again["stalls"], again["executions"]), (1, 2))
        self.assertEqual(self.say("complete", job, 409), "lease_mismatch")
        self.assertEqual(self.say("heartbeat", job, 409), "lease_mismatch")
        self.say("complete", again)

    def test_what_stalled_too_often_is_dead_and_not_handed_out(self):
        job_id = self.enqueue_q(max_stalls=1)
        self.claim_one(queues=["q"], lease=1)
        later = self.claim_later()
        self.assertEqual(self.wait_state(job_id, "dead")["reason"], "stalled")
        other = self.enqueue_q()
        self.assertEqual(later.wait().json["jobs"][0]["id"], other)

    def test_two_workers_never_get_the_same_job(self):
        ids = self.post([{"type": "a", "queue": "q"}] * 200)
        got = []

        def work(name):
            while True:
                answer = self.api.post("/api/claim", {"worker": name, "queues": ["q"], "max": 7})
                if answer.status == 204:
                    return
                for job in answer.json["jobs"]:
                    got.append(job["id"])
                    self.say("complete", job)
        workers = [Later(work, f"w{n}") for n in range(6)]
        for worker in workers:
            worker.wait()
        self.assertEqual(sorted(got), sorted(ids))

    def test_a_worker_is_a_pool_with_what_it_runs(self):
        job_id = self.enqueue_q()
        job = self.claim_one("me", queues=["q"], types=["remote"])
        self.say("heartbeat", job)

        def shown():
            pools = [pool for pool in self.objects("pools") if pool["name"] == "http.me"]
            return pools and [process["job"] for process in pools[0]["processes"]] == [job_id]
        wait_for(lambda: self.say("heartbeat", job) and shown(), "what it runs")

    def test_what_is_wanted_of_a_worker_reaches_it(self):
        self.enqueue_q()
        job = self.claim_one("me", queues=["q"])
        self.ok("pools", "quiet", "http.me")
        wait_for(lambda: self.say("heartbeat", job)["state"] == "quiet", "what is wanted")
        self.enqueue_q()
        answer = self.api.post("/api/claim", {"worker": "me", "queues": ["q"]})
        self.assertEqual((answer.status, answer.json), (200, {"jobs": [], "state": "quiet"}))
        self.claim_one("other", queues=["q"])
        for want, state in (("terminate", "terminate"), ("resume", "running"), ("quiet", "quiet")):
            self.assertEqual(self.api.post(f"/api/workers/http.me/{want}").status, 200)
            wait_for(lambda state=state: self.say("heartbeat", job)["state"] == state, f"{state} for {want}")

    def test_a_worker_that_is_silent_leaves_without_a_word(self):
        self.claim("quiet", 204)
        wait_for(lambda: not any(pool["name"] == "http.quiet" for pool in self.objects("pools")), "its end")
        self.assertEqual(self.pool.events("pool_removed"), [])
        self.claim("quiet", 204)
        wait_for(lambda: any(pool["name"] == "http.quiet" for pool in self.objects("pools")), "it again")

    def test_what_is_wrong_is_told(self):
        wrong = {
            "worker": [None, 1, "", "a b", "a" * 101], "queues": [1, [], ["a b"], [1], ["q"] * 65],
            "types": [1, [], ["a/b"], ["q"] * 65], "max": [0, 101, "1", 1.5], "lease": ["x", 0, "25h", True, "500ms"],
            "wait": ["31s", -1, "x", []], "wiat": [1]}
        for name, values in wrong.items():
            for value in values:
                body = {"worker": "w", name: value}
                field = "/queues" if name == "queues" else "/" + name
                self.assert_problem(self.api.post("/api/claim", body), 400, "invalid", field)
        for body in (b"", b"[]", b"{", b'{"worker": "a", "worker": "b"}', b'{"worker": ' + b"[" * 10000):
            self.assert_problem(self.api.post("/api/claim", body), 400, "invalid")
        self.assert_problem(self.api.post("/api/claim", b" " * 65537), 413, "too_large")
        self.enqueue_q()
        job = self.claim_one(queues=["q"])
        fields = {
            "heartbeat": {"progress": [1, {"percent": 101}, {"percent": -1}, {"text": 1}, {"x": 1}], "output": [1, "x" * 1048577],
                          "lease_token": [None, 1], "x": [1]},
            "complete": {"result": ["x" * 65537], "lease_token": [None, 1, "x" * 2049], "x": [1]},
            "fail": {"error": [1, "x" * 4097], "retry": [1, "no"], "retry_in": ["x", -1, "366d"], "lease_token": [[]]},
            "release": {"lease_token": [None, {}], "x": [1]}}
        for verb, names in fields.items():
            for name, values in names.items():
                for value in values:
                    answer = self.api.post(f"/api/jobs/{job['id']}/{verb}", {"lease_token": job["lease_token"], name: value})
                    problem = self.assert_problem(answer, 400, "invalid")
                    self.assertTrue(problem["field"].startswith("/" + name), answer)
        self.enqueue_q()
        other = self.claim_one(queues=["q"])
        idle = self.enqueue_q()
        nobody = {**job, "id": "0193f0a2-7c1d-7abc-8def-0123456789ab"}
        for verb in fields:
            self.assertEqual(self.say(verb, nobody, 404), "not_found")
            self.assertEqual(self.say(verb, {**job, "id": "x"}, 404), "not_found")
            for token in ("", "?", "AA==", job["lease_token"][:-4], other["lease_token"]):
                self.assertEqual(self.say(verb, {**job, "lease_token": token}, 409), "lease_mismatch")
            self.assertEqual(self.say(verb, {**job, "id": idle}, 409), "not_running")
        self.assertEqual(self.job(job["id"])["state"], "running")
        self.say("complete", job, result="x" * 65534)

    # ---- what dies ----

    def test_when_the_gate_dies_claims_wait_on_and_nothing_is_stranded(self):
        later = self.claim_later()
        gate = self.pool.pid_of("gate")
        os.kill(gate, signal.SIGKILL)
        self.pool.wait_replaced("gate", gate)
        job_id = self.enqueue_q()
        self.assertEqual(later.wait().json["jobs"][0]["id"], job_id)
        self.ok("pause", "q")
        ids = self.post([{"type": "a", "queue": "q"}] * 20)
        claims = [self.claim_later(f"w{n}") for n in range(20)]
        gate = self.pool.pid_of("gate")
        self.ok("resume", "q")
        os.kill(gate, signal.SIGKILL)
        jobs = [job for claim in claims for job in claim.wait().json["jobs"]]
        self.assertEqual(sorted(job["id"] for job in jobs), sorted(ids))
        for job in jobs:
            self.say("complete", job)

    def test_when_the_door_dies_each_job_is_somebodys_once(self):
        for _ in range(3):
            claims = [self.claim_quietly(f"w{n}") for n in range(10)]
            ids = self.post([{"type": "a", "queue": "q"}] * 10)
            door = self.pool.pid_of("http")
            os.kill(door, signal.SIGKILL)
            done = self.complete([job for claim in claims for job in claim.wait()])
            self.pool.wait_replaced("http", door)
            while len(done) < len(ids):
                done += self.complete(self.claim("last", queues=["q"], max=10, **LONG))
            self.assertEqual(sorted(done), sorted(ids))

    def complete(self, jobs):
        for job in jobs:
            self.say("complete", job)
        return [job["id"] for job in jobs]

    def claim_quietly(self, worker):
        def ask():
            try:
                answer = self.api.request("POST", "/api/claim", {"worker": worker, "queues": ["q"], **LONG, "lease": TAKEN})
                return answer.json["jobs"]
            except (OSError, ValueError):
                return []
            except Exception:  # pylint: disable=broad-except
                return []  # the connection broke in the middle
        return self.begin(ask)

    def test_a_pool_that_ends_gives_nothing_and_lets_leases_be(self):
        self.enqueue_q()
        job = self.claim_one(queues=["q"], lease="1h")
        later = self.claim_later()
        self.ok("enqueue", "noop", "--queue", "mine")
        self.pool.signal(signal.SIGTERM)
        self.assertEqual(later.wait().status, 204)
        self.assertEqual(self.pool.wait(), 0)
        self.assertEqual(self.job(job["id"])["state"], "running")
        self.serve()
        self.say("complete", job)

    def test_a_reload_and_an_upgrade_answer_those_who_wait(self):
        later = self.claim_later()
        self.pool.signal(signal.SIGHUP)
        self.pool.wait_event("config_reloaded")
        self.assertEqual(later.wait().status, 204)
        later = self.claim_later()
        self.enqueue_q()
        job = later.wait().json["jobs"][0]
        later = self.claim_later()
        self.pool.signal(signal.SIGUSR2)
        new = self.pool.wait_event("upgrade_ready")["pid"]
        self.addCleanup(lambda: is_alive(new) and os.kill(new, signal.SIGKILL))
        self.assertEqual(later.wait().status, 204)
        self.assertEqual(self.pool.wait(), 0)
        self.say("complete", job)
        os.kill(new, signal.SIGTERM)
        wait_for(lambda: not is_alive(new), "the end of the new thd")


if __name__ == "__main__":
    unittest.main()

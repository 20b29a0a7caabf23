"""
test_api_enqueue.py - POST /api/jobs: what it stores, what it refuses, and what becomes of it when the gate dies.
"""
import datetime
import os
import signal
import sqlite3
import struct
import threading
import unittest

from api import ApiCase
from daemon import is_stopped, wait_for
from harness import only_sqlite

OTHER_ID = "0193f0a2-7c1d-7abc-8def-0123456789ab"


def commits(path):
    """How many transactions a write-ahead log has: the last page of each says how large the file is then."""
    with open(path, "rb") as file:
        data = file.read()
    page = struct.unpack(">I", data[8:12])[0]
    frames = range(32, len(data) - 24 - page + 1, 24 + page)
    return sum(struct.unpack(">I", data[at + 4:at + 8])[0] != 0 for at in frames)


class EnqueueTest(ApiCase):
    def setUp(self):
        super().setUp()
        self.serve(queues={"unused": {}})

    def refused(self, body, *fields, headers=None, status=400):
        answer = self.api.post("/api/jobs", body, headers=headers)
        problem = self.assert_problem(answer, status)
        self.assertEqual([error["field"] for error in problem["errors"]], list(fields), answer)
        return problem

    def post(self, body, status=201, **options):
        answer = self.api.post("/api/jobs", body, **options)
        self.assertEqual(answer.status, status, answer)
        return answer.json

    def count(self):
        return sum(1 for _ in self.objects("ls", "--limit", "1000"))

    def test_one_job_and_a_list_are_stored_as_they_were_sent(self):
        one = self.post(b' {"type": "a", "payload": {"n": 1.00000000000000000000000000001 , "u": "\\u00e9"}}')
        self.assertEqual(set(one), {"id", "state", "existed", "updated"})
        self.assertEqual((one["state"], one["existed"], one["updated"]), ("ready", False, False))
        self.assertIn('"payload":{"n":1.00000000000000000000000000001,"u":"\\u00e9"}',
                      self.ok("--json", "show", one["id"]))
        jobs = self.post([
            {"type": "a", "queue": "q", "priority": 2, "timeout": "3s", "max_attempts": 2, "max_stalls": 1,
             "headers": {"h": [1]}, "tags": ["t"], "payload_base64": "AAE="},
            {"type": "b", "run_at": "+5m"}, {"type": "c", "run_at": "2040-01-02T03:04:05Z", "id": OTHER_ID},
            {"type": "d", "key": "k"}, {"type": "d", "key": "k"}])
        self.assertEqual([job["state"] for job in jobs], ["ready", "scheduled", "scheduled", "ready", "ready"])
        self.assertEqual([job["updated"] for job in jobs], [False] * 4 + [True])
        self.assertEqual(jobs[2]["id"], OTHER_ID)
        first = self.job(jobs[0]["id"])
        self.assertEqual([first[name] for name in ("queue", "priority", "timeout_ms", "max_attempts", "max_stalls")],
                         ["q", 2, 3000, 2, 1])
        self.assertEqual([first[name] for name in ("headers", "tags", "payload_base64")], [{"h": [1]}, ["t"], "AAE="])
        metrics = self.api.get("/metrics").body.decode()
        self.assertIn('taskharbor_enqueued_total{queue="q"} 1\n', metrics)
        self.assertIn('taskharbor_enqueued_total{queue="default"} 4\n', metrics)
        second = self.job(jobs[1]["id"])
        distance = (datetime.datetime.fromisoformat(second["run_at"].replace("Z", "+00:00")) -
                    datetime.datetime.fromisoformat(second["created_at"].replace("Z", "+00:00")))
        self.assertEqual(distance, datetime.timedelta(minutes=5))

    def test_an_idempotency_key_makes_it_safe_to_repeat(self):
        key = {"Idempotency-Key": "k" * 250}
        first = self.post({"type": "a"}, headers=key)
        again = self.post({"type": "a"}, 200, headers=key)
        self.assertEqual((again["id"], again["existed"]), (first["id"], True))
        jobs = self.post([{"type": "a"}, {"type": "b"}], headers={"Idempotency-Key": "list"})
        self.assertEqual(self.job(jobs[1]["id"])["idempotency_key"], "list:1")
        more = self.post([{"type": "a"}, {"type": "b"}, {"type": "c"}], headers={"Idempotency-Key": "list"})
        self.assertEqual([job["existed"] for job in more], [True, True, False])
        self.assertEqual([job["id"] for job in more[:2]], [job["id"] for job in jobs])
        self.post([{"type": "a"}, {"type": "b"}], 200, headers={"Idempotency-Key": "list"})
        self.post({"type": "a"}, 201, headers={"Idempotency-Key": " "})
        self.post({"type": "a", "id": OTHER_ID})
        self.assertEqual(self.post({"type": "a", "id": OTHER_ID}, 200)["existed"], True)
        self.refused({"type": "a"}, "Idempotency-Key", headers={"Idempotency-Key": "k" * 251})
        self.refused({"type": "a", "idempotency_key": "k"}, "/idempotency_key", headers=key)
        self.assertEqual(self.count(), 6)

    def test_all_that_is_wrong_with_any_job_is_told_and_nothing_is_stored(self):
        many = [{"type": "a"}, {"type": "a", "priority": 10, "queu": 1}, 3, {"typ": 1, "run_at": "+x"},
                {"type": "a b", "max_attempts": -1, "tags": ["x", "x"]}]
        problem = self.refused(many, "/1/queu", "/1/priority", "/2", "/3/typ", "/3/run_at", "/3/type", "/4/type",
                               "/4/max_attempts", "/4/tags")
        self.assertIn("did you mean 'queue'?", problem["message"])
        self.refused([{}] * 1001, "")
        self.refused([], "")
        self.refused(b"", "")
        self.refused(b"[" * 10000, "")
        self.refused(b'{"type": "a", "payload": ' + b"[" * 10000, "")
        self.refused(b'{"type": "a", "type": "b"}', "")
        self.refused(b'{"type": "a"', "")
        self.refused(b'{"type": "\xff"}', "")
        wrong = {
            "id": [1, "x", "00000000-0000-0000-0000-000000000000"], "type": [1, "", "a" * 129, [], "a\0"],
            "queue": [1, "", "a/b"], "headers": [1, [], {"h": "x" * 9000}], "tags": [1, "t", [1], [""], list("123456789")],
            "priority": [-1, 10, 1.5, "1", 2 ** 40], "run_at": [1, "soon", "+", "-5m", "1970-01-02T00:00:00Z"],
            "timeout": [1, "x", "-1s", "366d"], "timeout_ms": [-1, "1", 2 ** 60], "max_attempts": [-1, 1000001, "1"],
            "max_stalls": [-1, 1000001, "1"], "key": [1, " ", "k" * 257], "idempotency_key": [1, "k" * 257],
            "payload_base64": [1, "?", "AA"], "update_payload": [1, "true"], "update_run_at": [1, "sometimes"],
            "update_retry": ["x"], "reset_counts": [0]}
        for name, values in wrong.items():
            for value in values:
                self.refused({"type": "a", name: value}, "/" + name)
        self.refused({"type": "a", "payload": 1, "payload_base64": "AA=="}, "/payload_base64")
        self.refused({"type": "a", "payload": "x" * (1 << 20)}, "/payload")
        self.assert_problem(self.api.post("/api/jobs?a=1", {"type": "a"}), 400, "invalid", "a")
        self.assert_problem(self.api.post("/api/jobs", b" ", headers={"Content-Length": str((16 << 20) + 1)}), 413, "too_large")
        self.assertEqual(self.count(), 0)

    def test_what_the_gate_was_asked_when_it_died_is_stored_once(self):
        gate = self.pool.pid_of("gate")
        os.kill(gate, signal.SIGSTOP)
        wait_for(lambda: is_stopped(gate), "a gate that stands still")
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.api.post("/api/jobs", {"type": "a"})))
                   for _ in range(8)]
        for thread in threads:
            thread.start()
        wait_for(lambda: self.open_requests() == len(threads), "all of them on their way")
        os.kill(gate, signal.SIGKILL)
        for thread in threads:
            thread.join()
        self.assertEqual({(answer.status, answer.json["existed"]) for answer in answers}, {(201, False)})
        self.assertEqual({answer.json["id"] for answer in answers}, {job["id"] for job in self.objects("ls")})

    def open_requests(self):
        """How many clients have been accepted and wait: their sockets are the door's."""
        pid = self.pool.pid_of("http")
        sockets = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
        port = int(self.api.address.rsplit(":", 1)[1])
        found = 0
        with open("/proc/net/tcp", encoding="ascii") as file:
            for line in file.readlines()[1:]:
                words = line.split()
                mine = int(words[1].split(":")[1], 16) == port and words[3] == "01"
                found += mine and f"socket:[{words[9]}]" in sockets and words[4] == "00000000:00000000"
        return found

    @only_sqlite("counts the transactions in its write-ahead log")
    def test_what_comes_together_is_one_commit(self):
        self.post({"type": "a"})
        gate, door = self.pool.pid_of("gate"), self.pool.pid_of("http")
        os.kill(gate, signal.SIGSTOP)
        wait_for(lambda: is_stopped(gate), "a gate that stands still")
        before = commits(self.database + "-wal")
        threads = [threading.Thread(target=self.post, args=({"type": "a", "queue": f"q{n}"},)) for n in range(100)]
        for thread in threads:
            thread.start()
        wait_for(lambda: self.open_requests() == 100, "all of them on their way")
        self.assertEqual(self.pool.pid_of("http"), door)
        os.kill(gate, signal.SIGCONT)
        for thread in threads:
            thread.join()
        self.assertEqual(self.count(), 101)
        self.assertLess(commits(self.database + "-wal") - before, 20)

    def test_one_refusal_does_not_fail_the_others(self):
        gate = self.pool.pid_of("gate")
        os.kill(gate, signal.SIGSTOP)
        wait_for(lambda: is_stopped(gate), "a gate that stands still")
        answers = {}

        def post(name, body):
            answers[name] = self.api.post("/api/jobs", body)
        twins = [{"type": "a"}, {"type": "a", "key": "k"}, {"type": "b", "key": "k"}]
        bodies = {"good": {"type": "a"}, "list": [{"type": "a"}] * 3, "twins": twins, "other": {"type": "b"}}
        threads = [threading.Thread(target=post, args=item) for item in bodies.items()]
        for thread in threads:
            thread.start()
        wait_for(lambda: self.open_requests() == len(threads), "all of them on their way")
        os.kill(gate, signal.SIGCONT)
        for thread in threads:
            thread.join()
        self.assertEqual({name: answer.status for name, answer in answers.items()},
                         {"good": 201, "list": 201, "twins": 409, "other": 201})
        problem = self.assert_problem(answers["twins"], 409, "conflict")
        self.assertIn("job 3: key 'k'", problem["message"])
        self.assertEqual(self.count(), 5)

    @only_sqlite("takes the file away from everybody")
    def test_without_a_store_nothing_is_accepted(self):
        connection = sqlite3.connect(self.database, timeout=60, isolation_level=None)
        self.addCleanup(connection.close)
        connection.execute("BEGIN EXCLUSIVE")
        answer = self.api.post("/api/jobs", {"type": "a"})
        self.assert_problem(answer, 503, "unavailable")
        self.assertTrue(answer.headers["Retry-After"])
        connection.execute("ROLLBACK")
        wait_for(lambda: self.api.post("/api/jobs", {"type": "a"}).status == 201, "a store that is back")
        self.assertEqual(self.count(), 1)


if __name__ == "__main__":
    unittest.main()

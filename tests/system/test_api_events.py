"""
test_api_events.py - server-sent events: what comes, in which order, and to whom it does not.
"""
import http.client
import json
import os
import re
import signal
import socket
import time

from api import Answer, ApiCase
from daemon import read_proc, wait_for

QUIET = 1.5  # seconds: longer than what is done each second, shorter than from one pulse of the master to the next


def switches(pid):
    """How often a process has gone to sleep: it stays the same while nothing wakes it."""
    return int(re.search(rb"\nvoluntary_ctxt_switches:\s+(\d+)", read_proc(pid, "status"))[1])


def is_asleep(pid):
    before = switches(pid)
    time.sleep(QUIET)
    return switches(pid) == before


def is_served(port, client):
    """Whether the connection that a client has with this port of this machine is open on the other end."""
    with open("/proc/net/tcp", encoding="ascii") as table:
        return any(row[1].endswith(f":{port:04X}") and row[2].endswith(f":{client:04X}") and row[3] == "01"
                   for row in map(str.split, table))


class EventsTest(ApiCase):
    def serve_all(self, **sections):
        talk = self.script("talk", "echo one; until [ -e two ]; do sleep 0.02; done\n"
                                   "echo two; until [ -e go ]; do sleep 0.02; done; echo three\n")
        return self.serve({"noop": {"command": "true"}, "talk": {"command": talk},
                           "fail": {"command": "echo no >&2; exit 1", "max_attempts": 1}}, **sections)

    def test_a_listener_hears_a_snapshot_then_counts_and_what_becomes_of_jobs(self):
        api = self.serve_all(cron={"nightly": {"schedule": "0 3 * * *", "type": "noop"}})
        events = self.listen()
        events.wait("snapshot")
        self.assertEqual(events.seen[0][0], "snapshot")
        self.assertEqual(events.of("snapshot")[0].keys(), api.get("/api/stats").json.keys())
        done = self.enqueue("noop")
        events.wait("job", job=done, event="started", type="noop", queue="default", attempt=1)
        self.assertGreaterEqual(events.wait("job", job=done, event="done")["ms"], 0)
        self.assertIn("no", events.wait("job", job=self.enqueue("fail"), event="dead")["error"])
        ran = api.post("/api/cron/nightly/run").json["id"]
        events.wait("job", job=ran, event="enqueued")
        events.wait("job", job=ran, event="done")
        wait_for(lambda: 2 in [stats["totals"]["done_total"] for stats in events.of("stats")], "counts that have it")
        ids = [number for _, _, number in events.seen]
        self.assertEqual(ids, sorted(set(ids)))
        self.assertEqual(len(events.of("snapshot")), 1)

    def test_what_there_is_too_much_of_is_counted(self):
        self.serve_all()
        events = self.listen()
        events.wait("snapshot")
        lines = "".join(json.dumps({"type": "fail"}) + "\n" for _ in range(400))
        self.thctl("enqueue", "--bulk", "-", stdin=lines)
        wait_for(lambda: len(events.of("job")) + sum(one["dropped"] for one in events.of("dropped")) == 800,
                 lambda: f"all events to be told or counted, not {events.seen[-3:]}")

    def test_a_slow_listener_is_dropped_and_the_other_goes_on(self):
        api = self.serve_all(queues={"default": {}})
        lines = "".join(json.dumps({"type": "noop", "queue": f"q{i:03}", "run_at": "+1h"}) + "\n" for i in range(200))
        self.thctl("enqueue", "--bulk", "-", stdin=lines)
        events = self.listen()
        events.wait("snapshot")
        host, port = api.address.rsplit(":", 1)
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect((host, int(port)))
            slow.sendall(f"GET /api/events HTTP/1.1\r\nHost: {api.address}\r\n\r\n".encode())
            client = slow.getsockname()[1]
            self.assertTrue(is_served(int(port), client))
            wait_for(lambda: not is_served(int(port), client), "the end of the slow one")
        events.wait("stats", len(events.of("stats")) + 2)
        self.assertFalse(events.is_over)

    def test_nothing_is_asked_while_nobody_listens(self):
        self.serve_all()
        browse, http = self.pool.pid_of("browse"), self.pool.pid_of("http")
        events = self.listen()
        events.wait("stats", 2)
        wait_for(lambda: not is_asleep(browse), "browse to be asked")
        events.close()
        wait_for(lambda: is_asleep(browse), "browse to sleep")
        wait_for(lambda: is_asleep(http), "http to sleep")

    def test_streams_outlive_browse_and_say_when_they_end(self):
        self.serve_all()
        job = self.enqueue("talk")
        self.wait_state(job, "running")
        events, watch = self.listen(), self.listen(f"/api/jobs/{job}/events")
        events.wait("snapshot")
        pid = self.pool.pid_of("browse")
        os.kill(pid, signal.SIGKILL)
        self.pool.wait_replaced("browse", pid)
        events.wait("stats", len(events.of("stats")) + 2)
        self.write("two", "")
        wait_for(lambda: "two" in "".join(one["text"] for one in watch.of("output")), "more output")
        self.pool.signal(signal.SIGHUP)
        self.assertEqual(events.wait_end()[-1], ("end", {"reason": "restart"}))
        self.assertEqual(watch.wait_end()[-1], ("end", {"reason": "restart"}))
        self.pool.wait_event("config_reloaded")
        again = self.listen()
        again.wait("snapshot")
        self.write("go", "")
        self.wait_state(job, "done")
        self.assertEqual(self.pool.stop(), 0)
        self.assertEqual(again.wait_end()[-1], ("end", {"reason": "restart"}))

    def ask_one_that_ends(self):
        """Asks for a stream, but ends its head only once the process takes nobody new. None: that was too late."""
        connection = self.api.connect()
        self.addCleanup(connection.close)
        connection.connect()
        connection.sock.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n")
        events = self.listen()
        events.wait("snapshot")
        reloads = len(self.pool.events("config_reloaded"))
        self.pool.signal(signal.SIGHUP)
        events.wait_end()
        try:
            connection.sock.sendall(b"\r\n")
            response = http.client.HTTPResponse(connection.sock)
            response.begin()
            return Answer(response.status, response.headers, response.read())
        except (OSError, http.client.HTTPException):
            return None
        finally:
            self.pool.wait_event("config_reloaded", reloads + 1)

    def test_who_comes_to_a_process_that_ends_is_told_to_come_again(self):
        self.serve()
        answer = wait_for(self.ask_one_that_ends, "an answer in time")
        self.assert_problem(answer, 503, "unavailable")
        self.assertTrue(answer.headers["Retry-After"])
        self.api.check("GET", "/api/events", answer)

    def test_a_job_is_watched_until_it_ends(self):
        api = self.serve_all(queues={"default": {}})
        job = self.enqueue("talk")
        first = self.listen(f"/api/jobs/{job}/events")
        self.assertEqual(first.wait("job")["id"], job)
        first.wait("job", state="running")
        first.wait("output", text="one\n")
        self.write("two", "")
        first.wait("output", text="two\n")
        second = self.listen(f"/api/jobs/{job}/events")
        second.wait("output", text="one\ntwo\n")
        self.write("go", "")
        for watch in (first, second):
            *_, last, end = [(kind, data) for kind, data in watch.wait_end() if kind != "output"]
            self.assertEqual((last[0], last[1]["state"], last[1]["output"]), ("job", "done", None))
            self.assertEqual(end, ("end", {"reason": "ended"}))
            self.assertEqual("".join(one["text"] for one in watch.of("output")), "one\ntwo\nthree\n")
        kinds = [kind for kind, _ in self.listen(f"/api/jobs/{job}/events").wait_end()]
        self.assertEqual(kinds, ["job", "output", "end"])
        self.assert_problem(api.get("/api/jobs/00000000-0000-7000-8000-000000000000/events"), 404, "not_found")
        self.assert_problem(api.get("/api/jobs/nonsense/events"), 404)
        self.assert_problem(api.get("/api/events?x=1"), 400, field="x")

    def test_a_job_that_never_ran_is_watched_until_it_is_cancelled(self):
        self.serve_all()
        job = self.enqueue("noop", "{}", "--run-at", "+1h", "--queue", "later")
        watch = self.listen(f"/api/jobs/{job}/events")
        watch.wait("job", state="scheduled")
        self.thctl("cancel", job)
        self.assertEqual([watch.wait_end()[-2][1]["state"], watch.seen[-1][1]], ["cancelled", {"reason": "ended"}])

"""
test_api_export.py - all jobs that fit, as JSON lines and as CSV, however many there are and however slowly they are
read.
"""
import csv
import io
import json
import os
import re
import signal
import socket
import unittest

from api import ApiCase
from daemon import read_proc, wait_for

LINES, CSV = {"Accept": "application/x-ndjson"}, {"Accept": "text/csv"}
COUNT = 2000


def exact(text):
    """JSON with its numbers as they are written."""
    return json.loads(text, parse_float=str, parse_int=str)


def memory_of(pid):
    return int(re.search(rb"VmRSS:\s*(\d+) kB", read_proc(pid, "status"))[1]) * 1024


class ExportCase(ApiCase):
    def store_many(self, size=2000):
        """Of all kinds, some so large that a page of them is more than one piece."""
        lines = []
        for i in range(COUNT):
            payload = f'{{"n":{i}.500,"text":"{i} \\"quoted\\", \\n=1+1 {"x" * (size if i % 4 == 0 else 0)}"}}'
            job = {"queue": "shelf", "type": "noop" if i % 3 else "sum:x", "key": f"={i},\"k\""}
            job.update({"tags": ["a", "b"], "headers": {"h": i}} if i % 5 == 0 else {})
            lines.append(json.dumps(job)[:-1] + f', "payload": {payload}}}')
        self.ok("enqueue", "--bulk", self.write("lines", "\n".join(lines) + "\n"))

    def list_in_full(self):
        """What the list has, page by page."""
        found, after = [], {}
        while True:
            answer = self.api.get("/api/jobs", query={"full": 1, "limit": 200, **after})
            page = exact(answer.body)
            found += page["jobs"]
            if page["next"] is None:
                return found
            after = {"after": page["next"]}

    def open_raw(self, accept="application/x-ndjson", path="/api/jobs"):
        """A client with a short memory."""
        host, port = self.api.address.rsplit(":", 1)
        client = socket.socket()
        self.addCleanup(client.close)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(60)
        client.connect((host, int(port)))
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: {self.api.address}\r\nAccept: {accept}\r\n\r\n".encode())
        return client

    def read_chunks(self, file):
        """The body, from where it is; fails if it is not whole."""
        body = b""
        while True:
            size = int(file.readline(), 16)
            piece = file.read(size)
            self.assertEqual((len(piece), file.readline()), (size, b"\r\n"))
            if size == 0:
                return body
            body += piece

    def skip_head(self, file):
        self.assertIn(b" 200 ", file.readline())
        while file.readline() != b"\r\n":
            pass


def cell(name, job):
    """A value as CSV shows it."""
    value = job.get(name)
    if name in job and name == "payload":
        return json.dumps(value)
    if value is None:
        return ""
    if isinstance(value, str):
        return "'" + value if value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
    return json.dumps(value)


class ExportTest(ExportCase):
    def test_lines_and_csv_are_what_the_list_has(self):
        self.serve()
        self.store_many()
        expected = self.list_in_full()
        self.assertEqual(len(expected), COUNT)
        answer = self.api.get("/api/jobs", headers=LINES)
        self.assertEqual((answer.status, answer.type), (200, "application/x-ndjson"))
        self.assertEqual([exact(line) for line in answer.body.decode().splitlines()], expected)
        self.assertIn(b'"n":7.500', answer.body)
        answer = self.api.get("/api/jobs?limit=1", headers=CSV)
        self.assertEqual((answer.status, answer.type), (200, "text/csv"))
        rows = list(csv.DictReader(io.StringIO(answer.body.decode(), newline="")))
        self.assertEqual(len(rows), COUNT)
        for row, line in zip(rows, self.api.get("/api/jobs", headers=LINES).body.decode().splitlines()):
            job = json.loads(line)
            self.assertEqual(set(job) - set(row), {"why"})
            for name, value in row.items():
                wanted = cell(name, job)
                if isinstance(job.get(name), (dict, list, int)):
                    self.assertEqual(json.loads(value), json.loads(wanted), (name, row))
                else:
                    self.assertEqual(value, wanted, (name, row))
        self.assertTrue(rows[0]["key"].startswith("'="))
        raw = answer.body.split(b"\r\n", 1)[0]
        self.assertTrue(raw.startswith(b"id,type,queue,state,"), raw)

    def test_the_client_says_what_it_gets_and_what_is_wrong_has_a_status(self):
        self.serve()
        self.ok("enqueue", "noop", "--queue", "shelf")
        for accept, media in (("text/html, */*;q=0.8", "application/json"), ("text/*", "text/csv"),
                              ("application/json;q=0.5, text/csv;q=0.9", "text/csv"), ("image/png", "application/json"),
                              ("TEXT/CSV;q=0, application/x-ndjson", "application/x-ndjson"), ("", "application/json")):
            with self.subTest(accept=accept):
                self.assertEqual(self.api.get("/api/jobs", headers={"Accept": accept}).type, media)
        self.assertEqual(self.api.get("/api/dead", headers=LINES).body, b"")
        self.assertEqual(self.api.get("/api/dead", headers=CSV).body.count(b"\r\n"), 1)
        self.assertEqual(self.api.call("HEAD", "/api/jobs", headers=CSV).body, b"")
        self.assert_problem(self.api.get("/api/jobs?state=x", headers=CSV), 400, "invalid", "state")
        self.assert_problem(self.api.get("/api/dead?after=1", headers=LINES), 400, "invalid", "after")

    def test_a_slow_reader_holds_nobody_up_and_one_that_leaves_is_forgotten(self):
        self.serve()
        self.store_many()
        pid = self.pool.pid_of("http")
        before = memory_of(pid)
        slow = [self.open_raw() for _ in range(8)]
        files = [client.makefile("rb") for client in slow]
        for file in files:
            self.skip_head(file)
        self.assertEqual(self.api.get("/api/jobs").status, 200)
        self.assertLess(memory_of(pid) - before, 64 << 20)
        descriptors = len(os.listdir(f"/proc/{pid}/fd"))
        for file, client in list(zip(files, slow))[1:]:
            file.close()
            client.close()
        wait_for(lambda: len(os.listdir(f"/proc/{pid}/fd")) <= descriptors - 7, "the end of the exports that nobody reads")
        self.assertEqual(self.read_chunks(files[0]).count(b"\n"), COUNT)

    def test_an_export_goes_on_when_browse_has_died(self):
        self.serve()
        self.store_many()
        whole = self.api.get("/api/jobs", headers=LINES).body
        for number in (signal.SIGKILL, signal.SIGSTOP):  # a process that stands still is killed with our call
            file = self.open_raw().makefile("rb")
            self.skip_head(file)
            pid = self.pool.pid_of("browse")
            os.kill(pid, number)
            self.assertEqual(self.read_chunks(file), whole)
            self.pool.wait_replaced("browse", pid)

    def test_an_export_that_cannot_go_on_does_not_look_whole(self):
        self.serve()
        self.store_many()
        client = self.open_raw()
        file = client.makefile("rb")
        self.skip_head(file)
        self.pool.signal(signal.SIGTERM)
        self.assertEqual(self.pool.wait(), 0)
        self.assertFalse(file.read().endswith(b"\r\n0\r\n\r\n"))


if __name__ == "__main__":
    unittest.main()

"""
harness.py - what the system tests share: temporary folders, running thctl, looking at its answers.

$THCTL names the binary under test. Every test has a folder of its own, and a SQLite file in it. With
TH_TEST_BACKEND=postgres or redis its jobs are on the server that $TH_POSTGRES or $TH_REDIS names, in
a schema or under a prefix of its own.
"""
import fcntl
import json
import os
import pty
import re
import resource
import select
import shutil
import sqlite3
import struct
import subprocess
import tempfile
import termios
import time
import unittest
import uuid

THCTL = os.environ.get("THCTL") or shutil.which("thctl") or "thctl"
DEADLINE = 60  # seconds for anything a test waits for

SERVER = {"postgres": "TH_POSTGRES", "redis": "TH_REDIS"}
BACKEND = os.environ.get("TH_TEST_BACKEND", "sqlite")

STATES = ["scheduled", "ready", "blocked", "running", "retry", "done", "dead", "cancelled"]


# A queue knows how many jobs it has of each state; whoever moves jobs by hand counts them anew.
MOVES_JOBS = re.compile(r"(INSERT INTO|DELETE FROM|UPDATE) (ready|waiting|lease|ended|job)\b")
RECOUNT = "UPDATE queue SET " + ", ".join(
    f"{state} = (SELECT count(*) FROM job_view v WHERE v.queue = queue.name AND v.state = {number})"
    for number, state in enumerate(STATES))


class Result:
    """How a run of thctl ended."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def lines(self):
        return self.out.splitlines()

    @property
    def objects(self):
        return [json.loads(line) for line in self.lines]

    def __repr__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


def limit_file_size(size):
    """For `preexec`: writing a file beyond this many bytes fails, as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def only_sqlite(reason):
    """For tests that look at, or do something to, the file itself."""
    return unittest.skipUnless(BACKEND == "sqlite", reason)


def fresh_backend(database):
    """The URL of a store that nobody has used."""
    name = "test_" + uuid.uuid4().hex
    if BACKEND == "sqlite":
        return "sqlite:" + database
    server = os.environ.get(SERVER[BACKEND])
    if not server:
        raise RuntimeError(f"{SERVER[BACKEND]} names no server: run this by scripts/with-servers")
    return f"{server}?{'schema' if BACKEND == 'postgres' else 'prefix'}={name}"


class Case(unittest.TestCase):
    """A test with a folder, a backend in it, and thctl."""

    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="thctl-test-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.program = THCTL
        self.database = self.path("jobs.db")
        self.backend = fresh_backend(self.database)
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": self.folder, "TMPDIR": self.folder,
            "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "xterm",
        }
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.environment[name] = os.environ[name]

    # ---- files ----

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    # ---- running ----

    def environment_with(self, env, backend):
        result = dict(self.environment)
        if backend:
            result["TASKHARBOR_BACKEND"] = self.backend
        for name, value in (env or {}).items():
            if value is None:
                result.pop(name, None)
            else:
                result[name] = value
        return result

    def thctl(self, *arguments, stdin=None, env=None, backend=True, preexec=None, **options):
        """Runs thctl to its end. `stdin` is text or bytes; none is an empty one."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [self.program, *arguments], input=data if data is not None else b"", cwd=self.folder,
            stdout=options.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
            env=self.environment_with(env, backend), preexec_fn=preexec, timeout=DEADLINE,
            check=False, **options)
        # What a job printed may be any bytes, and comes out as it is.
        out = (done.stdout or b"").decode(errors="surrogateescape")
        result = Result(done.returncode, out, done.stderr.decode())
        self.assertNotIn("Sanitizer", result.err)
        self.assertNotIn("runtime error", result.err)
        return result

    def ok(self, *arguments, **options):
        """Runs what must succeed, and returns what it printed without the last newline."""
        result = self.thctl(*arguments, **options)
        self.assertEqual(result.code, 0, result)
        return result.out.removesuffix("\n")

    def objects(self, *arguments, **options):
        """Runs what must succeed with --json, and returns its objects."""
        result = self.thctl("--json", *arguments, **options)
        self.assertEqual(result.code, 0, result)
        return result.objects

    def refuses(self, code, says, *arguments, **options):
        """Runs what must fail: with this exit code, a line that says so, and no answer."""
        result = self.thctl(*arguments, **options)
        self.assertEqual(result.code, code, result)
        self.assertIn(says, result.err)
        self.assertTrue(result.err.startswith("thctl: "), result)
        self.assertEqual(result.out, "")
        self.assertEqual(len(result.err.splitlines()), 1, result)
        return result

    def on_terminal(self, *arguments, answers=(), columns=80, env=None, stdout=None):
        """
        Runs thctl on a terminal and returns (exit code, screen). `answers` are (prompt, reply)
        pairs; a reply is what to type, or a function to call that may return it.
        """
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
        process = subprocess.Popen(
            [THCTL, *arguments], stdin=slave, stdout=slave if stdout is None else stdout,
            stderr=slave, cwd=self.folder, env=self.environment_with(env, True),
            start_new_session=True)
        os.close(slave)
        self.addCleanup(os.close, master)
        screen = self._converse(master, list(answers))
        code = process.wait(timeout=DEADLINE)
        self.assertNotIn("Sanitizer", screen)
        return code, screen.replace("\r\n", "\n")

    def _converse(self, master, answers):
        screen, deadline = b"", time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            if not select.select([master], [], [], 0.1)[0]:
                continue
            try:
                data = os.read(master, 65536)
            except OSError:  # the last one has left the terminal
                return screen.decode()
            screen += data
            if answers and answers[0][0].encode() in screen:
                reply = answers.pop(0)[1]
                if callable(reply):
                    reply = reply() or ""
                os.write(master, reply.encode())
        self.fail(f"thctl did not end in time; so far: {screen!r}")

    # ---- jobs ----

    def enqueue(self, *arguments, **options):
        return self.ok("enqueue", *arguments, **options)

    def jobs(self, *arguments):
        """In the order in which they were made, unless an --order is given."""
        order = [] if "--order" in arguments else ["--order", "asc"]
        return self.objects("ls", "--limit", "1000000", *order, *arguments)

    def job(self, job_id):
        [job] = self.objects("show", job_id)
        return job

    def assert_nothing_stored(self):
        """No job is stored, and the file does not even exist unless something made it before."""
        if os.path.exists(self.database):
            self.assertEqual(self.jobs(), [])

    def sql(self, statement, *values):
        """One statement on the SQLite file itself."""
        return self.transaction((statement, *values))[0]

    def transaction(self, *statements):
        """Changes the SQLite file itself, all at once, where a pool would be needed otherwise."""
        connection = sqlite3.connect(self.database, timeout=DEADLINE, isolation_level=None)
        try:
            connection.execute("BEGIN")
            rows = [connection.execute(sql, values).fetchall() for sql, *values in statements]
            if any(MOVES_JOBS.match(sql) for sql, *_ in statements):
                connection.execute(RECOUNT)
            connection.execute("COMMIT")
        finally:
            connection.close()
        return rows

    def find(self, job_id):
        [found] = self.sql("SELECT seq, queue_id FROM job WHERE id = ?", uuid.UUID(job_id).bytes)
        return found

    def make_ended(self, job_id, state, error=None, reason=None):
        """What a pool leaves behind when a waiting or running job has ended."""
        (seq, queue), now = self.find(job_id), int(time.time() * 1e6)
        steps = [
            ("DELETE FROM ready WHERE seq = ?", seq),
            ("DELETE FROM waiting WHERE seq = ?", seq),
            ("DELETE FROM lease WHERE seq = ?", seq),
            ("DELETE FROM keyed WHERE waiting = ?", seq),
            ("INSERT INTO ended (seq, state, queue_id, ended_at, executions, attempts, stalls,"
             " pool, worker, started_at) VALUES (?, ?, ?, ?, 1, ?, 0, 'pool-1', 3, ?)",
             seq, STATES.index(state), queue, now, int(error is not None), now - 2000000)]
        if error is not None:
            steps += [
                ("INSERT INTO detail (seq, last_error, failed_at, reason, exit_code)"
                 " VALUES (?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET last_error = excluded.last_error,"
                 " failed_at = excluded.failed_at, reason = excluded.reason, exit_code = 1",
                 seq, error, now, reason),
                ("INSERT INTO run VALUES (?, 1, 2, 'pool-1', 3, ?, 1500000, 20000, 1000, 2048, 1,"
                 " NULL, ?)", seq, now - 2000000, error)]
        self.transaction(*steps)

    def make_running(self, job_id, execution=1):
        """What a pool does when it reserves a ready job."""
        (seq, queue), now = self.find(job_id), int(time.time() * 1e6)
        self.transaction(
            ("DELETE FROM ready WHERE seq = ?", seq),
            ("DELETE FROM waiting WHERE seq = ?", seq),
            ("UPDATE keyed SET running = waiting, waiting = NULL WHERE waiting = ?", seq),
            ("INSERT INTO lease VALUES (?, ?, ?, zeroblob(20), ?, 'pool-1', ?, 1, 1, NULL)",
             seq, queue, execution, now + 10**9, now),
            ("UPDATE queue SET next_expiry = ? WHERE queue_id = ?", now + 10**9, queue))

    def make_retry(self, job_id):
        """What a pool does when a running job has failed and may try again."""
        (seq, queue), now = self.find(job_id), int(time.time() * 1e6)
        self.transaction(
            ("UPDATE job SET due = ?2, attempts = attempts + 1, executions = (SELECT execution"
             " FROM lease WHERE seq = ?1) WHERE seq = ?1", seq, now + 10**9),
            ("DELETE FROM lease WHERE seq = ?", seq),
            ("INSERT INTO waiting VALUES (4, ?, ?, ?)", now + 10**9, seq, queue))

    def make_output(self, job_id, output):
        """What a pool does when it beats for a running job that has printed something."""
        self.sql("INSERT INTO detail (seq, output) VALUES (?, ?)"
                 " ON CONFLICT DO UPDATE SET output = excluded.output",
                 self.find(job_id)[0], output)

    def make_pool(self, name, status=None, silent_for=0):
        """What a pool does when it registers and beats; `status` is an object, or any bytes."""
        now = int(time.time() * 1e6)
        if status is not None and not isinstance(status, bytes):
            status = json.dumps(status).encode()
        self.sql("INSERT INTO pool (name, host, pid, started_at, beat_at, status)"
                 " VALUES (?, 'host.example', 4711, ?, ?, ?)", name,
                 now - 2 * 86400 * 10**6, now - silent_for * 10**6, status)

    def dead_jobs(self, count, *arguments):
        ids = [self.enqueue("some:type", *arguments) for _ in range(count)]
        for job_id in ids:
            self.make_ended(job_id, "dead", "it went wrong", 1)
        return ids

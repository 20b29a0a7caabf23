"""
daemon.py - what the tests of thd share: starting pools, reading their logs, finding their processes.

$THD names the binary under test. A pool's log goes into a file as JSON, one event a line.
"""
import json
import os
import re
import subprocess
import time
from signal import SIGCONT, SIGTERM

from harness import DEADLINE, Case

THD = os.environ.get("THD", "thd")


def wait_for(condition, what, deadline=DEADLINE):
    """Waits until the condition holds, and returns what it returned. It looks again after a tenth of the time that it
    has waited for, and never more than half of the time: a condition may be a whole run of thctl, and others need the
    machine meanwhile."""
    start = time.monotonic()
    while True:
        asked = time.monotonic()
        value = condition()
        if value:
            return value
        now = time.monotonic()
        if now - start > deadline:
            raise AssertionError(f"waited in vain for {what() if callable(what) else what}")
        time.sleep(max(0.005, now - asked, (now - start) / 10))


def read_proc(pid, name):
    """A file of /proc/PID, or nothing if the process is gone."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def title(pid):
    return read_proc(pid, "cmdline").rstrip(b"\0").replace(b"\0", b" ").decode(errors="replace")


def state_of(pid):
    """As ps shows it: T is stopped, Z waits to be reaped; nothing if the process is gone."""
    stat = read_proc(pid, "stat")
    return stat.rsplit(b")", 1)[1].split()[0] if stat else b""


def is_alive(pid):
    """Whether it runs: what is only waiting to be reaped does not."""
    return state_of(pid) not in (b"", b"Z", b"X")


def is_stopped(pid):
    return state_of(pid) == b"T"


def go_on(pid):
    """Lets a process go on that was stopped, if the master has not killed it meanwhile."""
    try:
        os.kill(pid, SIGCONT)
    except ProcessLookupError:
        pass


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def children(pid):
    return [int(word) for word in read_proc(pid, f"task/{pid}/children").split()]


def descendants(pid):
    found = []
    for child in children(pid):
        found += [child, *descendants(child)]
    return found


def living_in(folder):
    """Every process whose working directory is in the folder."""
    found = []
    for pid in pids():
        try:
            if os.readlink(f"/proc/{pid}/cwd").startswith(folder) and is_alive(pid):
                found.append(pid)
        except OSError:
            continue
    return found


class Pool:
    """A running thd."""

    def __init__(self, case, arguments, env, name):
        self.case = case
        self.log_path = case.path(name + ".log")
        self.log_read, self.log_entries = 0, []  # how much of it has become events
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [THD, *arguments], cwd=case.folder, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, env=env, start_new_session=True)
        self.pid = self.process.pid

    # ---- its log ----

    def log_text(self):
        with open(self.log_path, "rb") as log:
            return log.read().decode(errors="replace")

    def entries(self):
        """All events that it logged; no line is read twice."""
        with open(self.log_path, "rb") as log:
            log.seek(self.log_read)
            text = log.read()
        whole = text[:text.rfind(b"\n") + 1]
        self.log_read += len(whole)
        for line in whole.splitlines():
            try:
                self.log_entries.append(json.loads(line.decode(errors="replace")))
            except ValueError:
                continue
        return self.log_entries

    def events(self, event=None, **fields):
        """What it logged: all events of this name with these fields."""
        return [entry for entry in self.entries() if event in (None, entry.get("event")) and
                all(entry.get(name) == value for name, value in fields.items())]

    def wait_event(self, event, count=1, **fields):
        """Waits until it has logged that so often, and returns the last one."""
        def look():
            found = self.events(event, **fields)
            if len(found) < count and self.process.poll() is not None and event != "pool_stopped":
                self.case.fail(f"thd ended before {event} {fields}:\n{self.log_text()}")
            return found if len(found) >= count else None
        return wait_for(look, lambda: f"{event} {fields} in\n{self.log_text()}")[-1]

    def wait_ready(self):
        self.wait_event("pool_ready")
        return self

    # ---- its processes ----

    def processes(self):
        """Names to pids, as ps shows them: {"dispatcher": 12, "worker 1": 13, …}."""
        found = {}
        for pid in children(self.pid):
            match = re.match(r"thd: (worker \d+|[a-z]+)", title(pid))
            if match and is_alive(pid):
                found[match[1]] = pid
        return found

    def pid_of(self, name):
        """The pid of a process that may just be starting."""
        return wait_for(lambda: self.processes().get(name), f"process {name}")

    def wait_replaced(self, name, pid):
        """Waits until another process has the place of one that was killed."""
        return wait_for(lambda: (self.processes().get(name, pid) != pid and
                                 self.processes().get(name)), f"a new {name}")

    # ---- its end ----

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, deadline=DEADLINE):
        """Its exit code, once it has ended."""
        try:
            return self.process.wait(timeout=deadline)
        except subprocess.TimeoutExpired:
            self.case.fail(f"thd did not end in time:\n{self.log_text()}")

    def stop(self, number=SIGTERM):
        """Ends it, and returns its exit code."""
        self.signal(number)
        return self.wait()

    def kill(self):
        """As a power cut would, but for this pool alone: the master first, the rest by itself."""
        self.process.kill()
        self.process.wait()


class DaemonCase(Case):
    """A test with a folder, a SQLite file and any number of pools on it."""

    def setUp(self):
        super().setUp()
        self.pools = []
        self.addCleanup(self.end_pools)

    def end_pools(self):
        for pool in self.pools:
            if pool.process.poll() is None:
                pool.process.kill()
                pool.process.wait()
            text = pool.log_text()
            self.assertNotIn("Sanitizer", text)
            self.assertNotIn("runtime error", text)
            self.assertNotIn("Assertion", text)
        wait_for(lambda: not living_in(self.folder),
                 lambda: "the end of " + ", ".join(map(title, living_in(self.folder))))

    def configure(self, handlers, pool=None, name="jobs.yaml", **sections):
        """Writes a config; values are written as JSON, which YAML is made of."""
        settings = {"pool": {"num_workers": 2, **(pool or {})},
                    "log": {"level": "debug", "format": "json"},
                    "handlers": handlers, **sections}
        return self.write(name, json.dumps(settings, indent=1))

    def start(self, config=None, *arguments, env=None, backend=True):
        """Starts thd without waiting for anything."""
        config = config or self.path("jobs.yaml")
        pool = Pool(self, ["--config", config, *arguments], self.environment_with(env, backend),
                    f"pool{len(self.pools) + 1}")
        self.pools.append(pool)
        return pool

    def start_pool(self, handlers=None, pool=None, arguments=(), env=None, **sections):
        """Writes a config with these handlers and starts a pool that is ready."""
        if handlers is not None:
            self.configure(handlers, pool, **sections)
        return self.start(None, *arguments, env=env).wait_ready()

    def wait_state(self, job_id, state):
        """Waits until the job is there, and returns it."""
        def look():
            job = self.job(job_id)
            return job if job["state"] == state else None
        return wait_for(look, lambda: f"{state}, not {self.job(job_id)}, in\n" +
                        "\n".join(pool.log_text() for pool in self.pools))

    def run_job(self, job_type, *arguments, state="done", **options):
        """Enqueues a job, waits for its end, and returns it."""
        return self.wait_state(self.enqueue(job_type, *arguments, **options), state)

    def script(self, name, text):
        """An executable shell script in the folder."""
        path = self.write(name, "#!/bin/sh\n" + text)
        os.chmod(path, 0o755)
        return path

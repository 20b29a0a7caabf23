"""What thd says: to programs, to journald, to people at a terminal, and to nobody who listens."""
import fcntl
import json
import os
import pty
import re
import signal
import socket
import subprocess
import unittest
from pathlib import Path

from daemon import THD, DaemonCase, wait_for

SOURCE = Path(os.environ.get("TH_SOURCE_DIR", Path(__file__).parents[2]))
FIELD = r'[a-z_]+=(?:[^\s"=\\]+|"(?:[^"\\]|\\.)*")'
LOGFMT = re.compile(rf"{FIELD}(?: {FIELD})*")
CALL = re.compile(r"\blog_(?:at\([^,]*,|(?:error|warning|info|debug)\()([^,]*),|#define EVENT (.*)")

HANDLERS = {
    "hello": {"command": ["sh", "-c", 'echo "say \\"hello\\" = a b"']},
    "flaky": {"command": "echo no luck >&2; exit 3", "max_attempts": 2, "retry": ["10ms"]},
    "later": {"command": "exit 75", "retry": ["1h"]},
    "gone": {"command": ["./nowhere"]},
    "slow": {"command": "echo started; exec sleep 100"},
    "chatty": {"command": "i=0; while [ $i -lt 900 ]; do i=$((i+1)); echo $i " + "x" * 500 + "; done"},
}
QUICK = {"num_workers": 2, "lease": "3s", "heartbeat_interval": "200ms", "kill_grace": "100ms"}


class Reader:
    """What has come out of a pipe, a socket or a terminal so far."""

    def __init__(self, fd):
        self.fd, self.data = fd, b""
        os.set_blocking(fd, False)

    def text(self):
        try:
            while chunk := os.read(self.fd, 65536):
                self.data += chunk
        except OSError:  # nothing more for now, or the terminal was left by its last user
            pass
        return self.data.decode().replace("\r\n", "\n")

    def lines(self):
        return self.text().splitlines()

    def wait(self, *parts):
        """Waits until all of these were seen."""
        for part in parts:
            wait_for(lambda: re.search(part, self.text()), lambda: f"{part} in\n{self.text()}")


class LogCase(DaemonCase):
    """A pool whose stderr is something else than a file."""

    def launch(self, stderr, form="logfmt", env=None):
        self.configure(HANDLERS, QUICK, log={"level": "info", "format": form})
        process = subprocess.Popen(
            [THD, "--config", "jobs.yaml"], cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=stderr, env=self.environment_with(env, True),
            start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def launch_on_pipe(self, form="logfmt", size=None, **options):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        if size is not None:
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, size)
        process = self.launch(writer, form, **options)
        os.close(writer)
        return process, Reader(reader)

    def run_some(self):
        """A job for every kind of end."""
        self.run_job("hello")
        self.run_job("flaky", state="dead")
        self.run_job("later", state="scheduled")
        self.enqueue("gone")
        wait_for(lambda: self.objects("stats")[0]["cannot_start"] == 1, "it to be set aside")

    def end(self, process):
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(), 0)


class Programs(LogCase):
    def test_the_lines_of_every_process_arrive_in_a_pipe(self):
        process, log = self.launch_on_pipe("json")
        log.wait("pool_ready")
        self.run_some()
        self.end(process)
        log.wait("pool_stopped")
        events = [json.loads(line) for line in log.lines()]
        self.assertLessEqual(
            {"pool_ready", "pool_draining", "pool_stopped", "process_started", "process_exited",
             "job_done", "job_retry", "job_dead", "job_snoozed", "job_output", "start_failed"},
            {event["event"] for event in events})
        self.assertLessEqual({"master", "dispatcher"}, {event["process"] for event in events})
        for event in events:
            self.assertEqual(list(event)[:5], ["time", "level", "event", "pool", "process"])
            self.assertRegex(event["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
        [output] = [event for event in events if event.get("type") == "hello"
                    and event["event"] == "job_output"]
        self.assertEqual(output["line"], 'say "hello" = a b')
        self.assertTrue(output["process"].startswith("worker "))

    def test_logfmt_is_fields_and_nothing_else(self):
        process, log = self.launch_on_pipe()
        log.wait("pool_ready")
        self.run_some()
        self.end(process)
        log.wait("pool_stopped")
        for line in log.lines():
            self.assertRegex(line, r"^time=\S+Z level=\w+ event=\w+ pool=\S+ process=")
            self.assertTrue(LOGFMT.fullmatch(line), line)
        self.assertIn(r'line="say \"hello\" = a b"', log.text())
        self.assertNotIn("TaskHarbor", log.text())  # the greeting is for people

    def test_journald_gets_priorities_and_no_time(self):
        ours, theirs = socket.socketpair()
        self.addCleanup(ours.close)
        status = os.fstat(theirs.fileno())
        stream = {"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"}
        process, log = self.launch(theirs, env=stream), Reader(ours.fileno())
        theirs.close()
        log.wait("pool_ready")
        self.run_some()
        self.end(process)
        log.wait("pool_stopped")
        for line in log.lines():
            self.assertRegex(line, r"^<[3467]>level=\w+ event=\w+ pool=")
        for part in ("<6>level=info event=job_done", "<4>level=warning event=job_retry",
                     "<3>level=error event=job_dead"):
            self.assertIn(part, log.text())

    def test_a_journal_that_is_not_our_stderr_is_none(self):
        _, log = self.launch_on_pipe(env={"JOURNAL_STREAM": "1:1"})
        log.wait("pool_ready")
        self.assertTrue(log.text().startswith("time="))


class Stalls(LogCase):
    def test_a_reader_that_stalls_does_not_hold_up_the_pool_and_learns_what_it_missed(self):
        _, log = self.launch_on_pipe("json", size=4096)
        for _ in range(4):
            self.run_job("chatty")
        log.wait('"event":"lines_dropped"[^\n]*"count":')
        self.run_job("hello")
        log.wait('"event":"job_done"[^\n]*"type":"hello"')
        for line in log.lines():
            json.loads(line)

    def test_a_reader_that_goes_away_does_not_end_the_pool(self):
        process, log = self.launch_on_pipe()
        log.wait("pool_ready")
        os.dup2(os.open("/dev/null", os.O_RDONLY), log.fd)
        self.run_job("chatty")
        self.end(process)


class Terminal(LogCase):
    def on_terminal(self, *arguments, env=None, handlers=None, **sections):
        """Runs thd in the foreground of a terminal; returns its pid and what is on the screen."""
        self.configure(HANDLERS if handlers is None else handlers, QUICK, log={"level": "info"},
                       **sections)
        settings = self.environment_with(env, False)
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(THD, [THD, *arguments], settings)
        self.addCleanup(os.close, fd)
        self.addCleanup(self.bury, pid)
        return pid, Reader(fd)

    @staticmethod
    def bury(pid):
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass

    def code_of(self, pid):
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def test_people_are_told_what_runs_and_what_to_type(self):
        _, screen = self.on_terminal()
        screen.wait("Ctrl-C lets")
        for line in ("  config    jobs.yaml", f"  jobs      sqlite:{self.database}",
                     "  workers   2", "  queues    default",
                     "  handlers  hello, flaky, later, gone, slow, chatty"):
            self.assertIn(line, screen.lines())
        [command] = [line for line in screen.lines() if line.startswith("  thctl enqueue")]
        self.assertEqual(command, "  thctl enqueue hello '{}' --wait")
        self.ok(*"enqueue hello {} --wait".split(), backend=False)

    def test_the_advice_leads_to_the_same_jobs(self):
        for arguments, client in (
                (["--config", "./jobs.yaml"], "thctl --config ./jobs.yaml ls"),
                (["--config", self.path("jobs.yaml")], f"thctl --config {self.path('jobs.yaml')} ls"),
                (["--backend", "sqlite:a b.db"], f"thctl --backend 'sqlite:{self.path('a b.db')}' ls")):
            with self.subTest(client):
                pid, screen = self.on_terminal(*arguments)
                screen.wait("Ctrl-C lets")
                self.assertIn("  " + client, screen.lines())
                os.write(screen.fd, b"\x03")
                self.assertEqual(self.code_of(pid), 0)

    def test_without_a_handler_nobody_is_told_to_enqueue(self):
        _, screen = self.on_terminal(handlers={}, http={"listen": "127.0.0.1:0"})
        screen.wait("Ctrl-C lets")
        self.assertIn("handlers  none: its jobs are for remote workers", screen.text())
        self.assertNotIn("enqueue", screen.text())

    def test_lines_are_short_and_coloured(self):
        _, screen = self.on_terminal()
        screen.wait("Ctrl-C lets")
        self.run_some()
        screen.wait("job_snoozed")
        plain = re.sub(r"\033\[[0-9;]*m", "", screen.text())
        self.assertNotEqual(plain, screen.text())
        for line in (r'worker \d     job_output job=\S+ type=hello stream=stdout line=say "hello" = a b',
                     r"dispatcher   job_done job=\S+ type=hello ",
                     r"dispatcher   warning job_retry .* error=exit code 3: no luck",
                     r"dispatcher   error job_dead .* reason=exhausted .* error=exit code 3: no luck",
                     r"dispatcher   error start_failed handler=gone "):
            self.assertRegex(plain, rf"(?m)^\d\d:\d\d:\d\d\.\d\d\d {line}")

    def test_no_color_means_none(self):
        _, screen = self.on_terminal(env={"NO_COLOR": "1"})
        screen.wait("Ctrl-C lets")
        self.run_some()
        screen.wait("job_snoozed")
        self.assertNotIn("\033", screen.text())

    def test_ctrl_c_ends_an_idle_pool(self):
        pid, screen = self.on_terminal(env={"NO_COLOR": "1"})
        screen.wait("Ctrl-C lets")
        os.write(screen.fd, b"\x03")
        self.assertEqual(self.code_of(pid), 0)
        self.assertRegex(screen.text(), r"\^C\n\d\d:\d\d:\d\d\.\d\d\d master       pool_draining ")
        self.assertTrue(screen.lines()[-1].endswith("pool_stopped exit_code=0"), screen.text())

    def test_ctrl_c_says_what_it_waits_for_and_a_second_one_does_not_wait(self):
        pid, screen = self.on_terminal(env={"NO_COLOR": "1"})
        screen.wait("Ctrl-C lets")
        job = self.enqueue("slow")
        screen.wait("line=started")
        os.write(screen.fd, b"\x03")
        screen.wait("Waits up to 30s for 1 running job. Ctrl-C again stops it")
        screen.wait("pool_draining")
        os.write(screen.fd, b"\x03")
        self.assertEqual(self.code_of(pid), 0)
        screen.wait(f"job_released job={job} type=slow queue=default reason=stopped with its pool")
        self.assertEqual(self.job(job)["state"], "ready")


class Manual(unittest.TestCase):
    def test_the_manual_has_every_event_and_no_other(self):
        calls = [call for path in (SOURCE / "src").rglob("*.c")
                 for call in CALL.findall(path.read_text())]
        events = set(re.findall(r'"(\w+)"', str(calls)))
        page = (SOURCE / "man/thd.8").read_text()
        section = page[page.index(".Sh LOG"):page.index(".Sh EXIT STATUS")]
        self.assertEqual(set(re.findall(r"(?m)^\.It Li (\w+)$", section)), events)


if __name__ == "__main__":
    unittest.main()

"""
What went wrong with thd once, and must not again.
"""
import os
import signal
import subprocess
import sqlite3

from daemon import THD, DaemonCase, children, wait_for


class Regressions(DaemonCase):

    def test_log_lines_got_into_the_database_when_stderr_was_a_pipe(self):
        """A process took the descriptor of its log with it, and a file got the same number."""
        self.configure({"true": {"command": ["/bin/true"]}})
        ids = [self.enqueue("true") for _ in range(20)]
        done = subprocess.run(
            ["/bin/sh", "-c", 'exec "$0" --once 3</dev/null 4</dev/null 5</dev/null', THD],
            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=self.environment_with(None, True), timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.decode().count('"event":"job_done"'), len(ids), done.stderr)
        database = sqlite3.connect(self.database)
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        database.close()

    def test_a_queue_with_max_running_took_one_job_every_five_seconds(self):
        """It was taken for an empty one until the slow scan."""
        self.configure({"true": {"command": ["/bin/true"]}},
                       queues={"default": {"max_running": 1}})
        for _ in range(6):
            self.enqueue("true")
        pool = self.start(None, "--once")
        self.assertEqual(pool.wait(), 0)
        self.assertEqual([job["state"] for job in self.jobs()], ["done"] * 6)
        self.assertEqual(len(pool.events("job_done")), 6)

    def test_an_on_dead_job_that_did_not_fit_stopped_the_dispatcher(self):
        self.configure({"bad": {"command": "head -c 3000 /dev/zero | tr '\\0' e >&2; exit 65",
                                "on_dead": {"type": "alert"}},
                        "alert": {"command": ["/bin/true"]}},
                       max_payload="1K")
        pool = self.start_pool()
        job = self.run_job("bad", state="dead")
        [alert] = wait_for(lambda: self.jobs("--type", "alert", "--state", "done"), "the alert")
        self.assertEqual(alert["payload"], [job["id"], None, None])
        self.assertEqual(pool.events("process_failed"), [])

    def test_a_frozen_worker_started_a_job_that_ran_elsewhere_by_then(self):
        """A pool that slept through its leases must not start what it had been handed before."""
        self.configure({"long": {"command": "echo $TH_EXECUTION >>starts; sleep 3"}},
                       pool={"num_workers": 1, "lease": "1s", "heartbeat_interval": "300ms",
                             "kill_grace": "100ms"})
        first = self.start().wait_ready()
        processes = first.processes()
        os.kill(processes["worker 1"], signal.SIGSTOP)
        job = self.enqueue("long")
        self.wait_state(job, "running")
        for pid in (first.pid, processes["dispatcher"], processes["heartbeater"]):
            os.kill(pid, signal.SIGSTOP)
        second = self.start().wait_ready()
        second.wait_event("job_stalled")
        wait_for(lambda: os.path.exists(self.path("starts")), "the run of the second pool")
        os.kill(processes["worker 1"], signal.SIGCONT)
        wait_for(lambda: self.is_asleep(processes["worker 1"]), "the worker to be done with it")
        for pid in (processes["dispatcher"], processes["heartbeater"], first.pid):
            os.kill(pid, signal.SIGCONT)
        self.wait_state(job, "done")
        with open(self.path("starts"), encoding="utf-8") as starts:
            self.assertEqual(len(starts.read().split()), 1)

    def is_asleep(self, pid):
        """Waiting in its loop, with nothing started."""
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] == "S" and not children(pid)

"""
running.py - what the tests of running jobs share: a pool that soon notices things, jobs that wait
to be let go.
"""
import os
from datetime import datetime
from signal import SIGCONT, SIGSTOP

from daemon import DaemonCase, title, wait_for

# A pool that soon sees what happens around it.
QUICK = {"lease": "2s", "heartbeat_interval": "300ms", "kill_grace": "100ms",
         "reaper_interval": "1s"}

# Failed jobs that are soon tried again.
AGAIN = {"max_attempts": 2, "retry": {"policy": "fixed", "base_delay": "10ms"}}

# Shows that it runs, and waits to be let go, or for its turn.
HOLD = 'touch "$TH_JOB_ID.runs"; until [ -e go ] || [ -e "$TH_JOB_ID.go" ]; do sleep 0.01; done'


def moment(text):
    """A time as programs get it, in seconds."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class RunningCase(DaemonCase):
    """A test with a pool that runs commands."""

    def start_quick(self, handlers, pool=None, arguments=(), env=None, **sections):
        return self.start_pool(handlers, {**QUICK, **(pool or {})}, arguments, env,
                               **{"defaults": AGAIN, **sections})

    def read(self, name):
        try:
            with open(self.path(name), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def enqueue_many(self, count, job_type, queue="default"):
        line = '{"type": "%s", "queue": "%s"}\n' % (job_type, queue)
        self.ok("enqueue", "--bulk", self.write("jobs.jsonl", line * count))

    def stats(self, queue="default"):
        [found] = [stats for stats in self.objects("stats") if stats["queue"] == queue]
        return found

    def wait_stats(self, queue="default", **expected):
        """Waits until the queue has so many jobs in these states."""
        def look():
            stats = self.stats(queue)
            return all(stats[name] == count for name, count in expected.items())
        wait_for(look, lambda: f"{expected}, not {self.stats(queue)}, in\n" +
                 self.pools[-1].log_text())

    def freeze_workers(self, pool, count=2):
        """Stops the workers of a pool, so that jobs are handed out and nobody starts them."""
        return self.freeze(pool, *(f"worker {number}" for number in range(1, count + 1)))

    def freeze(self, pool, *names):
        processes = [pool.pid_of(name) for name in names]
        for pid in processes:
            os.kill(pid, SIGSTOP)
        self.addCleanup(self.thaw, processes)  # stopped, they would not see the end of the pool
        return processes

    def thaw(self, processes):
        for pid in processes:
            if title(pid).startswith("thd: "):
                os.kill(pid, SIGCONT)

    # ---- jobs that hold ----

    def held(self):
        """The jobs that have said that they run."""
        return {name.removesuffix(".runs") for name in os.listdir(self.folder)
                if name.endswith(".runs")}

    def wait_held(self, count=1):
        return wait_for(lambda: len(self.held()) >= count and self.held(),
                        lambda: f"{count} running jobs, not {self.held()}, in\n" +
                        self.pools[-1].log_text())

    def let_go(self, job_id=None):
        self.write(f"{job_id}.go" if job_id else "go", "")

"""
Chaos: kill -9 of anything of a pool, again and again, while jobs run. test_mayhem.py does more.
"""
import os
import random
import signal
import time
import unittest

from chaos_history import History
from chaos_runs import COMMAND, RESIDENT
from daemon import DaemonCase, descendants, living_in, title, wait_for
from plugins import SANITIZER, plugin

KILLS = int(os.environ.get("TH_CHAOS_KILLS", "200"))
SEED = int(os.environ.get("TH_CHAOS_SEED", random.SystemRandom().randrange(1 << 32)))
JOBS = int(os.environ.get("TH_CHAOS_JOBS", str(max(1500, KILLS * 15 // 2))))
PATIENCE = 240

class Chaos(DaemonCase):

    kills, jobs_wanted = KILLS, JOBS
    lease = 1  # seconds

    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.history = History(self.folder, self.lease)
        os.mkdir(self.path("locks"))
        self.environment["ASAN_OPTIONS"] = SANITIZER
        self.script("run", COMMAND)
        self.write("stay.py", RESIDENT)
        self.configure(
            {"work": {"command": ["./run"]}, "plug": {"plugin": plugin("chaotic")},
             "stay": {"resident": ["/usr/bin/python3", "stay.py"]}},
            pool={"num_workers": 4, "lease": f"{self.lease}s", "heartbeat_interval": "300ms",
                  "kill_grace": "100ms", "reaper_interval": "1s", "stale_threshold": "5s"},
            defaults={"max_attempts": 1000000, "max_stalls": 1000000,
                      "retry": {"policy": "fixed", "base_delay": "10ms"}},
            retention={"done": "30d", "done_max": 10000000},
            log={"level": "info", "format": "json"})

    def enqueue_wave(self, numbers):
        """Not all at once: a job that is retried comes soon, and not after a thousand others."""
        types = "work", "plug", "stay"
        lines = "".join('{"type": "%s", "payload": %d, "idempotency_key": "%d"}\n' %
                        (types[number % 3], number, number) for number in numbers)
        wait_for(lambda: self.is_stored(lines), "the store")

    def is_stored(self, lines):
        """
        Whether they are; on a busy machine the store may be taken for one that is away. Once in
        doubt they are enqueued again, and their keys keep them from being stored twice.
        """
        result = self.thctl("enqueue", "--bulk", "-", stdin=lines)
        self.assertIn(result.code, (0, 69), result)
        return result.code == 0

    def victims(self, pool):
        """The master, its processes, and what they run."""
        return [pool.pid, *descendants(pool.pid)]

    def start_pools(self):
        return [self.start()]

    def kill_one(self, pools):
        """Kills somebody of the pools; returns those that are there afterwards."""
        victim = self.random.choice([pid for pool in pools for pid in self.victims(pool)])
        self.history.note("kill", pids=[victim], title=title(victim))
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            return pools
        return [self.replace(pool) if pool.pid == victim else pool for pool in pools]

    def replace(self, pool):
        pool.process.wait()
        return self.start()

    def count_done(self):
        return sum(stats["done"] for stats in self.objects("stats"))

    def test_whatever_is_killed_every_job_ends_done_and_no_two_runs_of_one_overlap(self):
        kills, jobs = self.kills, self.jobs_wanted
        print(f"seed {SEED}, {kills} kills, {jobs} jobs", flush=True)
        pools = self.start_pools()
        for kill in range(kills):
            self.enqueue_wave(range(jobs * kill // kills, jobs * (kill + 1) // kills))
            time.sleep(self.random.uniform(0.05, 0.25))  # the pace of the kills, not a wait
            pools = self.kill_one(pools)
        wait_for(lambda: self.count_done() == jobs,
                 lambda: f"{jobs} done jobs: {self.objects('stats')}\n" +
                 "\n".join(pool.log_text()[-4000:] for pool in pools), PATIENCE)
        for pool in pools:
            self.assertEqual(pool.stop(), 0, pool.log_text()[-4000:])

        self.assertEqual({job["state"] for job in self.jobs()}, {"done"})
        self.assertFalse(os.path.exists(self.path("overlaps")), self.read("overlaps"))
        self.assertEqual(len(set(self.read("ends").split())), jobs)
        self.assertEqual([title(pid) for pid in living_in(self.folder)], [])
        self.assertTrue(any("killed by SIGSEGV in plugin chaotic" in pool.log_text()
                            for pool in self.pools))

    def read(self, name):
        try:
            with open(self.path(name), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""


if __name__ == "__main__":
    unittest.main()

"""
pool_bench.py - how fast a pool runs commands, next to bare posix_spawn of the same run.

    pool_bench.py BUILD_FOLDER SCRATCH_FOLDER [JOBS]
"""
import datetime
import json
import os
import statistics
import subprocess
import sys
import time

WORKERS = 4
ROUNDS = 5
PICKUPS = 500


class Bench:
    def __init__(self, build, scratch, jobs):
        self.build, self.scratch, self.jobs = os.path.abspath(build), scratch, jobs
        self.fifo = os.path.join(scratch, "stamps")
        self.backend = "sqlite:" + os.path.join(scratch, "jobs.db")
        os.mkfifo(self.fifo)
        self.config = os.path.join(scratch, "jobs.yaml")
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump({
                "backend": self.backend,
                "pool": {"num_workers": WORKERS},
                "log": {"level": "warning"},
                "handlers": {"true": {"command": ["/bin/true"]},
                             "stamp": {"command": [self.program("stamp"), self.fifo]}},
            }, file)

    def program(self, name):
        return os.path.join(self.build, name)

    def thctl(self, *arguments, stdin=None):
        return subprocess.run([self.program("thctl"), "--config", self.config, *arguments],
                              input=stdin, stdout=subprocess.PIPE, check=True, text=True).stdout

    def bare(self):
        """Seconds for all of them by posix_spawn alone."""
        out = subprocess.run([self.program("bare-spawn"), str(self.jobs), str(WORKERS), "/bin/true"],
                             stdout=subprocess.PIPE, check=True, text=True).stdout
        return int(out) / 1e6

    def stats(self):
        [stats] = [json.loads(line) for line in self.thctl("--json", "stats").splitlines()
                   if json.loads(line)["queue"] == "default"]
        return stats

    def pool(self):
        """Seconds for all of them by the pool: from the resume to the last one's end."""
        done = self.stats()["done"]
        self.thctl("pause", "default")
        self.thctl("enqueue", "--bulk", "-", "--quiet", stdin='{"type": "true"}\n' * self.jobs)
        start = time.time()
        self.thctl("resume", "default")
        while self.stats()["done"] < done + self.jobs:
            time.sleep(0.1)
        newest = max(datetime.datetime.fromisoformat(job["ended_at"])
                     for job in self.ended() if job["ended_at"])
        return newest.timestamp() - start

    def ended(self):
        lines = self.thctl("--json", "ls", "--state", "done", "--limit", "1000000").splitlines()
        return map(json.loads, lines[-self.jobs:])

    def pickup(self):
        """Milliseconds from the enqueue to the first instruction of the command, sorted."""
        out = subprocess.run(
            [self.program("pickup"), self.backend, "stamp", self.fifo, str(PICKUPS)],
            stdout=subprocess.PIPE, check=True, text=True).stdout
        return sorted(int(line) / 1e3 for line in out.splitlines())

    def run(self):
        self.thctl("resume", "default")
        self.thctl("enqueue", "true")
        daemon = subprocess.Popen([self.program("thd"), "--config", self.config])
        try:
            while self.stats()["done"] == 0:
                time.sleep(0.05)
            self.report()
        finally:
            daemon.terminate()
            if daemon.wait() != 0:
                sys.exit("thd failed")

    def report(self):
        ratios, speeds = [], []
        for _ in range(ROUNDS):
            bare, pool = self.bare(), self.pool()
            ratios.append(bare / pool)
            speeds.append(self.jobs / pool)
            print(f"  bare posix_spawn {self.jobs / bare:7.0f}/s   pool {self.jobs / pool:7.0f}/s   "
                  f"ratio {bare / pool:.2f}", flush=True)
        print(f"{self.jobs} jobs of /bin/true, {WORKERS} workers: {statistics.median(speeds):.0f} "
              f"jobs/s, {statistics.median(ratios):.2f} of bare posix_spawn (median)")
        times = self.pickup()
        print(f"pickup of an idle pool, enqueue call to first instruction: "
              f"p50 {times[len(times) // 2]:.2f} ms, p99 {times[len(times) * 99 // 100]:.2f} ms")


if __name__ == "__main__":
    Bench(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 3000).run()

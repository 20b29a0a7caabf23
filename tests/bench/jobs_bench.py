"""
jobs_bench.py - how many jobs a second a whole pool runs when the jobs do nothing, next to the bare
SQLite loop and the store's own exchange of the same run.

    jobs_bench.py BUILD_FOLDER SCRATCH_FOLDER [JOBS]
"""
import json
import os
import re
import statistics
import subprocess
import sys
import time

WORKERS = 2
ROUNDS = 3
PAYLOAD = {"text": "x" * 89}  # 100 bytes
EXCHANGE = re.compile(r"^exchange, 1000, retention\.done 0\s+([\d,]+)\s+([\d,]+)\s+([\d,]+)", re.M)


class Bench:
    def __init__(self, build, scratch, jobs):
        self.build, self.scratch, self.jobs = os.path.abspath(build), scratch, jobs
        self.config = os.path.join(scratch, "jobs.yaml")
        source = os.path.dirname(os.path.abspath(__file__))
        resident = os.path.join(source, "../../examples/residents/echo.py")
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump({
                "backend": "sqlite:" + os.path.join(scratch, "jobs.db"),
                "pool": {"num_workers": WORKERS},
                "retention": {"done": 0},
                "log": {"level": "warning"},
                "handlers": {"noop": {"plugin": self.program("libnoop.so")},
                             "echo": {"resident": ["/usr/bin/python3", resident]}},
            }, file)

    def program(self, name):
        return os.path.join(self.build, name)

    def thctl(self, *arguments, stdin=None):
        return subprocess.run([self.program("thctl"), "--config", self.config, *arguments],
                              input=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=True, text=True).stdout

    def done(self):
        return sum(json.loads(line)["done_total"]
                   for line in self.thctl("--json", "stats").splitlines())

    def run_jobs(self, job_type):
        """Jobs a second, all of them stored beforehand."""
        self.thctl("pause", "default")
        before = self.done()
        line = json.dumps({"type": job_type, "payload": PAYLOAD}) + "\n"
        self.thctl("enqueue", "--bulk", "-", "--quiet", stdin=line * self.jobs)
        daemon = subprocess.Popen([self.program("thd"), "--config", self.config])
        while not json.loads(self.thctl("--json", "pools") or "{}"):
            time.sleep(0.05)
        start = time.monotonic()
        self.thctl("resume", "default")
        while self.done() < before + self.jobs:
            time.sleep(0.02)
        seconds = time.monotonic() - start
        daemon.terminate()
        if daemon.wait() != 0:
            sys.exit("thd failed")
        return self.jobs / seconds

    def store(self):
        """The store's exchange and the minimal loop, in jobs a second."""
        out = subprocess.run([self.program("store-bench"), self.scratch, "1000"],
                             stdout=subprocess.PIPE, check=True, text=True).stdout
        exchange, _, minimal = (int(number.replace(",", "")) for number in
                                EXCHANGE.search(out).groups())
        return exchange, minimal

    def run(self):
        exchange, minimal = self.store()
        print(f"the store alone: exchange {exchange}/s, minimal loop {minimal}/s", flush=True)
        for job_type, what in (("noop", "no-op plugin"), ("echo", "resident in Python")):
            speed = statistics.median(self.run_jobs(job_type) for _ in range(ROUNDS))
            print(f"{self.jobs} jobs, {what}, {WORKERS} workers: {speed:.0f} jobs/s, "
                  f"{speed / minimal:.2f} of the minimal loop, {speed / exchange:.2f} of exchange",
                  flush=True)


if __name__ == "__main__":
    Bench(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 100000).run()

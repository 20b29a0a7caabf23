"""
jobs_bench.py - how many jobs a second a whole pool runs when the jobs do nothing, next to the bare
SQLite loop and the store's own exchange of the same run; and how soon an idle pool starts one. On
another backend only the pool is measured: `scripts/bench store` has what to compare it with.

    jobs_bench.py BUILD_FOLDER SCRATCH_FOLDER [JOBS [URL]]
"""
import contextlib
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import time

WORKERS = 2
ROUNDS = 5
PICKUPS = 200
LATER = 300  # milliseconds, of a job that is not for now
PAYLOAD = {"text": "x" * 89}  # 100 bytes
EXCHANGE = re.compile(r"retention\.done 0\s+(\d+) \|\s+\d+\s+[\d.]+ \|\s+(\d+)")
KINDS = {"plugin": "noop", "resident": "echo"}


def machine_busy():
    """The CPU time that everybody on this machine has used, in seconds: a server's is part of what a job costs."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq = map(int, file.readline().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


class Bench:
    def __init__(self, build, scratch, jobs=100000, url=None, is_keeping=False):
        self.build, self.scratch, self.jobs = os.path.abspath(build), scratch, int(jobs)
        self.backend = url or "sqlite:" + os.path.join(scratch, "jobs.db")
        self.is_sqlite = self.backend.startswith("sqlite:")
        self.busy = 0  # seconds of CPU time that the last jobs took
        self.fifo = os.path.join(scratch, "stamps")
        os.mkfifo(self.fifo)
        self.config = os.path.join(scratch, "jobs.yaml")
        here = os.path.dirname(os.path.abspath(__file__))
        resident = {"resident": ["/usr/bin/python3", os.path.join(here, "pool", "resident.py")]}
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump({
                "backend": self.backend,
                "pool": {"num_workers": WORKERS},
                **({} if is_keeping else {"retention": {"done": 0}}),
                "log": {"level": "error"},
                "handlers": {"noop": {"plugin": self.program("libnoop.so")}, "echo": resident,
                             "stamp": {"plugin": self.program("libstamp_plugin.so")},
                             "stamp:resident": resident},
            }, file)

    def program(self, name):
        return os.path.join(self.build, name)

    def thctl(self, *arguments, stdin=None):
        return subprocess.run([self.program("thctl"), "--config", self.config, *arguments],
                              input=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=True, text=True).stdout

    def start(self):
        daemon = subprocess.Popen([self.program("thd"), "--config", self.config])
        while not json.loads(self.thctl("--json", "pools") or "{}"):
            time.sleep(0.05)
        return daemon

    def stop(self, daemon):
        daemon.terminate()
        if daemon.wait() != 0:
            sys.exit("thd failed")

    def run_jobs(self, job_type):
        """
        Jobs a second, all of them stored beforehand, from the resume on. The last one tells when it
        is started: whoever asks all the time takes a part of the two cores, and more as time goes by.
        """
        self.thctl("pause", "default")
        line = json.dumps({"type": job_type, "payload": PAYLOAD}) + "\n"
        last = json.dumps({"type": "stamp", "payload": self.fifo, "priority": 9})
        self.thctl("enqueue", "--bulk", "-", "--quiet", stdin=line * self.jobs + last)
        before, daemon = self.done(), self.start()
        start, busy = time.monotonic(), machine_busy()
        self.thctl("resume", "default")
        with open(self.fifo, encoding="ascii") as told:
            told.readline()
        while self.done() <= before + self.jobs:
            time.sleep(0.005)
        seconds, self.busy = time.monotonic() - start, machine_busy() - busy
        self.stop(daemon)
        return self.jobs / seconds

    def done(self):
        """How many were ever done. In SQLite by a look at one row: thctl takes its part of a core."""
        if not self.is_sqlite:
            return sum(json.loads(line)["done_total"]
                       for line in self.thctl("--json", "stats").splitlines())
        database = self.backend.removeprefix("sqlite:").partition("?")[0]
        with contextlib.closing(sqlite3.connect(database)) as look:
            return look.execute("SELECT sum(done_total) FROM queue").fetchone()[0]

    def store(self):
        """The store's exchange and the minimal loop, in jobs a second."""
        out = subprocess.run([self.program("store-bench"), self.scratch, "exchange"],
                             stdout=subprocess.PIPE, check=True, text=True).stdout
        return map(int, EXCHANGE.search(out).groups())

    def pickup(self, job_type, count=PICKUPS, *delay):
        """Milliseconds from the enqueue, and the delay, to the handler's first instruction, sorted."""
        out = subprocess.run([self.program("pickup"), self.backend, job_type, self.fifo,
                              str(count), *map(str, delay)],
                             stdout=subprocess.PIPE, check=True, text=True).stdout
        return sorted(int(line) / 1e3 for line in out.splitlines())

    def measure_speed(self):
        found = {kind: [] for kind in KINDS}
        for _ in range(ROUNDS):
            exchange, minimal = self.store() if self.is_sqlite else (0, 0)
            for kind, job_type in KINDS.items():
                found[kind].append((self.run_jobs(job_type), exchange, minimal))
            print("  " + "   ".join(f"{kind} {rounds[-1][0]:.0f}/s" for kind, rounds in found.items()) +
                  (f"   exchange {exchange}/s, minimal loop {minimal}/s" if exchange else ""),
                  flush=True)
        for kind, rounds in found.items():
            speed = statistics.median(speed for speed, _, _ in rounds)
            print(f"{self.jobs} jobs, {kind}, {WORKERS} workers: {speed:.0f} jobs/s" +
                  (self.ratios(rounds) if self.is_sqlite else ""), flush=True)

    def ratios(self, rounds):
        of_exchange = statistics.median(speed / exchange for speed, exchange, _ in rounds)
        of_minimal = statistics.median(speed / minimal for speed, _, minimal in rounds)
        return f", {of_minimal:.2f} of the minimal loop, {of_exchange:.2f} of exchange (medians)"

    def measure_pickup(self):
        daemon = self.start()
        for kind, job_type in ("plugin", "stamp"), ("resident", "stamp:resident"):
            times = self.pickup(job_type)
            print(f"pickup of an idle pool by a {kind}: p50 {times[len(times) // 2]:.2f} ms, "
                  f"p99 {times[len(times) * 99 // 100]:.2f} ms")
        times = self.pickup("stamp", PICKUPS // 4, LATER)
        print(f"a job for +{LATER} ms is late by: p50 {times[len(times) // 2]:.2f} ms, "
              f"at most {times[-1]:.2f} ms")
        self.stop(daemon)

    def run(self):
        self.measure_speed()
        self.measure_pickup()


if __name__ == "__main__":
    Bench(*sys.argv[1:]).run()

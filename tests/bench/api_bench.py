"""
api_bench.py - what the HTTP API costs: beside a bare HTTP server, beside thctl, with few and with many jobs stored, and
when nobody asks. What is compared takes turns, and each ratio is the median of those of the rounds.

    api_bench.py BUILD_FOLDER SCRATCH_FOLDER
"""
import contextlib
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import time

import idle_bench

ROUNDS = 5
SECONDS = 3  # of each measurement in a round
LOOK_SECONDS = 1  # the same, of a list
CLIENTS = 256
ARRAY = 100
BULK = 100000
WORKERS = 4
FEW, MANY = 1000, 1000000
WATCHED = 20  # seconds in which the CPU time of idle processes is taken
JOB = {"type": "noop", "payload": {"text": "x" * 89}}
STATES = ["scheduled", "ready", "blocked", "running", "retry", "done", "dead", "cancelled"]
LISTS = ["/api/jobs", *(f"/api/jobs?state={state}" for state in STATES)]
DOORS = ["http", "gate", "browse"]
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "http", "api.lua")


def wrk(address, path, connections, *way, threads=1, seconds=SECONDS):
    """What so many connections have seen: see api.lua."""
    out = subprocess.run(["wrk", "-t", str(threads), "-c", str(connections), "-d", f"{seconds}s", "--timeout", "30s",
                          "-s", SCRIPT, f"http://{address}{path}", "--", *way],
                         stdout=subprocess.PIPE, check=True, text=True).stdout
    seen = json.loads(out.splitlines()[-1])
    if seen["errors"] or seen["lost"]:
        sys.exit(f"api_bench: {way[0]} {path} went wrong:\n{out}")
    return seen


class Server:
    """Something at an address, and the processes that it is there for."""

    def post(self, connections, jobs=JOB):
        """Requests a second."""
        return wrk(self.address, "/api/jobs", connections, "post", json.dumps(jobs))["rate"]

    def post_with_cost(self, connections):
        """The same, and microseconds of CPU time for each."""
        pids = self.pids()
        before, rate = idle_bench.cpu_time(pids), self.post(connections)
        return rate, 1e6 * (idle_bench.cpu_time(pids) - before) / (rate * SECONDS)


class Pool(Server):
    """A thd with the API, on a store of its own. Its jobs are for remote workers."""

    def __init__(self, build, scratch, name, url=None):
        self.build, self.config = os.path.abspath(build), os.path.join(scratch, name + ".yaml")
        self.log = os.path.join(scratch, name + ".log")
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump({"backend": url or f"sqlite:{scratch}/{name}.db?synchronous={name}",
                       "pool": {"num_workers": 1, "enable_reaper": False},
                       "queues": {"default": {"remote": True}},
                       "http": {"listen": "127.0.0.1:0"}}, file)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([self.program("thd"), "--config", self.config], stdout=log, stderr=log)
        idle_bench.wait_for(lambda: "event=pool_ready" in idle_bench.read(self.log))
        self.address = re.search(r"event=listening .*address=(\S+)", idle_bench.read(self.log))[1]
        idle_bench.wait_for(lambda: self.status("GET", "/ready") == 200)

    def program(self, name):
        return os.path.join(self.build, name)

    def status(self, method, path, body=None):
        with contextlib.closing(http.client.HTTPConnection(self.address)) as connection:
            connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
            return connection.getresponse().status

    def work(self):
        """Jobs a second, claimed and completed by workers with a connection each."""
        return wrk(self.address, "/api/claim", WORKERS, "work", threads=WORKERS)["rate"]

    def p99(self, path):
        """Milliseconds, of two people who look at nothing else."""
        return wrk(self.address, path, 2, "get", seconds=LOOK_SECONDS)["p99"]

    def bulk(self):
        """Jobs a second by thctl enqueue --bulk."""
        lines, start = (json.dumps(JOB) + "\n") * BULK, time.monotonic()
        subprocess.run([self.program("thctl"), "--config", self.config, "enqueue", "--bulk", "-", "--quiet"],
                       input=lines, stderr=subprocess.DEVNULL, text=True, check=True)
        return BULK / (time.monotonic() - start)

    def pids(self):
        """Of those that are there for the API alone."""
        pid = self.process.pid
        children = idle_bench.read(f"/proc/{pid}/task/{pid}/children").split()
        titles = tuple("thd: " + door for door in DOORS)
        found = [child for child in children if idle_bench.read(f"/proc/{child}/cmdline").startswith(titles)]
        if len(found) != len(DOORS):
            sys.exit("api_bench: some of the processes are not there")
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        if self.process.wait() != 0:
            sys.exit("api_bench: thd failed\n" + idle_bench.read(self.log))


class Hello(Server):
    """Our HTTP server with nothing behind it."""

    def __init__(self, build):
        self.process = subprocess.Popen([os.path.join(build, "http-bench"), "serve"], stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def pids(self):
        return [self.process.pid]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def tell(what, value, aim, is_met, rest):
    print(f"{what}: {value} (aim: {aim}{'' if is_met else '; NOT MET'}){rest}", flush=True)


def tell_ratio(what, aim, pairs):
    """Of rates: pairs of what is measured, and what it is measured by."""
    ratio = statistics.median(rate / base for rate, base in pairs)
    rate, base = (statistics.median(rates) for rates in zip(*pairs))
    tell(what, f"{ratio:.2f}", f"at least {aim}", ratio >= aim, f", {rate:.0f}/s to {base:.0f}/s")


def measure_posts(build, normal, full):
    with Hello(build) as hello:
        rounds = [(hello.post_with_cost(CLIENTS), normal.post_with_cost(CLIENTS), full.post(CLIENTS), full.post(1))
                  for _ in range(ROUNDS)]
    tell_ratio(f"single jobs on {CLIENTS} connections, synchronous=normal, to the bare server", 0.25,
               [(jobs[0], bare[0]) for bare, jobs, _, _ in rounds])
    cost, bare_cost = (statistics.median(round_[which][1] for round_ in rounds) for which in (1, 0))
    print(f"  CPU time: {cost:.1f} us for a job in all of {', '.join(DOORS)}; {bare_cost:.1f} us for the bare answer")
    tell_ratio(f"single jobs on {CLIENTS} connections, synchronous=full, to a commit for each", 5,
               [(together, alone) for _, _, together, alone in rounds])


def measure_arrays(pool):
    tell_ratio(f"jobs in arrays of {ARRAY}, to thctl enqueue --bulk", 0.5,
               [(ARRAY * pool.post(WORKERS, [JOB] * ARRAY), pool.bulk()) for _ in range(ROUNDS)])


def measure_work(pool):
    rates = [pool.work() for _ in range(ROUNDS)]
    print(f"claimed and completed by {WORKERS} workers, one at a time: {statistics.median(rates):.0f} jobs/s", flush=True)


def measure_lists(build, scratch):
    urls = [f"sqlite:{scratch}/{count}.db?synchronous=normal" for count in (FEW, MANY)]
    for url, count in zip(urls, (FEW, MANY)):
        subprocess.run([os.path.join(build, "scale-bench"), "town", url, str(count)], check=True)
    with Pool(build, scratch, "few", urls[0]) as few, Pool(build, scratch, "many", urls[1]) as many:
        for path in LISTS:
            pairs = [(many.p99(path), few.p99(path)) for _ in range(ROUNDS)]
            ratio = statistics.median(late / soon for late, soon in pairs)
            late, soon = (statistics.median(times) for times in zip(*pairs))
            tell(f"p99 of GET {path} with {MANY} jobs stored, to {FEW}", f"{ratio:.2f}", "at most 3", ratio <= 3,
                 f", {late:.2f} ms to {soon:.2f} ms")


def measure_idle(build, scratch):
    with Pool(build, scratch, "idle", f"sqlite:{scratch}/idle.db") as pool:
        for method, path, body in ("POST", "/api/jobs", json.dumps(JOB)), ("GET", "/api/jobs", None):
            pool.status(method, path, body)
        time.sleep(2)  # the start is not what is measured
        pids = pool.pids()
        before, start = idle_bench.cpu_time(pids), time.monotonic()
        time.sleep(WATCHED)
        used = 100 * (idle_bench.cpu_time(pids) - before) / (time.monotonic() - start)
        mib = idle_bench.memory(pids)
    tell(f"memory of {', '.join(DOORS)} when nobody asks", f"{mib:.1f} MiB of PSS", "below 6", mib < 6, "")
    tell("their CPU time", f"{used:.3f} % of a core", "below 0.02", used < 0.02, f", over {WATCHED} s")


def main(build, scratch):
    with Pool(build, scratch, "normal") as normal, Pool(build, scratch, "full") as full:
        measure_posts(build, normal, full)
        measure_arrays(normal)
        measure_work(normal)
    measure_idle(build, scratch)
    measure_lists(build, scratch)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""
idle_bench.py - what a pool costs that has nothing to do, and how soon it ends or recovers.

    idle_bench.py BUILD_FOLDER SCRATCH_FOLDER
"""
import json
import os
import select
import statistics
import subprocess
import sys
import time

WORKERS = 4
ROUNDS = 5
WATCHED = 20  # seconds in which the CPU time of the idle pool is taken
SERVICES = ["dispatcher", "heartbeater", "scheduler", "retrier", "reaper"]


def now():
    """Seconds on the clock that stamp.c reads."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def wait_for(condition):
    """Waits closely, for what is measured is short."""
    end = now() + 60
    while not condition():
        if now() > end:
            sys.exit("idle_bench: waited in vain")
        time.sleep(0.0005)


def read(path):
    """What is in a file, or nothing if it is gone."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return ""


class Pool:
    """A thd that is ready, on a store of its own."""

    def __init__(self, build, scratch, workers):
        self.build, self.folder = os.path.abspath(build), os.path.join(scratch, str(time.time_ns()))
        os.mkdir(self.folder)
        self.fifo, self.log = os.path.join(self.folder, "stamps"), os.path.join(self.folder, "log")
        os.mkfifo(self.fifo)
        self.stamps = os.open(self.fifo, os.O_RDWR)
        self.config = os.path.join(self.folder, "jobs.yaml")
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump({"backend": "sqlite:./jobs.db", "pool": {"num_workers": workers},
                       "handlers": {"stamp": {"command": [self.program("stamp"), self.fifo]},
                                    "sleep": {"command": ["/bin/sleep", "1000"]}}}, file)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([self.program("thd"), "--config", self.config],
                                            stdout=log, stderr=log)
        wait_for(lambda: "event=pool_ready" in read(self.log))

    def program(self, name):
        return os.path.join(self.build, name)

    def enqueue(self, job_type):
        subprocess.run([self.program("thctl"), "--config", self.config, "enqueue", job_type,
                        "--max-attempts", "1"], stdout=subprocess.DEVNULL, check=True)

    def pids(self):
        pid = self.process.pid
        return [pid, *map(int, read(f"/proc/{pid}/task/{pid}/children").split())]

    def find(self, title):
        """The process whose title starts so; 0 while there is none."""
        for pid in self.pids():
            if read(f"/proc/{pid}/cmdline").startswith(title):
                return pid
        return 0

    def read_stamp(self):
        """When the next stamp was made."""
        if not select.select([self.stamps], [], [], 60)[0]:
            sys.exit("idle_bench: no stamp came\n" + read(self.log))
        return int(os.read(self.stamps, 64)) / 1e6

    def stop(self):
        """Seconds from the signal to the end."""
        start = now()
        self.process.terminate()
        if self.process.wait() != 0:
            sys.exit("idle_bench: thd failed\n" + read(self.log))
        os.close(self.stamps)
        return now() - start


def memory(pids):
    """MiB, what is shared counted once."""
    lines = [line for pid in pids for line in read(f"/proc/{pid}/smaps_rollup").splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def cpu_time(pids):
    """Seconds."""
    return sum(int(read(f"/proc/{pid}/schedstat").split()[0]) for pid in pids) / 1e9


class Bench:
    def __init__(self, build, scratch):
        self.build, self.scratch = build, scratch

    def pool(self, workers=WORKERS):
        return Pool(self.build, self.scratch, workers)

    def cost(self):
        """Memory in MiB, and CPU time in percent of a core."""
        pool = self.pool()
        time.sleep(2)  # the start is not what is measured
        pids = pool.pids()
        before, start = cpu_time(pids), now()
        time.sleep(WATCHED)
        used = 100 * (cpu_time(pids) - before) / (now() - start)
        mib = memory(pids)
        pool.stop()
        return mib, used

    def worker(self):
        """From the death of the only worker, which runs a job, to the start of the next job."""
        pool = self.pool(workers=1)
        pool.enqueue("sleep")
        wait_for(lambda: pool.find("thd: worker 1 sleep"))
        pool.enqueue("stamp")
        start = now()
        os.kill(pool.find("thd: worker 1"), 9)
        seconds = pool.read_stamp() - start
        pool.stop()
        return seconds

    def services(self):
        """From the death of each service to its successor."""
        pool, times = self.pool(), {}
        for name in SERVICES:
            old = pool.find("thd: " + name)
            start = now()
            os.kill(old, 9)
            wait_for(lambda: pool.find("thd: " + name) not in (0, old))
            times[name] = now() - start
        pool.stop()
        return times

    def dispatcher(self):
        """From the death of the dispatcher to the start of a job that is enqueued then."""
        pool = self.pool()
        start = now()
        os.kill(pool.find("thd: dispatcher"), 9)
        pool.enqueue("stamp")
        seconds = pool.read_stamp() - start
        pool.stop()
        return seconds

    def run(self):
        mib, used = self.cost()
        print(f"idle, {WORKERS} workers: {mib:.1f} MiB (PSS of all processes), "
              f"{used:.3f} % of a core over {WATCHED} s", flush=True)
        ends = [self.pool().stop() for _ in range(ROUNDS)]
        print(f"idle TERM to exit: {self.show(ends)}", flush=True)
        print(f"killed worker to the next job's first instruction: "
              f"{self.show([self.worker() for _ in range(ROUNDS)])}", flush=True)
        print(f"killed dispatcher to the next job's first instruction: "
              f"{self.show([self.dispatcher() for _ in range(ROUNDS)])}", flush=True)
        rounds = [self.services() for _ in range(ROUNDS)]
        for name in SERVICES:
            print(f"killed {name} to its successor: "
                  f"{self.show([times[name] for times in rounds])}", flush=True)

    @staticmethod
    def show(seconds):
        return f"{1e3 * statistics.median(seconds):.1f} ms (median of {len(seconds)})"


if __name__ == "__main__":
    Bench(sys.argv[1], sys.argv[2]).run()

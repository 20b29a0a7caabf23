"""
retention_bench.py - whether ended jobs are removed faster than a pool can produce them: it starts with many more
than it may keep, and runs jobs that do nothing at full speed meanwhile.

    retention_bench.py BUILD_FOLDER SCRATCH_FOLDER URL [SECONDS]
"""
import json
import os
import subprocess
import sys
import threading
import time

STORED = 2000000
KEPT = 100000
WAVE = 100000  # jobs that are enqueued at a time
BACKLOG = 150000  # that always wait
TARGET = 1.2
CALM = 20  # seconds within the target after which it is believed


class Bench:
    def __init__(self, build, scratch, url, seconds=600):
        self.build, self.scratch, self.url = os.path.abspath(build), scratch, url
        self.seconds = float(seconds)
        self.is_over = threading.Event()
        self.config = os.path.join(scratch, "retention.yaml")
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump({"backend": url, "pool": {"num_workers": 2}, "log": {"level": "warning"},
                       "retention": {"done": "1h", "done_max": KEPT},
                       "handlers": {"noop": {"plugin": self.program("libnoop.so")}}}, file)
        self.wave = os.path.join(scratch, "wave.jsonl")
        with open(self.wave, "w", encoding="utf-8") as file:
            file.write('{"type": "noop", "payload": {"text": "%s"}}\n' % ("x" * 89) * WAVE)

    def program(self, name):
        return os.path.join(self.build, name)

    def thctl(self, *arguments):
        return subprocess.run([self.program("thctl"), "--config", self.config, *arguments], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout

    def stats(self):
        """Of the one queue; None when the store is too busy to say."""
        lines = self.thctl("--json", "stats").splitlines()
        return json.loads(lines[0]) if lines else None

    def produce(self):
        """There is always something to run."""
        while not self.is_over.is_set():
            stats = self.stats()
            if stats and stats["ready"] < BACKLOG:
                self.thctl("enqueue", "--bulk", self.wave, "--quiet")
            else:
                time.sleep(0.05)

    def watch(self):
        """Prints what happens every few seconds, until it stays within the target or the time is over; answers the
        last ratio."""
        print(f"{'second':>6} {'done/s':>9} {'removed/s':>9} {'kept':>9} {'of done_max':>11}")
        start, ratio = time.monotonic(), None
        last, last_at = self.stats(), start
        within_since = float("inf")
        while last_at - start < self.seconds and last_at - within_since < CALM:
            time.sleep(5)
            now, stats = time.monotonic(), self.stats()
            if not stats:
                continue
            produced = stats["done_total"] - last["done_total"]
            removed = last["done"] + produced - stats["done"]
            ratio = stats["done"] / KEPT
            print(f"{now - start:6.0f} {produced / (now - last_at):9.0f} {removed / (now - last_at):9.0f} "
                  f"{stats['done']:9d} {ratio:11.2f}", flush=True)
            last, last_at = stats, now
            within_since = min(within_since, now) if ratio <= TARGET else float("inf")
        return ratio

    def run(self):
        start = time.monotonic()
        subprocess.run([self.program("scale-bench"), "done", self.url, str(STORED)], check=True)
        print(f"{STORED} done jobs made in {time.monotonic() - start:.0f} s; {KEPT} may be kept", flush=True)
        producer = threading.Thread(target=self.produce)
        with subprocess.Popen([self.program("thd"), "--config", self.config]) as daemon:
            producer.start()
            ratio = self.watch()
            self.is_over.set()
            producer.join()
            daemon.terminate()
        print(f"{'within' if ratio <= TARGET else 'NOT WITHIN'} {TARGET} of done_max in the end")
        return 0 if ratio <= TARGET else 1


if __name__ == "__main__":
    sys.exit(Bench(*sys.argv[1:]).run())

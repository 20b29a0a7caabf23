"""
memory_bench.py - whether a pool's memory grows with the jobs that it has run: that of all its processes after FEW jobs
that do nothing, and after MANY, each when it has come to rest.

    memory_bench.py BUILD_FOLDER SCRATCH_FOLDER MANY [URL]
"""
import json
import sys
import time

import idle_bench
import jobs_bench

FEW = 10000
WAVE = 100000  # jobs that are enqueued at a time
ASKED = 1.1
REST = 11  # seconds: a dispatcher looks every 5 s whether it can give memory back


def pids_of(daemon):
    pid = daemon.pid
    return [pid, *map(int, idle_bench.read(f"/proc/{pid}/task/{pid}/children").split())]


def run_jobs(bench, count, before):
    """So many are enqueued while the pool runs; back when they are done, and the pool has come to rest."""
    line = json.dumps({"type": "noop", "payload": jobs_bench.PAYLOAD}) + "\n"
    for stored in range(0, count, WAVE):
        bench.thctl("enqueue", "--bulk", "-", "--quiet", stdin=line * min(WAVE, count - stored))
    while bench.done() < before + count:
        time.sleep(0.1)
    time.sleep(REST)


def main(build, scratch, many, url=None):
    many = int(many)
    bench = jobs_bench.Bench(build, scratch, url=url, is_keeping=True)
    bench.thctl("migrate")
    daemon = bench.start()
    run_jobs(bench, FEW, 0)
    few_mib = idle_bench.memory(pids_of(daemon))
    print(f"after {FEW} jobs: {few_mib:.1f} MiB (PSS of all processes, {jobs_bench.WORKERS} workers)", flush=True)
    run_jobs(bench, many - FEW, FEW)
    many_mib = idle_bench.memory(pids_of(daemon))
    print(f"after {many} jobs: {many_mib:.1f} MiB, {many_mib / few_mib:.2f} of that (asked: at most {ASKED:.2f})")
    bench.stop(daemon)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""
unknown_bench.py - what jobs of a type that no pool handles cost the pool beside whose jobs they are set aside. Two
stores, one with so many of them in the queue that is measured and one with none, take turns: without, with, with,
without. What is measured are jobs that do nothing, from end to end: by the clock, and by the CPU time that all of the
machine has used meanwhile, which varies less. Nothing else should run beside it.

    unknown_bench.py BUILD_FOLDER SCRATCH_FOLDER STORED JOBS [URL_WITHOUT URL_WITH]
"""
import json
import os
import statistics
import sys
import time

import jobs_bench

ROUNDS = 9
CHUNK = 100000  # jobs that are enqueued at a time


def open_store(build, scratch, name, jobs, url):
    folder = os.path.join(scratch, name)
    os.mkdir(folder)
    bench = jobs_bench.Bench(build, folder, jobs, url)
    bench.thctl("migrate")
    return bench


def count_aside(bench):
    return sum(json.loads(line)["no_handler"] for line in bench.thctl("--json", "stats").splitlines())


def set_aside(bench, count):
    """So many jobs, met by a pool that has no handler for them."""
    line = json.dumps({"type": "nobody", "payload": jobs_bench.PAYLOAD}) + "\n"
    for stored in range(0, count, CHUNK):
        bench.thctl("enqueue", "--bulk", "-", "--quiet", stdin=line * min(CHUNK, count - stored))
    daemon = bench.start()
    while count_aside(bench) < count:
        time.sleep(0.5)
    bench.stop(daemon)


def spread(pair):
    """How far two measurements of the same thing are apart, of their mean."""
    return abs(pair[0] - pair[1]) / statistics.mean(pair)


def measure(without, with_them):
    """Jobs a second, and a second of the machine's CPU time: two and two, of each round."""
    rounds = []
    for _ in range(ROUNDS):
        found = [(bench.run_jobs("noop"), bench.jobs / bench.busy)
                 for bench in (without, with_them, with_them, without)]
        rounds.append(found)
        print("  " + "   ".join(f"{name} {speed:.0f}/s, {per_cpu:.0f} per CPU second" for name, (speed, per_cpu)
                                in zip(("without", "with", "with", "without"), found)), flush=True)
    return rounds


def tell(rounds, count):
    print(f"beside {count} jobs of an unknown type (medians of {len(rounds)} rounds)")
    for index, unit in enumerate(("jobs/s", "jobs per second of CPU time")):
        measured = [[found[index] for found in round_] for round_ in rounds]
        pairs = [((first, last), (second, third)) for first, second, third, last in measured]
        plain = statistics.median(speed for bare, _ in pairs for speed in bare)
        beside = statistics.median(speed for _, pair in pairs for speed in pair)
        cost = statistics.median(1 - sum(pair) / sum(bare) for bare, pair in pairs)
        noise = statistics.median(spread(pair) for both in pairs for pair in both)
        print(f"{unit}: {plain:.0f} without, {beside:.0f} with them: they cost {cost:.1%} "
              f"(two runs of the same differ by {noise:.1%})")


def main(build, scratch, stored, jobs, *urls):
    urls = urls or (None, None)
    count = int(stored)
    without, with_them = (open_store(build, scratch, name, jobs, url)
                          for name, url in zip(("without", "with"), urls))
    set_aside(with_them, count)
    tell(measure(without, with_them), count)
    if count_aside(with_them) != count:
        sys.exit("some of the jobs that were set aside are not there any more")


if __name__ == "__main__":
    main(*sys.argv[1:])

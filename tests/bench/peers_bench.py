"""
peers_bench.py - jobs that do nothing, run by TaskHarbor and by others on the same machine in the same run, and by the
least that could be called a queue.

    peers_bench.py BUILD_FOLDER SCRATCH_FOLDER sqlite|postgres|redis JOBS

All jobs are stored before the clock starts, which stops when the last one is done. Each measurement starts with an empty
store, on the server that all share. They take turns: A, B, C, C, B, A; what is printed are medians, with the lowest and
the highest, and ratios are those of one round. What was asked for is printed next to it, and decides nothing.

    postgres   graphile-worker on the same PostgreSQL, which waits for the disk at each commit. It does not keep jobs
    redis      BullMQ on the same Redis, whose log is on the disk each second (appendfsync everysec) and is rewritten
               between the measurements only
    sqlite     beanstalkd with a log that is on the disk after 50 ms (-b, -f 50: its default), next to
               synchronous=normal, with which a power cut may take the last moments too; and for comparison our
               default, which waits for the disk at each commit ("synced")

Done jobs are forgotten by all but those that are called "kept", which keep them as they do by default.
"""
import contextlib
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time

import jobs_bench

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))
from servers import Postgres, Redis, Server, is_listening  # noqa: E402

ROUNDS = 6
PEERS = pathlib.Path(__file__).resolve().parent / "peers"
BEANSTALKD = shutil.which("beanstalkd", path=os.environ["PATH"] + ":/usr/bin:/usr/sbin")
FSYNC_MS = 50  # beanstalkd's default
BEANSTALK_WORKERS = 2

OURS, KEPT, SYNCED = "TaskHarbor", "TaskHarbor kept", "TaskHarbor synced"  # done jobs kept; each commit on disk
MINIMAL = "minimal loop"
KEPT_SHARE = 0.8  # of what is asked for when done jobs are forgotten
MINIMAL_SHARE = 0.6


class Beanstalkd(Server):
    """beanstalkd with an empty log."""

    def command(self):
        return [BEANSTALKD, "-l", "127.0.0.1", "-p", str(self.port), "-b", self.folder, "-f", str(FSYNC_MS)]

    def is_up(self):
        return is_listening(self.port)

    def stop(self):
        self.end(signal.SIGTERM)


class Pool(jobs_bench.Bench):
    """Our pool, whose store comes to rest before the clock starts."""

    def __init__(self, field, folder, url, is_keeping=False):
        os.mkdir(folder)
        super().__init__(field.build, folder, field.jobs, url, is_keeping)
        self.field = field

    def start(self):
        self.field.rest()
        return super().start()

    def measure(self):
        self.thctl("migrate")
        return self.run_jobs("noop")


class Field:
    """A store, and who runs jobs on it: `runners` has a function for each, which answers jobs a second."""

    peer, peer_kept, asked = None, None, None

    def __init__(self, build, scratch, jobs):
        self.build, self.scratch, self.jobs = os.path.abspath(build), scratch, jobs
        self.runners = {}

    def folder(self, name):
        return os.path.join(self.scratch, name)

    def add_pool(self, name, url, is_keeping=False):
        folder = self.folder(f"pool{len(self.runners)}")
        self.runners[name] = Pool(self, folder, url, is_keeping).measure

    def add_node(self, name, program, *arguments):
        command = ["node", str(PEERS / program), *arguments]
        self.runners[name] = lambda: self.jobs / float(self.output(command))

    def output(self, command, **environment):
        return subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, check=True,
                              text=True).stdout

    def clear(self):
        """Nothing is stored."""

    def rest(self):
        """The server has written what it will not have to write while the clock runs."""


class SqliteField(Field):
    peer, asked = f"beanstalkd -f {FSYNC_MS}", 4

    @contextlib.contextmanager
    def open(self):
        url = "sqlite:" + self.folder("jobs.db")
        self.add_pool(OURS, url + "?synchronous=normal")
        self.add_pool(KEPT, url + "?synchronous=normal", is_keeping=True)
        self.add_pool(SYNCED, url)
        self.runners[self.peer] = self.beanstalkd
        self.runners[MINIMAL] = self.minimal
        yield

    def clear(self):
        for path in pathlib.Path(self.scratch).glob("jobs.db*"):
            path.unlink()

    def beanstalkd(self):
        folder = self.folder("beanstalkd")
        with Beanstalkd(folder) as server:
            program = os.path.join(self.build, "beanstalk")
            seconds = self.output([program, str(server.port), str(self.jobs), str(BEANSTALK_WORKERS)])
        shutil.rmtree(folder)
        return self.jobs / float(seconds)

    def minimal(self):
        return float(self.output([os.path.join(self.build, "store-bench"), self.scratch, "minimal", str(self.jobs)]))


class PostgresField(Field):
    peer, asked = "graphile-worker", 2.5

    @contextlib.contextmanager
    def open(self):
        with Postgres(self.folder("postgres"), durable=True) as self.server:
            url = self.server.url
            self.add_pool(OURS, url)
            self.add_pool(KEPT, url, is_keeping=True)
            self.add_node(self.peer, "graphile.js", url, str(self.jobs))
            self.runners[MINIMAL] = self.minimal
            yield

    def clear(self):
        self.server.sql("SET client_min_messages = warning; DROP SCHEMA IF EXISTS taskharbor, graphile_worker CASCADE")

    def rest(self):
        self.server.sql("CHECKPOINT")

    def minimal(self):
        program = os.path.join(self.build, "store-bench")
        return float(self.output([program, self.server.url, "minimal", str(self.jobs)]))


class RedisField(Field):
    peer, peer_kept, asked = "BullMQ", "BullMQ kept", 6
    settings = {"appendfsync": "everysec", "auto-aof-rewrite-percentage": 0}

    @contextlib.contextmanager
    def open(self):
        with Redis(self.folder("redis"), settings=self.settings) as self.server:
            url = self.server.url
            self.add_pool(OURS, url)
            self.add_pool(KEPT, url, is_keeping=True)
            self.add_node(self.peer, "bullmq.js", url, str(self.jobs))
            self.add_node(self.peer_kept, "bullmq.js", url, str(self.jobs), "keep")
            self.runners[MINIMAL] = self.minimal
            yield

    def clear(self):
        self.server.cli("FLUSHALL")
        self.server.cli("BGREWRITEAOF")
        while "aof_rewrite_in_progress:1" in self.server.cli("INFO", "persistence"):
            time.sleep(0.05)

    def minimal(self):
        return float(self.output([os.path.join(self.build, "redis-bench"), "minimal", str(self.jobs)],
                                 TH_REDIS=self.server.url))


FIELDS = {"sqlite": SqliteField, "postgres": PostgresField, "redis": RedisField}


def measure(field):
    """Jobs a second of each, a list of rounds. Every second round goes backwards."""
    found = {name: [] for name in field.runners}
    for number in range(ROUNDS):
        names = list(found) if number % 2 == 0 else list(reversed(found))
        for name in names:
            field.clear()
            found[name].append(field.runners[name]())
        print("  " + "   ".join(f"{name} {found[name][-1]:.0f}/s" for name in names), flush=True)
    return found


def show(values, digits):
    middle, low, high = (f"{value:.{digits}f}" for value in (statistics.median(values), min(values), max(values)))
    return f"{middle:>9} ({low} to {high})"


def tell(field, found):
    print(f"{field.jobs} jobs that do nothing, {jobs_bench.WORKERS} workers, median of {ROUNDS} (lowest to highest)")
    for name, rates in found.items():
        print(f"{name + ', jobs/s':<40}{show(rates, 0)}")

    def compare(name, other, asked=None):
        ratios = [ours / theirs for ours, theirs in zip(found[name], found[other])]
        print(f"{name + ' / ' + other:<40}{show(ratios, 2):<26}" + (f" asked: {asked:.2f}" if asked else ""))

    compare(OURS, field.peer, field.asked)
    compare(KEPT, field.peer_kept or field.peer, KEPT_SHARE * field.asked)
    if SYNCED in found:
        compare(SYNCED, field.peer)
    compare(KEPT, OURS)
    compare(OURS, MINIMAL, MINIMAL_SHARE)


def main(build, scratch, store, jobs):
    field = FIELDS[store](build, scratch, int(jobs))
    if field.jobs < 1000 or field.jobs % 1000 != 0:
        sys.exit("peers_bench: the number of jobs is a multiple of 1000")
    with field.open():
        found = measure(field)
    tell(field, found)


if __name__ == "__main__":
    main(*sys.argv[1:])

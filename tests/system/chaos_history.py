"""
chaos_history.py - what was done to the pools and what the runs did, and whether one explains the other.

A run that meets another one of its job is allowed in one case: the lease of the other was over, and whoever
had to kill it in time could not, because we had stopped that process. That is the worker for a command or a
resident, and the master for a plugin. With a clock that was set forward, a pool that starts may take what is
still held.
"""
import json
import os
import shutil
import tempfile
import time


def boot_time():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Run:
    """A line of a job's book."""

    def __init__(self, line):
        self.word, execution, pid, parent, seconds, self.kind = line.split()
        self.execution, self.pid = int(execution), int(pid)
        self.parent = int(parent)  # who has to end it when its lease is lost
        self.at = float(seconds)

    def __repr__(self):
        return f"{self.word} {self.execution} pid={self.pid} parent={self.parent} at={self.at:.2f} {self.kind}"


class History:

    def __init__(self, folder, lease):
        self.folder, self.lease = folder, lease
        self.faults = []
        os.mkdir(os.path.join(folder, "runs"))

    # ---- what we did ----

    def note(self, fault, **fields):
        """Writes a fault down; what is known later is added to what this returns."""
        entry = {"fault": fault, "at": round(boot_time(), 3), **fields}
        self.faults.append(entry)
        return entry

    # ---- what they did ----

    def book(self, job_id):
        with open(os.path.join(self.folder, "runs", job_id), encoding="ascii") as book:
            lines = book.read().splitlines()
        return [Run(line) for line in lines if len(line.split()) == 6]  # a killed one may leave half a line

    def overlaps(self):
        """(job, run that met another)"""
        found = []
        for job_id in os.listdir(os.path.join(self.folder, "runs")):
            found += [(job_id, run) for run in self.book(job_id) if run.word == "overlap"]
        return found

    def unexplained(self):
        return [f"{job_id}: {run}, after {self.book(job_id)}" for job_id, run in self.overlaps()
                if not self.is_explained(job_id, run)]

    def is_explained(self, job_id, late):
        before = [run for run in self.book(job_id)
                  if run.word == "start" and run.execution < late.execution]
        guards = {run.parent for run in before}
        # What a killed worker leaves behind is the master's to end.
        guards |= {fault["pool"] for fault in self.faults
                   if fault["fault"] == "kill" and guards & set(fault["pids"])}
        return any(self.explains(fault, guards, late.at) for fault in self.faults)

    def explains(self, fault, guards, at):
        if fault["fault"] == "stop":
            return (guards & set(fault["pids"]) and fault["at"] <= at and
                    fault.get("until", at) >= at - self.lease)
        if fault["fault"] == "clock":
            return fault["step"] > 0 and fault["at"] <= at <= fault["at"] + 2 * self.lease and \
                any(other["fault"] == "pool" and fault["at"] - 1 <= other["at"] <= at for other in self.faults)
        return False

    # ---- for whoever has to explain it ----

    def keep(self, listing):
        """Copies all there is to a folder that stays, and returns its name."""
        kept = tempfile.mkdtemp(prefix="taskharbor-chaos-")
        for name, lines in ("faults.jsonl", self.faults), ("store.jsonl", listing):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.writelines(json.dumps(line) + "\n" for line in lines)
        shutil.copytree(self.folder, kept, dirs_exist_ok=True, ignore_dangling_symlinks=True,
                        ignore=shutil.ignore_patterns("locks"))
        return kept

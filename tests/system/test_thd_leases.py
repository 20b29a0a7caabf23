"""
Leases that are lost while a run lives: it is killed at once, and its job is not fought for.
"""
import os
import time
from signal import SIGCONT, SIGSTOP

from daemon import children, descendants, is_alive, is_stopped, title, wait_for
from plugins import plugin
from running import RunningCase

# Says who runs it, and if it was asked to end; goes on as if it had not been. Only the first run
# does not end by itself.
STUBBORN = ('trap "echo $TH_EXECUTION term >>marks" TERM; echo $TH_EXECUTION start >>marks;'
            ' while [ $TH_EXECUTION = 1 ]; do sleep 0.02; done; echo $TH_EXECUTION end >>marks')
RESIDENT = """
import json, os, signal, sys, time
def mark(run, word):
    with open("marks", "a") as marks: marks.write(f"{run} {word}\\n")
for line in sys.stdin:
    run = 2 if os.path.exists("marks") else 1
    signal.signal(signal.SIGTERM, lambda *_: mark(run, "term"))
    mark(run, "start")
    while run == 1: time.sleep(0.02)
    mark(run, "end")
    print(json.dumps({"id": json.loads(line)["id"], "ok": True}), flush=True)
"""


class LostLeases(RunningCase):
    """A pool whose whole tree is stopped until its leases are over, and then goes on."""

    def marks(self):
        return self.read("marks").split("\n")[:-1]

    def stop_tree(self, pool):
        tree = self.stop_from(pool.pid)
        self.addCleanup(self.continue_all, tree)
        return tree

    def stop_from(self, pid):
        """Parents first: whoever is stopped makes no more children. Some of them live for a few milliseconds only."""
        try:
            os.kill(pid, SIGSTOP)
        except ProcessLookupError:
            return []
        wait_for(lambda: is_stopped(pid) or not is_alive(pid), "a process to stop")
        return [pid, *(each for child in children(pid) for each in self.stop_from(child))]

    def continue_all(self, tree):
        for pid in tree:
            try:
                os.kill(pid, SIGCONT)
            except ProcessLookupError:
                continue

    def wait_for_expiry(self, lease):
        """Of all that a pool holds whose tree is stopped."""
        end = time.monotonic() + lease
        wait_for(lambda: time.monotonic() > end, "the end of the lease")

    def lose_lease(self, handlers, job_type):
        """The job of a first pool is taken over by a second, beside it, and the first goes on."""
        first = self.start_quick(handlers, {"lease": "3s", "kill_grace": "500ms", "num_workers": 1})
        job_id = self.enqueue(job_type)
        wait_for(lambda: "1 start" in self.marks(), "the first run")
        tree = self.stop_tree(first)
        second = self.start().wait_ready()
        second.wait_event("job_stalled")
        wait_for(lambda: "2 start" in self.marks(), "the second run")
        self.continue_all(tree)
        return first, job_id

    def check_lost(self, first, job_id):
        job = self.wait_state(job_id, "done")
        self.assertEqual((job["executions"], job["stalls"], job["attempts"]), (2, 1, 0), job)
        wait_for(lambda: first.events("lease_lost") or first.events("settlement_refused"), "its loss")
        wait_for(lambda: not any("thd" not in title(pid) for pid in descendants(first.pid)),
                 "the end of the first run")
        self.assertEqual(self.marks(), ["1 start", "2 start", "2 end"])

    def test_a_command_had_kill_grace_beside_the_new_owner(self):
        self.check_lost(*self.lose_lease({"stubborn": {"command": STUBBORN}}, "stubborn"))

    def test_a_resident_had_kill_grace_beside_the_new_owner(self):
        self.write("resident.py", RESIDENT)
        handlers = {"stubborn": {"resident": ["/usr/bin/python3", "resident.py"]}}
        self.check_lost(*self.lose_lease(handlers, "stubborn"))

    def test_a_pool_fought_itself_for_its_own_job(self):
        """The run that it had lost was still there when it got the job again: 25,000 times in 5 s."""
        pool = self.start_quick({"stubborn": {"command": STUBBORN}})
        job_id = self.enqueue("stubborn")
        wait_for(lambda: "1 start" in self.marks(), "the first run")
        [worker] = [pid for pid in pool.processes().values() if descendants(pid)]
        tree = self.stop_tree(pool)
        run = [worker, *descendants(worker)]
        self.wait_for_expiry(2)
        self.continue_all(pid for pid in tree if pid not in run)
        pool.wait_event("job_stalled", job=job_id)
        beats = {pool["beat_at"] for pool in self.objects("pools")}
        wait_for(lambda: {pool["beat_at"] for pool in self.objects("pools")} != beats, "a beat")
        self.assertEqual(self.job(job_id)["executions"], 2)
        self.continue_all(run)
        job = self.wait_state(job_id, "done")
        self.assertEqual((job["executions"], job["stalls"], job["attempts"]), (2, 1, 0), job)
        self.assertEqual(self.marks(), ["1 start", "2 start", "2 end"])

    def test_a_plugin_had_kill_grace_after_its_lease_was_over(self):
        pool = self.start_quick({"hang": {"plugin": plugin("faulty")}}, {"num_workers": 1})
        job_id = self.enqueue("hang")
        wait_for(lambda: (self.job(job_id)["progress"] or {}).get("text") == "hangs", "the run")
        tree = self.stop_tree(pool)
        self.wait_for_expiry(2)
        self.continue_all(tree)
        pool.wait_event("job_stalled", job=job_id)
        ends = [event["signal"] for event in pool.events("plugin_overrun", reason="lost_lease")]
        self.assertEqual(ends, ["SIGKILL"])

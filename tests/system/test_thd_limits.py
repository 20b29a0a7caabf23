"""Limits of queues with real pools: how many run, how fast they start, who gets how much, pause."""
import re
import time
import unittest
from signal import SIGCONT, SIGTSTP

from daemon import wait_for
from harness import DEADLINE, only_sqlite
from running import HOLD, QUICK, RunningCase, moment

HANDOVERS = 40

# Takes a place and gives it back; counts how many have one.
COUNTED = ('count() { flock lock sh -c \'n=$(($(cat now 2>/dev/null || echo 0) + $1)); '
           'echo $n >now; echo $n >>counts\' sh "$1"; }; count 1; sleep 0.02; count -1')


class Limits(RunningCase):
    def configure_quick(self, handlers, pool_id="auto", name="jobs.yaml", **sections):
        return self.configure(handlers, {**QUICK, "num_workers": 4, "pool_id": pool_id}, name,
                              **sections)


class MaxRunning(Limits):
    def test_two_pools_never_run_more_than_allowed_and_both_go_on_to_the_end(self):
        """With --once: a pool that missed room would be found by the slow scan only."""
        self.configure_quick({"x": {"command": COUNTED}}, queues={"default": {"max_running": 2}})
        self.enqueue_many(40, "x")
        pools = [self.start(None, "--once"), self.start(None, "--once")]
        self.assertEqual([pool.wait() for pool in pools], [0, 0])
        self.assertEqual(self.stats()["done"], 40)
        counts = [int(count) for count in self.read("counts").split()]
        self.assertEqual((max(counts), counts[-1], len(counts)), (2, 0, 80))

    @only_sqlite("waits for a mark in the file")
    def test_room_that_one_pool_makes_is_taken_by_the_other_without_the_slow_scan(self):
        """Two pools hand a place back and forth, far more often than they scan in this time."""
        pools = {}
        for name in ("a", "b"):
            config = self.configure_quick({"hold": {"command": HOLD}}, name, "%s.yaml" % name,
                                          queues={"default": {"max_running": 1}})
            pools[name] = self.start(config).wait_ready()
        self.enqueue_many(HANDOVERS, "hold")
        deadline = time.monotonic() + DEADLINE
        seen = set()
        for count in range(1, HANDOVERS):
            [job] = self.wait_held(count) - seen
            seen.add(job)
            holder = self.job(job)["pool"].partition(".")[0]
            for name, pool in pools.items():
                pool.signal(SIGTSTP if name == holder else SIGCONT)
            wait_for(lambda: self.sql("SELECT awaited FROM queue") == [(1,)], "one who waits")
            self.let_go(job)
        self.assertLess(time.monotonic(), deadline)
        for pool in pools.values():
            pool.signal(SIGCONT)
        self.let_go()
        self.wait_stats(done=HANDOVERS)
        for pool in pools.values():
            self.assertGreater(len(pool.events("job_done")), HANDOVERS / 4)

    def test_the_places_of_a_pool_that_died_are_given_to_others(self):
        self.configure_quick({"hold": {"command": HOLD}}, queues={"default": {"max_running": 1}})
        first = self.start().wait_ready()
        job = self.enqueue("hold")
        self.wait_held()
        other = self.enqueue("hold")
        second = self.start().wait_ready()
        first.kill()
        self.let_go()
        for job_id in (job, other):
            self.assertEqual(self.wait_state(job_id, "done")["state"], "done")
        self.assertEqual(len(second.events("job_done")), 2)

    def test_a_full_queue_holds_up_no_other(self):
        self.configure_quick({"hold": {"command": HOLD}, "x": {"command": ["true"]}},
                             queues={"full": {"max_running": 1, "weight": 1000}, "default": {}})
        self.start().wait_ready()
        self.enqueue_many(5, "hold", "full")
        self.wait_held()
        self.enqueue_many(20, "x")
        self.wait_stats(done=20)
        self.assertEqual(self.stats("full")["running"], 1)
        self.let_go()
        self.wait_stats("full", done=5)

    def test_a_full_queue_costs_nothing_while_it_waits(self):
        """The dispatcher turns for the slow scan alone."""
        self.configure_quick({"hold": {"command": HOLD}}, queues={"default": {"max_running": 1}})
        pool = self.start().wait_ready()
        self.enqueue_many(3, "hold")
        self.wait_held()
        dispatcher = pool.pid_of("dispatcher")
        before = self.switches(dispatcher)
        wait_for(lambda: self.switches(pool.pid_of("heartbeater")) > 10, "some heartbeats")
        self.assertLess(self.switches(dispatcher) - before, 20)
        self.let_go()
        self.wait_stats(done=3)

    def switches(self, pid):
        """How often it has gone to sleep."""
        with open(f"/proc/{pid}/status", encoding="utf-8") as status:
            return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status.read(), re.M)[1])


class Rate(Limits):
    def starts(self, queue="default"):
        return sorted(moment(job["started_at"]) for job in self.jobs("--queue", queue))

    def test_two_pools_keep_a_rate_together(self):
        self.configure_quick({"x": {"command": ["true"]}}, queues={"default": {"rate": "20/s"}})
        for pool in [self.start(), self.start()]:
            pool.wait_ready()  # a worker that is still starting would hold up the first one
        self.enqueue_many(80, "x")
        self.wait_stats(done=80)
        starts = self.starts()
        # 20 at once, 60 at 20/s; any of them may be started later than it was reserved.
        self.assertGreater(starts[-1] - starts[0], 2.5)
        for first in range(0, 80, 10):
            for last in range(first + 1, 80):
                allowed = 20 + 20 * (starts[last] - starts[first])
                self.assertLess(last - first, allowed + 10, (first, last))

    def test_once_waits_for_a_rate_and_not_for_a_paused_queue(self):
        self.configure_quick({"x": {"command": ["true"]}},
                             queues={"slow": {"rate": "5/s"}, "paused": {}})
        self.enqueue_many(8, "x", "slow")
        self.enqueue_many(3, "x", "paused")
        self.ok("pause", "paused")
        pool = self.start(None, "--once")
        self.assertEqual(pool.wait(), 0)
        self.assertEqual(self.stats("slow")["done"], 8)
        starts = self.starts("slow")
        gaps = [later - sooner for sooner, later in zip(starts, starts[1:])]
        self.assertLess(max(gaps), 3)  # woken by the rate's time: the slow scan takes 5 s
        self.assertEqual(self.stats("paused")["ready"], 3)

    def test_a_limited_queue_holds_up_no_other(self):
        self.configure_quick({"x": {"command": ["true"]}},
                             queues={"slow": {"rate": "1/h", "weight": 1000}, "default": {}})
        self.enqueue_many(5, "x", "slow")
        self.start().wait_ready()
        self.enqueue_many(30, "x")
        self.wait_stats(done=30)
        self.wait_stats("slow", done=1, ready=4)

    def test_thd_says_nothing_about_rates_that_it_does_not_keep(self):
        self.configure_quick({"x": {"command": ["true"]}}, queues={"default": {"rate": "5/s"}})
        pool = self.start().wait_ready()
        self.assertEqual(pool.events("config_ignored"), [])


class Pause(Limits):
    def test_nothing_starts_in_a_paused_queue_and_it_goes_on_when_resumed(self):
        self.configure_quick({"x": {"command": ["true"]}}, queues={"default": {}, "other": {}})
        pool = self.start().wait_ready()
        self.ok("pause", "default")
        self.enqueue_many(5, "x")
        self.enqueue_many(5, "x", "other")
        self.wait_stats("other", done=5)
        self.assertEqual(self.stats()["ready"], 5)
        self.ok("resume", "default")
        self.wait_stats(done=5)
        self.assertEqual(len(pool.events("job_done")), 10)


class Weights(Limits):
    WEIGHTS = {"one": 1, "three": 3, "six": 6}

    def test_queues_get_their_shares_within_five_percent(self):
        for queue in self.WEIGHTS:
            self.enqueue_many(1000, "x", queue)
        self.configure_quick({"x": {"command": 'echo "$TH_QUEUE" >>order'}},
                             queues={name: {"weight": weight}
                                     for name, weight in self.WEIGHTS.items()})
        self.start().wait_ready()
        order = wait_for(lambda: len(self.read("order").split()) >= 1000 and
                         self.read("order").split()[:1000], "a thousand jobs")
        for name, weight in self.WEIGHTS.items():
            self.assertAlmostEqual(order.count(name) / 100, weight, delta=weight * 0.05)


if __name__ == "__main__":
    unittest.main()

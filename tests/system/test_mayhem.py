"""
Mayhem: two pools on one store; anything of them is killed or stopped for a while, the server dies, applications
hold what the pools want, clocks are set. Whatever happens, no job is lost, none runs twice under a valid lease,
nothing is stuck and nobody is left behind.

    scripts/chaos STORE FAULTS SEED

What it did and saw is kept when it fails.
"""
import os
import random
import time
import unittest

from chaos_faults import KINDS
from clocks import Clock
from daemon import living_in, title, wait_for
from servers import Postgres, Redis, servers_folder
from test_chaos import PATIENCE, Chaos

STORE = os.environ.get("TH_CHAOS_STORE", "sqlite")  # on a server of its own
FAULTS = int(os.environ.get("TH_CHAOS_FAULTS", "30"))
SEED = int(os.environ.get("TH_CHAOS_SEED", random.SystemRandom().randrange(1 << 32)))
CLOCK_STEPS = bool(os.environ.get("TH_CHAOS_CLOCKS"))
JOBS_PER_FAULT = 5
SERVERS = {"postgres": (Postgres, {}), "redis": (Redis, {"durable": True})}


class Mayhem(Chaos):

    lease = 2

    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        home = self.enterContext(servers_folder())
        self.clocks = {"pools": Clock(home, "clock")}
        self.environment.update(self.clocks["pools"].environment)
        self.server = None
        if STORE in SERVERS:
            self.start_server(home)
        self.running = []
        self.promised = set()
        self.faults = KINDS[STORE](self, self.lease, CLOCK_STEPS)
        self.addCleanup(self.faults.wait_for_end)

    def start_server(self, home):
        """On a machine of its own, so to speak: with a clock of its own."""
        kind, settings = SERVERS[STORE]
        self.clocks["server"] = Clock(home, "server-clock")
        self.server = kind(os.path.join(home, "server"), **settings)
        self.server.environment = {**os.environ, **self.clocks["server"].environment}
        self.server.start()
        self.addCleanup(self.server.stop)
        self.backend = self.server.url

    # ---- what the faults use ----

    def launch(self):
        pool = self.start()
        self.history.note("pool", pids=[pool.pid])
        self.running.append(pool)

    def replace(self, pool):
        """After its master was killed."""
        pool.process.wait()
        self.running.remove(pool)
        self.launch()

    def promise_keyed(self, number, key):
        """A job that was answered for must be there in the end; one in doubt may be."""
        result = self.thctl("enqueue", "work", str(number), "--key", key)
        self.assertIn(result.code, (0, 69), result)
        if result.code == 0:
            self.promised.add(result.out.strip())

    # ---- the course of it ----

    def test_whatever_is_killed_every_job_ends_done_and_no_two_runs_of_one_overlap(self):
        print(f"{STORE}, seed {SEED}, {FAULTS} faults", flush=True)
        self.launch()
        self.running[0].wait_ready()  # the schema is there
        self.launch()
        try:
            self.rage()
            self.faults.wait_for_end()
            self.faults.set_clocks_ahead()
            self.wait_for_all()
            self.assert_nobody_is_left()
            self.assert_all_is_well()
        except BaseException:
            print("history kept in", self.history.keep(self.listing()), flush=True)
            raise

    def rage(self):
        for fault in range(FAULTS):
            self.enqueue_wave(range(fault * JOBS_PER_FAULT, (fault + 1) * JOBS_PER_FAULT))
            time.sleep(self.random.uniform(0.02, 0.2))  # the pace of the faults, not a wait
            for pool in self.running:
                self.assertIsNone(pool.process.poll(), f"a pool ended by itself: {pool.log_text()[-4000:]}")
            self.faults.strike()
            if fault % 100 == 99:
                print(f"{fault + 1} faults, {len(self.history.overlaps())} runs met another", flush=True)

    def wait_for_all(self):
        """Done, or cancelled by being merged into another one with the same key."""
        def look():
            counts = [stats for stats in self.objects("stats")]
            waiting = ("scheduled", "ready", "blocked", "running", "retry", "dead")
            return counts and all(stats[state] == 0 for stats in counts for state in waiting)
        wait_for(look, lambda: f"the end of all jobs: {self.objects('stats')}\n" +
                 "\n".join(pool.log_text()[-4000:] for pool in self.running), PATIENCE)

    def assert_nobody_is_left(self):
        for pool in self.running:
            self.assertEqual(pool.stop(), 0, pool.log_text()[-4000:])
        self.assertEqual([title(pid) for pid in living_in(self.folder)], [])

    def assert_all_is_well(self):
        jobs = {job["id"]: job for job in self.listing()}
        merged = {job_id for job_id, job in jobs.items() if job["state"] == "cancelled" and job["merged_into"]}
        done = {job_id for job_id, job in jobs.items() if job["state"] == "done"}
        numbers = {int(job["idempotency_key"]) for job in jobs.values() if job["idempotency_key"]}
        self.assertEqual(set(jobs), done | merged)
        self.assertEqual(numbers, set(range(FAULTS * JOBS_PER_FAULT)), "jobs were lost")
        self.assertLessEqual(self.promised, set(jobs), "keyed jobs were lost")
        self.assertEqual(done - set(self.read("ends").split()), set(), "done without a run")
        self.assertEqual(self.history.unexplained(), [], "runs overlap")

    def listing(self):
        """All jobs of the store; none if it cannot say."""
        result = self.thctl("--json", "ls", "--limit", "1000000")
        return result.objects if result.code == 0 else []


del Chaos

if __name__ == "__main__":
    unittest.main()

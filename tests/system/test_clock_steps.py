"""
The database's clock is set by an hour, forward and back, while two pools run jobs: nothing stalls,
nothing runs twice.
"""
import os
import time
from signal import SIGCONT, SIGKILL, SIGTSTP

from clocks import Clock
from daemon import wait_for
from running import HOLD, RunningCase, moment
from servers import Postgres, Redis, servers_folder

HOUR = 3600


class ClockSteps:
    """Two pools on a store whose clock is in our hands."""

    STEPS = (HOUR, 0, -HOUR)
    BAD = ("job_stalled", "lease_lost", "settlement_refused", "pool_removed", "job_dead", "store_lost")

    def setUp(self):
        super().setUp()
        self.home = self.enterContext(servers_folder())
        self.clock = Clock(self.home)
        self.set_up_store()

    def beats(self):
        """How far each pool's last beat is from our own clock, in seconds."""
        return [moment(pool["beat_at"]) - time.time() for pool in self.objects("pools")]

    def wait_followed(self, seconds):
        """Until both pools go by the new clock alone."""
        wait_for(lambda: all(abs(beat - seconds) < 600 for beat in self.beats()),
                 lambda: f"beats at {seconds}: {self.beats()}")

    def check(self, pools, jobs):
        for job_id in jobs:
            job = self.job(job_id)
            self.assertEqual((job["executions"], job["stalls"], job["attempts"]), (1, 0, 0), job)
        for pool in pools:
            for event in self.BAD:
                self.assertEqual(pool.events(event), [], pool.log_text())

    def test_jobs_were_stalled_when_the_clock_was_set(self):
        pools = [self.start_quick({"hold": {"command": HOLD}, "quick": {"command": ["/bin/true"]}},
                                  {"lease": "3s"}, retention={"done": "7d"}) for _ in range(2)]
        held = [self.enqueue("hold") for _ in range(2)]
        self.wait_held(2)
        quick = []
        for seconds in self.STEPS:
            self.clock.set(seconds)
            wait_for(lambda: all(pool.events("clock_stepped") for pool in pools),
                     lambda: "clock_stepped in\n" + pools[0].log_text())
            quick.append(self.run_job("quick")["id"])
            self.wait_followed(seconds)
            quick.append(self.run_job("quick")["id"])
        for pool in pools:
            self.assertEqual(len(pool.events("clock_stepped")), len(self.STEPS), pool.log_text())
        self.let_go()
        for job_id in held:
            self.wait_state(job_id, "done")
        self.check(pools, held + quick)

    def test_a_pool_that_had_not_seen_the_clock_set_back_took_the_job_of_one_that_had(self):
        """The old one looks at the clock every third of a lease; it is made to reserve before it does."""
        handlers = {"hold": {"command": HOLD}, "quick": {"command": ["/bin/true"]}}
        pool = {"lease": "30s", "heartbeat_interval": "10s", "reaper_interval": "10m"}
        old = self.start_quick(handlers, pool)
        self.run_job("quick")  # which knows the time now
        old.signal(SIGTSTP)
        old.wait_event("pool_paused")
        self.clock.set(-2 * 30)
        new = self.start_quick(handlers, pool)
        held = self.enqueue("hold")
        self.wait_held()
        new.signal(SIGTSTP)
        new.wait_event("pool_paused")
        old.signal(SIGCONT)
        self.run_job("quick")
        self.let_go()
        self.wait_state(held, "done")
        self.check([old, new], [held])

    def test_a_dispatcher_that_was_replaced_took_the_job_of_a_pool_that_had_not_seen_the_clock_set_forward(self):
        handlers = {"hold": {"command": HOLD}, "quick": {"command": ["/bin/true"]}}
        pool = {"lease": "30s", "heartbeat_interval": "10s", "reaper_interval": "10m"}
        holder = self.start_quick(handlers, pool)
        held = self.enqueue("hold")
        self.wait_held()
        holder.signal(SIGTSTP)
        holder.wait_event("pool_paused")
        other = self.start_quick(handlers, pool)
        self.run_job("quick")
        dispatcher = other.pid_of("dispatcher")
        self.clock.set(2 * 30)
        os.kill(dispatcher, SIGKILL)
        other.wait_replaced("dispatcher", dispatcher)
        self.run_job("quick")
        self.let_go()
        self.wait_state(held, "done")
        self.check([holder, other], [held])


class ClockStepsSqlite(ClockSteps, RunningCase):
    """The database's clock is the machine's."""

    def set_up_store(self):
        self.backend = "sqlite:" + self.database
        self.environment.update(self.clock.environment)


class Served(ClockSteps):
    def set_up_store(self):
        self.server = self.kind(os.path.join(self.home, "server"))
        self.server.environment = {**os.environ, **self.clock.environment}
        self.server.start()
        self.addCleanup(self.server.stop)
        self.backend = self.server.url


class ClockStepsPostgres(Served, RunningCase):
    kind = Postgres


class ClockStepsRedis(Served, RunningCase):
    kind = Redis

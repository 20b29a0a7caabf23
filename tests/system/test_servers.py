"""
Pools on a database server of their own: the server is killed, pools are killed beside it, clocks
are wrong, connections are counted.
"""
import contextlib
import os
import shutil
import sqlite3
import time
import unittest

from daemon import wait_for
from running import QUICK, RunningCase, moment
from servers import Postgres, Redis, servers_folder
from test_chaos import Chaos

SOURCE = os.environ.get("TH_SOURCE_DIR", os.path.join(os.path.dirname(__file__), "../.."))
CLOCK_SHIFT = os.path.join(os.environ.get("TH_BUILD_DIR", "build/dev"), "tests/libclock_shift.so")
KILLS = int(os.environ.get("TH_SERVER_KILLS", "60"))
SERVER_EVERY = 15  # of these kills, one hits the server


class Served:
    """A test with a server of its own, whose kind is the subclass's."""

    def setUp(self):
        super().setUp()
        home = self.enterContext(servers_folder())
        self.server = self.kind(os.path.join(home, "server"), **self.settings).start()
        self.addCleanup(self.server.stop)
        self.backend = self.server.url


class OnPostgres(Served):
    kind, settings = Postgres, {}

    def connections(self):
        return int(self.server.sql("SELECT count(*) FROM pg_stat_activity"
                                   " WHERE application_name LIKE 'th%'"))


class OnRedis(Served):
    kind, settings = Redis, {"durable": True}

    def connections(self):
        """Without the one that asks, and the one that only listens."""
        lines = self.server.cli("CLIENT", "LIST", "TYPE", "normal").splitlines()
        return sum("cmd=client" not in line for line in lines)


class ServerDies:
    """What a pool does when its server is killed and comes back."""

    def test_jobs_run_on_and_are_settled_when_the_server_is_back(self):
        pool = self.start_quick({"hold": {"command": self.HOLD}}, {"lease": "20s",
                                                                    "heartbeat_interval": "1s"})
        running = self.enqueue("hold")
        self.wait_held()
        waiting = [self.enqueue("hold") for _ in range(20)]
        self.server.kill()
        pool.wait_event("store_lost", process="heartbeater")
        self.let_go()
        self.server.start()
        for job_id in [running, *waiting]:
            job = self.wait_state(job_id, "done")
            self.assertEqual((job["attempts"], job["stalls"]), (0, 0), job)
        for process in ("dispatcher", "heartbeater"):
            pool.wait_event("store_back", process=process)
            self.assertEqual([event["event"] for event in pool.events(process=process)
                              if event["event"].startswith("store_") and
                              event["event"] != "store_durability"],
                             ["store_lost", "store_back"])
        self.assertEqual(pool.stop(), 0)

    HOLD = 'touch "$TH_JOB_ID.runs"; until [ -e go ]; do sleep 0.01; done'


class ServerDiesPostgres(OnPostgres, ServerDies, RunningCase):
    pass


class ServerDiesRedis(OnRedis, ServerDies, RunningCase):
    pass


class LateReserve:
    """A store that lets nobody write for longer than a lease: what was asked for comes too late."""

    LEASE = 2

    def test_a_job_was_stalled_that_never_ran(self):
        self.configure({"x": {"command": 'echo "$TH_EXECUTION" >>starts'}}, QUICK)
        job_id = self.enqueue("x")
        with self.blocked():
            pool = self.start()
            end = time.monotonic() + 2 * self.LEASE
            wait_for(lambda: time.monotonic() > end, "the end of the lease, had there been one")
        job = self.wait_state(job_id, "done")
        self.assertEqual((job["stalls"], job["attempts"]), (0, 0), pool.log_text())
        self.assertEqual(len(self.read("starts").split()), 1)


class LateReserveSqlite(LateReserve, RunningCase):
    def setUp(self):
        super().setUp()
        self.backend = "sqlite:" + self.database

    @contextlib.contextmanager
    def blocked(self):
        with contextlib.closing(sqlite3.connect(self.database, isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            yield


class LateReservePostgres(OnPostgres, LateReserve, RunningCase):
    @contextlib.contextmanager
    def blocked(self):
        with self.server.session("BEGIN; LOCK TABLE taskharbor.ready IN EXCLUSIVE MODE;"):
            yield


class LateReserveRedis(OnRedis, LateReserve, RunningCase):
    @contextlib.contextmanager
    def blocked(self):
        self.server.cli("CLIENT", "PAUSE", "60000", "WRITE")
        yield
        self.server.cli("CLIENT", "UNPAUSE")


class WrongClock:
    """Two pools, one of them on a machine whose clock is an hour off."""

    def start_shifted(self, name, seconds):
        config = self.configure({"*": {"command": ["/bin/true"]}}, {**QUICK, "pool_id": name},
                                name + ".yaml", queues={name: {}, "default": {}})
        env = {"LD_PRELOAD": CLOCK_SHIFT, "TH_CLOCK_SHIFT": str(seconds)} if seconds else {}
        if os.environ.get("TH_SANITIZE"):
            env["ASAN_OPTIONS"] = "verify_asan_link_order=0:detect_leaks=0"
        pool = self.start(config, env=env).wait_ready()
        written = moment(pool.events("pool_ready")[0]["time"])
        self.assertAlmostEqual(written - time.time(), seconds, delta=600)
        return pool

    def test_a_pool_whose_clock_is_an_hour_off_behaves_like_any_other(self):
        pools = {name: self.start_shifted(name, seconds)
                 for name, seconds in (("right", 0), ("fast", 3600), ("slow", -3600))}
        for name in pools:
            with self.subTest(name):
                soon = self.enqueue("x", "--queue", name, "--run-at", "+1s")
                later = self.enqueue("x", "--queue", name, "--run-at", "+30m")
                job = self.wait_state(soon, "done")
                self.assertGreaterEqual(job["started_at"], job["run_at"])
                self.assertGreaterEqual(job["ended_at"], job["started_at"])
                self.assertEqual(self.job(later)["state"], "scheduled")
        for job in self.jobs("--state", "done"):
            self.assertEqual((job["executions"], job["stalls"]), (1, 0))
        shown = {pool["name"].partition(".")[0]: pool for pool in self.objects("pools")}
        self.assertEqual(set(shown), set(pools))
        beats = sorted(moment(pool["beat_at"]) for pool in shown.values())
        self.assertLess(beats[-1] - beats[0], 600)
        for name, pool in pools.items():
            told = [event["ahead_ms"] for event in pool.events("clock_off")]
            self.assertEqual([round(int(ahead) / 3600000) for ahead in told],
                             {"right": [], "fast": [1], "slow": [-1]}[name])
            self.assertEqual(pool.events("pool_removed") + pool.events("lease_lost"), [])
            self.assertEqual(pool.stop(), 0)


class WrongClockPostgres(OnPostgres, WrongClock, RunningCase):
    pass


class WrongClockRedis(OnRedis, WrongClock, RunningCase):
    pass


class Connections:
    def test_an_idle_pool_has_at_most_four(self):
        self.start_pool({"x": {"command": ["/bin/true"]}})
        wait_for(lambda: self.connections() == 4, lambda: f"4 connections: {self.connections()}")
        self.run_job("x")
        wait_for(lambda: self.connections() == 4, lambda: f"4 connections: {self.connections()}")


class ConnectionsPostgres(OnPostgres, Connections, RunningCase):
    pass


class ConnectionsRedis(OnRedis, Connections, RunningCase):
    pass


class Examples(RunningCase):
    """The configs that users start from."""

    ROWS = (("postgres", "DATABASE_URL", "TH_POSTGRES"), ("redis", "REDIS_URL", "TH_REDIS"),
            ("redis-cluster", "REDIS_URL", "TH_REDIS_CLUSTER"), ("sqlite", "NONE", None))

    def test_each_of_them_starts_and_runs_a_job(self):
        for name, variable, server in self.ROWS:
            with self.subTest(name):
                shutil.copy(os.path.join(SOURCE, "conf", name + ".yaml"), self.folder)
                env = {variable: os.environ[server]} if server else {}
                pool = self.start(self.path(name + ".yaml"), env=env, backend=False)
                wait_for(lambda pool=pool: "event=pool_ready" in pool.log_text(), pool.log_text)
                done = self.thctl("--config", name + ".yaml", "enqueue", "hello", '{"a":1}', "--wait",
                                  env=env, backend=False)
                self.assertEqual(done.code, 0, done)
                self.assertEqual(pool.stop(), 0)


class Cron:
    def test_two_pools_enqueue_each_second_once(self):
        self.configure({"tick": {"command": ["/bin/true"]}}, QUICK, cron={
            "tick": {"schedule": "* * * * * *", "type": "tick", "catch_up": "all"}})
        pools = [self.start().wait_ready() for _ in range(2)]

        def slots():
            return sorted(event["slot"] for pool in pools for event in pool.events("cron_enqueued"))
        wait_for(lambda: len(slots()) >= 5, "five slots")
        for pool in pools:
            self.assertEqual(pool.stop(), 0)
        self.assertEqual(len(slots()), len(set(slots())))
        self.assertEqual(len(self.jobs()), len(slots()))
        seconds = [int(slot[17:19]) for slot in slots()]
        self.assertEqual([(b - a) % 60 for a, b in zip(seconds, seconds[1:])],
                         [1] * (len(seconds) - 1))


class CronPostgres(OnPostgres, Cron, RunningCase):
    pass


class CronRedis(OnRedis, Cron, RunningCase):
    pass


class EverythingDies(Chaos):
    """The chaos of test_chaos.py by two pools on one server, which is killed as well."""

    kills = KILLS
    jobs_wanted = KILLS * 8
    lease = 3  # each run ends by it when the server is away, and a busy machine is late with that

    def start_pools(self):
        return [self.start(), self.start()]

    def kill_one(self, pools):
        self.killed = getattr(self, "killed", 0) + 1
        if self.killed % SERVER_EVERY == 0:
            self.server.kill()
            self.server.start()
            return pools
        return super().kill_one(pools)


class EverythingDiesPostgres(OnPostgres, EverythingDies):
    pass


class EverythingDiesRedis(OnRedis, EverythingDies):
    pass


del Chaos, EverythingDies

if __name__ == "__main__":
    unittest.main()

"""
The network between us and the server is cut before or after a request, or nothing comes through any more:
whatever was asked for has happened exactly once, and nobody has to do anything about it.
"""
import hashlib
import json
import os
import subprocess
import time
import unittest
import uuid
from datetime import datetime

from daemon import wait_for
from fault_proxy import CUT_AFTER, CUT_BEFORE, HOLD, FaultProxy, PostgresWire, RedisWire
from gate import GateCase
from servers import Postgres, Redis, servers_folder

SOURCE = os.environ.get("TH_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", "..")
CUTS = (CUT_BEFORE, CUT_AFTER)
CALL_DEADLINE = 5  # seconds, as in src/store/driver.h
SLACK = 5  # for a machine that is busy

# Leases are long enough for what has to be waited for.
CALM = {"lease": "20s", "heartbeat_interval": "500ms", "kill_grace": "100ms", "num_workers": 1}

servers = {}


def script_text(name):
    """As the server gets it."""
    path = os.path.join(SOURCE, "src/store/redis/scripts", name + ".lua")
    constants = os.path.join(os.environ["TH_BUILD_DIR"], "generated/constants")
    return subprocess.run([os.path.join(SOURCE, "scripts/embed-lua"), "-c", constants, "whole", path], check=True,
                          capture_output=True).stdout


def script_hash(name):
    """What EVALSHA calls it."""
    return hashlib.sha1(script_text(name)).hexdigest().encode()


def setUpModule():
    folder = unittest.enterModuleContext(servers_folder())
    for kind in (Postgres, Redis):
        servers[kind] = unittest.enterModuleContext(kind(os.path.join(folder, kind.__name__)))
    for name in ("enqueue", "enqueue_one", "exchange", "heartbeat"):
        # So that the first request with it is not the one that is answered with NOSCRIPT.
        servers[Redis].cli("SCRIPT", "LOAD", script_text(name))


class NetworkCase(GateCase):
    """A test with a store that pools and thctl can reach directly, or by a network that fails."""

    server = wire = None  # which
    options = ""
    requests = {}  # names to what the wire shows of them

    def setUp(self):
        super().setUp()
        server = servers[self.server]
        self.backend = server.url + self.options.format(uuid.uuid4().hex)
        self.ok("migrate")
        self.proxy = FaultProxy(server.port, self.wire)
        self.addCleanup(self.proxy.close)
        self.bad_network = {
            "TASKHARBOR_BACKEND": self.backend.replace(str(server.port), str(self.proxy.port))}

    def break_at(self, kind, request, **how):
        """Lets it happen to the next such request, and returns how to wait for it."""
        count = self.proxy.hits + 1
        self.proxy.arm(kind, self.requests[request], **how)
        return lambda: self.proxy.wait_hit(count)

    def calm_pool(self, **settings):
        """A pool behind the bad network."""
        return self.start_pool(self.handlers, {**CALM, **settings}, env=self.bad_network)

    def assert_one_outage(self, pool, process, count=1):
        """It has said that the store was lost, and that it is back; nobody else has."""
        pool.wait_event("store_back", count)
        for event in ("store_lost", "store_back"):
            self.assertEqual([entry["process"] for entry in pool.events(event)], [process] * count,
                             pool.log_text())
        self.assertEqual(pool.events("process_exited"), [])


class Enqueueing:
    """By thctl, as by everybody who uses the library."""

    def through(self, *arguments, **options):
        return self.thctl("--json", "enqueue", *arguments, env=self.bad_network, **options)

    def assert_stored_once(self, result, *ids):
        self.assertEqual((result.code, result.err), (0, ""), result)
        [answer] = result.objects
        self.assertEqual((answer["existed"], answer["updated"]), (False, False))
        self.assertEqual([job["id"] for job in self.jobs()], [*ids, answer["id"]])
        return answer["id"]

    def test_an_enqueue_that_is_cut_stores_one_job_and_the_user_sees_success(self):
        ids = []
        for kind in CUTS:
            for plain in (True, False):
                with self.subTest(kind, plain=plain):
                    wait_hit = self.break_at(kind, "enqueue one" if plain else "enqueue")
                    keys = () if plain else ("--key", kind, "--idempotency-key", kind)
                    ids.append(self.assert_stored_once(self.through("work", *keys), *ids))
                    wait_hit()

    def test_a_bulk_that_is_cut_stores_each_line_once_and_in_order(self):
        for queue, kind in zip("ab", CUTS):
            with self.subTest(kind):
                wait_hit = self.break_at(kind, "enqueue", nth=2)
                lines = "".join('{"type": "work", "payload": %d}\n' % n for n in range(3000))
                result = self.through("--queue", queue, "--bulk", "-", stdin=lines)
                wait_hit()
                self.assertEqual(result.code, 0, result)
                self.assertIn("stored 3,000 jobs in", result.err)
                self.assertNotIn("existed", result.err)
                jobs = self.jobs("--queue", queue)
                self.assertEqual([job["payload"] for job in jobs], list(range(3000)))
                self.assertEqual([answer["id"] for answer in result.objects],
                                 [job["id"] for job in jobs])

    def test_an_enqueue_that_nobody_answers_ends_by_its_deadline_and_is_repeated(self):
        wait_hit = self.break_at(HOLD, "enqueue one")
        command = subprocess.Popen([self.program, "--json", "enqueue", "work"], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=self.environment_with(self.bad_network, True))
        wait_hit()
        asked, seen = time.monotonic(), self.proxy.connections
        wait_for(lambda: self.proxy.connections > seen, "the next try")
        self.assertLess(time.monotonic() - asked, CALL_DEADLINE + 1 + SLACK)
        self.proxy.release()
        out, err = command.communicate()
        self.assertEqual((command.returncode, err), (0, ""))
        self.assertEqual([job["id"] for job in self.jobs()], [json.loads(out)["id"]])

    def test_an_enqueue_of_which_nobody_knows_names_the_job_that_may_be_there(self):
        wait_hit = self.break_at(CUT_AFTER, "enqueue one", goes_down=True)
        result = self.through("work")
        wait_hit()
        self.assertEqual((result.code, result.out), (69, ""), result)
        [job] = self.jobs()
        self.assertRegex(result.err, rf"^thctl: .*\nthctl: the job may be stored.*{job['id']}.*\n$")

    def test_a_bulk_of_which_nobody_knows_says_what_may_be_there(self):
        wait_hit = self.break_at(CUT_AFTER, "enqueue", nth=2, goes_down=True)
        result = self.through("--bulk", "-", stdin='{"type": "work"}\n' * 2500)
        wait_hit()
        self.assertEqual(result.code, 69, result)
        self.assertIn("nobody answered: up to 1000 lines more than the following may be stored",
                      result.err)
        self.assertIn("stored up to line 1000", result.err)
        self.assertEqual(len(self.jobs()), 2000)


class Running:
    """By the dispatcher."""

    def test_a_job_whose_reserve_is_cut_runs_once(self):
        self.open_gate()
        for kind, unknown in ((CUT_BEFORE, []), (CUT_AFTER, [1])):
            with self.subTest(kind):
                job_id = self.enqueue("held")
                wait_hit = self.break_at(kind, "exchange")
                pool = self.calm_pool()
                wait_hit()
                self.assert_untouched(job_id)
                self.assertEqual(len(self.starts(job_id)), 1)
                self.assert_one_outage(pool, "dispatcher")
                self.assertEqual([entry["unknown"] for entry in pool.events("jobs_recovered")],
                                 unknown)
                self.assertEqual(pool.stop(), 0)

    def test_a_job_whose_settlement_is_cut_is_done_once(self):
        pool = self.calm_pool()
        for count, kind in enumerate(CUTS, 1):
            with self.subTest(kind):
                job_id = self.held_job()  # its worker is the only one: nothing more is reserved
                wait_hit = self.break_at(kind, "exchange")
                self.open_gate()
                wait_hit()
                self.assert_untouched(job_id)
                self.assertEqual(len(self.starts(job_id)), 1)
                self.assert_one_outage(pool, "dispatcher", count)
                self.close_gate()
        self.assertEqual(self.objects("stats")[0]["done_total"], len(CUTS))
        self.assertEqual(pool.events("settlement_refused"), [])

    def test_many_jobs_run_once_each_while_exchange_after_exchange_is_cut(self):
        self.handlers["count"] = {"command": [self.script("count", 'echo "$TH_JOB_ID" >>ran')]}
        self.calm_pool(num_workers=4)
        wait_hit = self.break_at(CUT_AFTER, "exchange")
        self.ok("enqueue", "--bulk", "-", stdin='{"type": "count"}\n' * 100)
        for kind in (*CUTS * 3, CUT_AFTER):
            wait_hit()
            wait_hit = self.break_at(kind, "exchange", nth=2)
        wait_for(lambda: self.objects("stats")[0]["done"] == 100,
                 lambda: f"100 done jobs, not {self.objects('stats')}")
        self.assertEqual({(job["executions"], job["attempts"], job["stalls"])
                          for job in self.jobs()}, {(1, 0, 0)})
        self.assertEqual(sorted(self.lines("ran")), sorted([job["id"]] for job in self.jobs()))

    def test_a_pool_that_hears_nothing_says_so_by_its_deadline_and_goes_on(self):
        job_id = self.enqueue("held")
        wait_hit = self.break_at(HOLD, "exchange")
        pool = self.start(self.configure(self.handlers, CALM), env=self.bad_network)
        wait_hit()
        asked = time.monotonic()
        pool.wait_event("store_lost", process="dispatcher")
        self.assertLess(time.monotonic() - asked, CALL_DEADLINE + SLACK)
        pool.wait_event("store_lost", process="heartbeater")
        self.proxy.release()
        self.open_gate()
        self.assert_untouched(job_id)
        for name in ("dispatcher", "heartbeater"):
            pool.wait_event("store_back", process=name)
        for event in ("store_lost", "store_back"):
            said = [entry["process"] for entry in pool.events(event)]
            self.assertEqual(sorted(said), sorted(set(said)), pool.log_text())
        self.assertEqual(len(self.starts(job_id)), 1)
        self.assertEqual(pool.events("process_exited"), [])


class Sleeping:
    """By the dispatcher that waits for the bell."""

    def pickup(self):
        """How long a job waits for a pool that has nothing to do."""
        job_id = self.enqueue("held")
        job = self.wait_state(job_id, "done")
        created, started = (datetime.fromisoformat(job[name]) for name in ("created_at", "started_at"))
        return (started - created).total_seconds()

    def test_a_silent_bell_is_noticed_and_made_anew(self):
        self.open_gate()
        pool = self.calm_pool()
        self.pickup()
        self.assertEqual(self.proxy.forget(self.bell_word), 1)
        pool.wait_event(self.bell_event)
        self.pickup()  # whatever state it was in, it is awake now
        self.assertLess(min(self.pickup() for _ in range(3)), 2)
        self.assertEqual(len(pool.events(self.bell_event)), 1, pool.log_text())
        self.assertEqual(pool.events("process_exited"), [])


class Beating:
    """By the heartbeater."""

    def test_a_run_whose_heartbeat_is_cut_goes_on_and_keeps_its_lease(self):
        pool = self.calm_pool(lease="9s")
        job_id = self.held_job()
        started = time.monotonic()
        for count, kind in enumerate(CUTS, 1):
            self.break_at(kind, "heartbeat")()
            self.assert_one_outage(pool, "heartbeater", count)
        wait_for(lambda: time.monotonic() > started + 10, "the time at which the first lease ends")
        self.open_gate()
        self.assert_untouched(job_id)
        self.assertEqual(len(self.starts(job_id)), 1)
        self.assertEqual(pool.events("lease_lost"), [])
        self.assertEqual(pool.events("pool_removed"), [])


class Ticking:
    """By the scheduler."""

    def test_a_cron_slot_whose_enqueue_is_cut_is_taken_once(self):
        self.configure({"tick": {"command": ["/bin/true"]}}, CALM, cron={
            "tick": {"schedule": "* * * * * *", "type": "tick", "catch_up": "all"}})
        pool = self.start(env=self.bad_network).wait_ready()
        for count, kind in enumerate(CUTS, 1):
            pool.wait_event("cron_enqueued", len(pool.events("cron_enqueued")) + 1)
            self.break_at(kind, "cron")()
            self.assert_one_outage(pool, "scheduler", count)
        pool.wait_event("cron_enqueued", len(pool.events("cron_enqueued")) + 2)
        self.assertEqual(pool.stop(), 0)
        said = [datetime.fromisoformat(entry["slot"]) for entry in pool.events("cron_enqueued")]
        self.assertEqual(said, sorted(set(said)))
        self.assertEqual(len(self.jobs()), (said[-1] - said[0]).total_seconds() + 1)
        self.assertEqual(len(said), len(self.jobs()) - 1, "the answer to one of them was lost")


class Everything(Enqueueing, Running, Sleeping, Beating, Ticking):
    """What is to be true of each server."""


class OnPostgres(Everything, NetworkCase):
    server, wire = Postgres, PostgresWire
    bell_word, bell_event = b"LISTEN ", "store_lost"  # it comes by the connection that all else uses
    options = "?sslmode=disable&gssencmode=disable&schema=test_{}"
    requests = {"enqueue": b"FROM enqueue_", "enqueue one": b"FROM enqueue_", "exchange": b"FROM exchange_v",
                "heartbeat": b"FROM heartbeat_v", "cron": b"SELECT cron_enqueue_v"}


class OnRedis(Everything, NetworkCase):
    server, wire = Redis, RedisWire
    bell_word, bell_event = b"SUBSCRIBE", "bell_lost"
    options = "?prefix=test_{}"
    requests = {"enqueue": script_hash("enqueue"), "enqueue one": script_hash("enqueue_one"),
                "exchange": script_hash("exchange"), "heartbeat": script_hash("heartbeat"), "cron": script_hash("enqueue")}


if __name__ == "__main__":
    unittest.main()

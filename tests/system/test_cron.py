"""
Cron: what thctl shows of it, and that pools enqueue each slot once, whatever happens to them.

    scripts/soak cron 60
"""
import os
import random
import re
import time
import unittest
from datetime import datetime

from daemon import DaemonCase, wait_for
from harness import Case

SECONDS = int(os.environ.get("TH_CRON_SECONDS", "12"))
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"

CONFIG = """
backend: {backend}
cron:
  nightly: {{schedule: "0 3 * * *", timezone: Europe/Berlin, type: "report:build", payload: {{a: 1}}}}
  often: {{schedule: "*/5 * * * *", type: tidy, queue: low, key: tidy}}
  off: {{schedule: "@hourly", type: old, enabled: false}}
"""


def to_time(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


class Thctl(Case):
    def setUp(self):
        super().setUp()
        self.ok("migrate")
        self.write("jobs.yaml", CONFIG.format(backend=self.backend))

    def test_entries_are_listed_in_words(self):
        lines = self.ok("cron").splitlines()
        self.assertEqual(lines[0].split(), ["NAME", "SCHEDULE", "NEXT", "LAST", "TYPE"])
        self.assertRegex(lines[1], r"^nightly  at 03:00 every day \(Europe/Berlin\)  "
                                   r"\d{4}-\d\d-\d\d 03:00 \(in \d+[dhms]\) +-     report:build$")
        self.assertRegex(lines[2], r"^often    every 5 minutes +\d{4}-\d\d-\d\d \d\d:\d[05] "
                                   r"\((in \d+[ms]|now)\) +-     tidy$")
        self.assertRegex(lines[3], r"^off      every hour +disabled +-     old$")

    def test_programs_get_times_in_utc(self):
        nightly, often, off = self.objects("cron")
        self.assertEqual(list(nightly), ["name", "schedule", "words", "timezone", "next", "next_times", "last",
                                         "type", "queue", "enabled",
                                         "paused", "paused_at", "paused_by"])
        self.assertIn(to_time(nightly["next"]).hour, (1, 2))
        self.assertEqual(to_time(often["next"]).minute % 5, 0)
        self.assertEqual((off["next"], off["last"], off["enabled"]), (None, None, False))

    def test_the_last_slot_is_shown_and_a_first_mark_is_not(self):
        self.sql("INSERT INTO cron (name, slot) VALUES ('nightly', 1700000000000000), ('often', 1700000000123456)")
        nightly, often, _ = self.objects("cron")
        self.assertEqual(nightly["last"], "2023-11-14T22:13:20.000000Z")
        self.assertIsNone(often["last"])

    def test_an_entry_runs_now(self):
        job_id = self.ok("cron", "run", "nightly")
        self.assertRegex(job_id, f"^{UUID}$")
        job = self.job(job_id)
        self.assertEqual((job["type"], job["payload"], job["state"]),
                         ("report:build", {"a": 1}, "ready"))
        [first], [second] = (self.objects("cron", "run", "often") for _ in range(2))
        self.assertEqual((second["id"], second["updated"]), (first["id"], True))
        self.assertRegex(self.ok("cron", "run", "off"), f"^{UUID}$")
        self.assertEqual([entry["last"] for entry in self.objects("cron")], [None] * 3)

    def test_an_entry_is_paused_and_resumed(self):
        self.assertEqual(self.ok("cron", "pause", "nightly"), "paused nightly")
        nightly = self.objects("cron")[0]
        self.assertEqual((nightly["paused"], nightly["next"]), (True, None))
        self.assertRegex(nightly["paused_by"], r"^\S+@\S+$")
        self.assertIsNotNone(nightly["paused_at"])
        self.assertRegex(self.ok("cron"), r"nightly .* paused .* by \S+@\S+")
        self.assertEqual(self.objects("cron", "resume", "nightly"),
                         [{"name": "nightly", "paused": False}])
        nightly = self.objects("cron")[0]
        self.assertEqual((nightly["paused"], nightly["paused_at"], nightly["paused_by"]),
                         (False, None, None))
        self.assertIsNotNone(nightly["next"])
        self.refuses(2, "no cron entry 'nightli' in jobs.yaml", "cron", "pause", "nightli")

    def test_what_is_not_there_is_refused(self):
        self.refuses(2, "no cron entry 'nightli' in jobs.yaml (did you mean 'nightly'?)",
                     "cron", "run", "nightli")
        self.refuses(2, "cron takes nothing, or run, pause or resume and a NAME", "cron", "nightly")
        self.refuses(2, "cron takes nothing, or run, pause or resume and a NAME", "cron", "run")
        self.refuses(2, "cron entries are in a config", "--backend", self.backend, "cron")
        self.assert_nothing_stored()

    def test_a_wrong_entry_is_a_wrong_config(self):
        self.write("jobs.yaml", 'cron: {n: {schedule: "0 25 * * *", timezone: Mars, type: t}}\n')
        result = self.thctl("cron")
        self.assertEqual(result.code, 78)
        self.assertEqual(result.err.splitlines(), [
            "jobs.yaml:1:22: cron.n.schedule: hour '25' is not within 0 to 23",
            "jobs.yaml:1:46: cron.n.timezone: 'Mars' is not a time zone"])

    def test_a_config_without_entries_says_so(self):
        self.write("jobs.yaml", f"backend: {self.backend}\n")
        self.assertEqual(self.thctl("cron").err, "no cron entries in jobs.yaml\n")


class Pools(DaemonCase):

    def slots(self):
        """The slots that all pools said they enqueued, in order."""
        return sorted(to_time(event["slot"]) for pool in self.pools
                      for event in pool.events("cron_enqueued", name="tick"))

    def configure_tick(self, **members):
        self.configure({"tick": {"command": ["/bin/true"]}}, retention={"done": "1h"},
                       cron={"tick": {"schedule": "* * * * * *", "type": "tick", **members}})

    def check_each_second_once(self):
        slots = self.slots()
        steps = [(after - before).total_seconds() for before, after in zip(slots, slots[1:])]
        self.assertEqual(set(steps), {1.0}, steps)
        self.assertEqual(len(self.jobs()), len(slots))

    def test_a_pool_heeds_a_pause_and_makes_up_for_nothing(self):
        def count(name):
            return sum(len(pool.events("cron_enqueued", name=name)) for pool in self.pools)

        def let_pass(slots):
            goal = count("other") + slots
            wait_for(lambda: count("other") >= goal, "slots of the other entry")

        each_second = {"schedule": "* * * * * *", "type": "tick", "catch_up": "all"}
        self.configure({"tick": {"command": ["/bin/true"]}},
                       cron={"tick": each_second, "other": each_second})
        self.start()
        wait_for(lambda: count("tick") >= 2, "two slots")
        self.ok("cron", "pause", "tick")
        let_pass(2)  # a pass that has read the entry before may still enqueue
        before = len(self.slots())
        let_pass(3)
        self.assertEqual(len(self.slots()), before)
        self.ok("cron", "resume", "tick")
        wait_for(lambda: len(self.slots()) >= before + 2, "slots after the pause")
        slots = self.slots()
        self.assertGreaterEqual((slots[before] - slots[before - 1]).total_seconds(), 3, slots)

    def test_a_pool_enqueues_each_second_once(self):
        self.configure_tick(catch_up="all")
        pool = self.start().wait_ready()
        pool.wait_event("cron_enqueued", count=4)
        [event, *_] = pool.events("cron_enqueued")
        self.assertEqual((event["name"], event["type"], event["process"]),
                         ("tick", "tick", "scheduler"))
        self.wait_state(event["job"], "done")
        self.assertEqual(pool.stop(), 0)
        self.check_each_second_once()

    def test_what_was_missed_is_made_up_for_as_catch_up_says(self):
        # Daily, twelve hours from now: no slot comes while the test runs.
        last = (int(time.time()) // 3600 - 12) * 3600
        schedule = f"0 {last // 3600 % 24} * * *"
        for catch_up, jobs in (("all", 3), ("last", 1), ("none", 0)):
            with self.subTest(catch_up):
                name = f"daily-{catch_up}"
                self.configure({"*": {"command": ["/bin/true"]}}, cron={
                    name: {"schedule": schedule, "type": name, "catch_up": catch_up}})
                self.ok("migrate")
                self.sql("INSERT INTO cron (name, slot) VALUES (?, ?)", name,
                         (last - 3 * 86400) * 1000000)
                pool = self.start().wait_ready()
                wait_for(lambda: len(pool.events("cron_enqueued")) == jobs, f"{jobs} jobs")
                self.assertEqual(pool.stop(), 0)
                self.assertEqual(len(self.jobs("--type", name)), jobs)

    def test_a_first_start_has_missed_nothing(self):
        self.configure({"*": {"command": ["/bin/true"]}}, cron={
            "yearly": {"schedule": "@yearly", "type": "y", "catch_up": "all"}})
        pool = self.start().wait_ready()
        wait_for(lambda: self.sql("SELECT count(*) FROM cron")[0][0] == 1, "the mark")
        self.assertEqual(pool.stop(), 0)
        self.assertEqual(self.jobs(), [])
        [entry] = self.objects("--config", "jobs.yaml", "cron")
        self.assertIsNone(entry["last"])
        self.assertTrue(re.match(r"\d{4}-01-01T00:00:00", entry["next"]))


class Soak(DaemonCase):
    """Two pools on one file, and one of them is killed every few seconds."""

    def setUp(self):
        super().setUp()
        self.configure(
            {"tick": {"command": ['./run']}},
            {"lease": "2s", "heartbeat_interval": "500ms", "kill_grace": "300ms",
             "reaper_interval": "500ms"},
            cron={"tick": {"schedule": "* * * * * *", "type": "tick", "catch_up": "all"}})
        self.script("run", 'echo "$TH_JOB_ID" >>ran')
        self.ok("migrate")
        # A pool that is killed between its commit and its line in the log cannot say so.
        self.transaction(
            ("CREATE TABLE taken (slot INTEGER)",),
            ("CREATE TRIGGER take AFTER UPDATE ON cron BEGIN"
             " INSERT INTO taken VALUES (new.slot); END",))

    def slots(self):
        """All that have been enqueued, in seconds, in the order in which they were."""
        return [slot // 1000000 for slot, in self.sql("SELECT slot FROM taken ORDER BY rowid")]

    def wait_slot(self, wanted):
        wait_for(lambda: (self.slots() or [0])[-1] >= wanted,
                 lambda: f"slot {wanted} in\n{self.pools[0].log_text()}")

    def disturb(self, first):
        """Kills and starts the second pool, for so long as asked for; returns how often."""
        kills, other = 0, self.start().wait_ready()
        while self.slots()[-1] < first + SECONDS:
            self.wait_slot(self.slots()[-1] + random.choice((1, 2, 3)))
            other.kill()
            other = self.start().wait_ready()
            kills += 1
        self.assertEqual(other.stop(), 0)
        return kills

    def test_two_pools_enqueue_each_second_once_while_one_of_them_is_killed(self):
        steady = self.start().wait_ready()
        self.wait_slot(1)
        first = self.slots()[0]
        kills = self.disturb(first)
        wait_for(lambda: {job["state"] for job in self.jobs()} == {"done"}, "the end of all jobs")
        self.assertEqual(steady.stop(), 0)
        slots = self.slots()
        self.assertEqual(slots, list(range(first, slots[-1] + 1)))
        self.assertEqual(len(self.jobs()), len(slots))
        with open(self.path("ran"), encoding="utf-8") as ran:
            self.assertEqual(set(ran.read().split()), {job["id"] for job in self.jobs()})
        print(f"{len(slots)} slots, {kills} kills", flush=True)


if __name__ == "__main__":
    unittest.main()

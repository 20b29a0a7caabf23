"""thd: jobs are run, retried, given up, cancelled, as their types and limits say."""
import os
import unittest
from signal import SIGKILL

from daemon import is_alive, wait_for
from running import HOLD, QUICK, RunningCase, moment

NOTE = 'echo "$TH_JOB_ID" >>ran'
CLOCKS_DIFFER = 1  # seconds at the most, between two processes that follow the clock of a server
LONG = "sleep 0.1; "  # too long for others to be fetched ahead of its end


class Running(RunningCase):
    def test_a_job_is_run_and_is_done(self):
        pool = self.start_quick({"x": {"command": NOTE}})
        job = self.run_job("x")
        self.assertEqual((job["executions"], job["attempts"], job["stalls"]), (1, 0, 0))
        self.assertEqual((job["last_error"], job["reason"], job["exit_code"]), (None, None, 0))
        self.assertLessEqual(moment(job["created_at"]), moment(job["started_at"]) + CLOCKS_DIFFER)
        self.assertLessEqual(moment(job["started_at"]), moment(job["ended_at"]))
        self.assertIn(job["worker"], (1, 2))
        [run] = job["runs"]
        self.assertEqual((run["execution"], run["pool"], run["worker"], run["outcome"]),
                         (1, job["pool"], job["worker"], "done"))
        self.assertEqual(self.read("ran"), job["id"] + "\n")
        self.assertEqual(len(pool.events("job_done", job=job["id"])), 1)

    def test_each_of_many_jobs_is_run_once(self):
        self.start_quick({"x": {"command": NOTE}})
        self.enqueue_many(100, "x")
        self.wait_stats(done=100)
        ran = self.read("ran").split()
        self.assertEqual(sorted(ran), sorted(job["id"] for job in self.jobs()))
        self.assertEqual({job["executions"] for job in self.jobs()}, {1})

    def test_the_queues_of_the_config_are_served_and_no_others(self):
        self.start_quick({"x": {"command": NOTE}}, queues={"default": {}, "mail": {}})
        other = self.enqueue("x", "--queue", "other")
        for queue in ("mail", "default", "mail"):
            self.assertEqual(self.run_job("x", "--queue", queue)["queue"], queue)
        self.assertEqual(self.job(other)["state"], "ready")

    def test_queues_get_their_shares(self):
        for queue in ("heavy", "light"):
            self.enqueue_many(40, "x", queue)
        self.start_quick({"x": {"command": 'echo "$TH_QUEUE" >>order'}}, {"num_workers": 1},
                         queues={"light": {"weight": 1}, "heavy": {"weight": 3}})
        self.wait_stats("light", done=40)
        first = self.read("order").split()[:40]
        self.assertAlmostEqual(first.count("heavy"), 30, delta=4)

    def test_the_most_urgent_job_is_first_and_then_the_oldest(self):
        for priority in ("5", "9", "0", "5"):
            self.enqueue("x", f'"{priority}"', "--priority", priority)
        self.start_quick({"x": {"command": "cat >>order"}}, {"num_workers": 1})
        self.wait_stats(done=4)
        self.assertEqual(self.read("order"), '"0""5""5""9"')

    def test_a_scheduled_job_runs_at_its_time_and_not_before(self):
        self.start_quick({"x": {"command": NOTE}})
        [answer] = self.objects("enqueue", "x", "--run-at", "+1s")
        self.assertEqual(answer["state"], "scheduled")
        run_at = moment(self.job(answer["id"])["run_at"])
        job = self.wait_state(answer["id"], "done")
        self.assertGreaterEqual(moment(job["started_at"]), run_at)

    def test_a_done_job_is_deleted_at_once_if_none_are_kept(self):
        pool = self.start_quick({"x": {"command": NOTE}}, retention={"done": 0})
        job = self.enqueue("x")
        pool.wait_event("job_done", job=job)
        self.refuses(1, f"job {job} does not exist", "show", job)
        self.assertEqual(self.stats()["done_total"], 1)


class Failing(RunningCase):
    def test_a_job_is_retried_until_it_succeeds(self):
        self.start_quick({"x": {"command": '[ "$TH_ATTEMPT" -ge 3 ]', "max_attempts": 5}})
        job = self.run_job("x")
        self.assertEqual((job["attempts"], job["executions"]), (2, 3))
        self.assertEqual([run["outcome"] for run in job["runs"]], ["retry", "retry", "done"])

    def test_a_failed_job_waits_as_the_policy_says(self):
        self.start_quick({"x": {"command": "exit 3", "retry": {"base_delay": "1h"}}})
        job = self.run_job("x", state="retry")
        self.assertAlmostEqual(moment(job["run_at"]) - moment(job["failed_at"]), 3600, delta=0.01)
        self.assertEqual((job["attempts"], job["exit_code"], job["last_error"]),
                         (1, 3, "exit code 3"))

    def test_the_last_allowed_failure_is_the_end(self):
        pool = self.start_quick({"own": {"command": "exit 3", "max_attempts": 3},
                                 "other": {"command": "exit 3"}})
        for arguments, attempts in ((["own"], 3), (["other"], 2),
                                    (["own", "--max-attempts", "1"], 1)):
            with self.subTest(arguments):
                job = self.run_job(*arguments, state="dead")
                self.assertEqual((job["attempts"], job["executions"], len(job["runs"])),
                                 (attempts,) * 3)
                self.assertEqual((job["reason"], job["last_error"]), ("exhausted", "exit code 3"))
                self.assertEqual(len(pool.events("job_retry", job=job["id"])), attempts - 1)
                self.assertEqual(len(pool.events("job_dead", job=job["id"])), 1)

    def test_a_job_that_kills_its_worker_fails_and_nobody_else_does(self):
        pool = self.start_quick({"doom": {"command": "kill -KILL $PPID; sleep 60"},
                                 "hold": {"command": HOLD}})
        before = pool.processes()
        other = self.enqueue("hold")
        self.wait_held()
        job = self.run_job("doom", state="dead")

        self.assertEqual((job["attempts"], job["executions"], job["stalls"]), (2, 2, 0))
        self.assertEqual((job["reason"], job["signal"]), ("exhausted", SIGKILL))
        self.assertRegex(job["last_error"], r"^worker \d was killed by SIGKILL while it ran")
        self.assertEqual([run["outcome"] for run in job["runs"]], ["retry", "dead"])
        self.let_go()
        self.assertEqual(self.wait_state(other, "done")["executions"], 1)
        name = f"worker {job['worker']}"
        pool.wait_replaced(name, before[name])
        self.assertEqual(self.run_job("hold")["attempts"], 0)

    def test_a_run_that_takes_too_long_is_killed_though_it_ignores_TERM(self):
        self.script("deaf", "echo $$ >>pids; trap '' TERM; while :; do sleep 0.1; done")
        self.start_quick({"deaf": {"command": ["./deaf"], "timeout": "200ms"}})
        job = self.run_job("deaf", state="dead")
        self.assertEqual((job["attempts"], job["executions"], job["reason"], job["signal"]),
                         (2, 2, "exhausted", SIGKILL))
        self.assertEqual(job["last_error"], "timed out after 200ms")
        self.assertEqual([is_alive(pid) for pid in self.read("pids").split()], [False, False])

    def test_a_job_has_a_timeout_of_its_own(self):
        self.start_quick({"x": {"command": "sleep 60"}})
        job = self.run_job("x", "--timeout", "100ms", "--max-attempts", "1", state="dead")
        self.assertEqual((job["last_error"], job["timeout_ms"]), ("timed out after 100ms", 100))


class Saturation(RunningCase):
    def test_no_more_is_reserved_than_workers_run_and_a_free_one_gets_the_next(self):
        self.start_quick({"hold": {"command": LONG + HOLD}})
        self.enqueue_many(6, "hold")
        ended = set()
        for waiting in (4, 3, 2, 1):
            held = self.wait_held(6 - waiting) - ended
            stats = self.stats()
            self.assertEqual((stats["running"], stats["ready"]), (2, waiting))
            ended.add(min(held))
            self.let_go(min(held))
        self.let_go()
        self.wait_stats(done=6)
        self.assertEqual(self.run_job("hold")["executions"], 1)
        self.assertEqual({job["executions"] for job in self.jobs()}, {1})

    def test_what_was_fetched_ahead_is_given_back_when_nobody_gets_to_it(self):
        self.enqueue_many(5, "quick")
        self.enqueue_many(3, "hold")
        self.start_quick({"quick": {"command": ["true"]}, "hold": {"command": HOLD}},
                         {"num_workers": 1})
        self.wait_stats(done=5, running=1, ready=2)
        self.let_go()
        self.wait_stats(done=8)
        self.assertEqual({(job["attempts"], job["stalls"]) for job in self.jobs()}, {(0, 0)})

    def test_jobs_longer_than_their_lease_are_run_once(self):
        self.start_quick({"long": {"command": "sleep 1.3; " + NOTE}})
        self.enqueue_many(4, "long")
        self.wait_stats(done=4)
        self.assertEqual({(job["executions"], job["stalls"]) for job in self.jobs()}, {(1, 0)})
        self.assertEqual(len(self.read("ran").split()), 4)

    def test_a_job_that_no_worker_starts_is_given_back_uncounted(self):
        pool = self.start_quick({"x": {"command": NOTE}})
        workers = self.freeze_workers(pool)
        job = self.enqueue("x")
        pool.wait_event("job_released", job=job, reason="nobody started it")
        os.kill(workers[0], SIGKILL)  # with the revoked task before it, or not: it is dropped
        self.thaw(workers)
        job = self.wait_state(job, "done")
        self.assertEqual((job["attempts"], job["stalls"], len(job["runs"])), (0, 0, 1))
        self.assertEqual(self.read("ran").split(), [job["id"]])


class OnDead(RunningCase):
    def alerts_for(self, job_id):
        return [job["payload"] for job in self.jobs("--queue", "alerts")
                if job["payload"][0] == job_id]

    def handler(self, command, **settings):
        return {"command": command, "on_dead": {"type": "alert", "queue": "alerts"}, **settings}

    def test_a_death_enqueues_one_job_that_tells_of_it(self):
        self.start_quick({"permanent": self.handler("exit 65"),
                          "exhausted": self.handler("exit 3"),
                          "late": self.handler("sleep 60", timeout="100ms"),
                          "crash": self.handler("kill -KILL $PPID; sleep 60")})
        for job_type, error in (("permanent", "exit code 65"), ("exhausted", "exit code 3"),
                                ("late", "timed out after 100ms"), ("crash", "killed by SIGKILL")):
            with self.subTest(job_type):
                job = self.run_job(job_type, '{"a": [1.50]}', state="dead")
                [[_, payload, told]] = self.alerts_for(job["id"])
                self.assertEqual((payload, told), ({"a": [1.5]}, job["last_error"]))
                self.assertIn(error, told)
        job = self.run_job("permanent", "--raw", "-", stdin=b"\xff\0", state="dead")
        self.assertEqual(self.alerts_for(job["id"]), [[job["id"], "/wA=", "exit code 65"]])

    def test_pools_that_kill_each_others_jobs_come_to_an_end(self):
        """No check of one config can see the circle."""
        for here, there in ("ab", "ba"):
            self.configure({here: {"command": "exit 65", "on_dead": {"type": there, "queue": there}}},
                           QUICK, f"{here}.yaml", queues={here: {}})
            self.start(self.path(f"{here}.yaml")).wait_ready()
        self.enqueue("a", '"first"', "--queue", "a")
        wait_for(lambda: any("brought each other" in event.get("error", "")
                             for pool in self.pools for event in pool.events("job_dead")),
                 "the end of the circle")
        wait_for(lambda: [job["state"] for job in self.jobs()] == ["dead"] * 9,
                 lambda: f"nine dead jobs, not {self.jobs()}")
        jobs = self.jobs()
        [last] = [job for job in jobs if job["payload"] == "first"]
        for _ in range(8):
            [last] = [job for job in jobs if job["payload"][0] == last["id"]]

    def test_a_stalled_job_does_so_too(self):
        handlers = {"hold": self.handler(HOLD, max_stalls=1)}
        pool = self.start_quick(handlers)
        job = self.enqueue("hold", "7")
        self.wait_held()
        pool.kill()
        self.start_quick(handlers)
        job = self.wait_state(job, "dead")
        self.assertEqual((job["reason"], job["stalls"], job["attempts"]), ("stalled", 1, 0))
        self.assertEqual(self.alerts_for(job["id"]), [[job["id"], 7, job["last_error"]]])


class Cancelling(RunningCase):
    def test_a_running_job_is_stopped_and_ends_cancelled_however_it_exits(self):
        pool = self.start_quick({"obeys": {"command": HOLD},
                                 "exits": {"command": "trap 'exit $(cat)' TERM; " + HOLD},
                                 "deaf": {"command": "trap '' TERM; " + HOLD}})
        for job_type, payload in (("obeys", "0"), ("exits", "0"), ("exits", "3"), ("exits", "65"),
                                  ("exits", "75"), ("deaf", "0")):
            with self.subTest(job_type, payload=payload):
                job = self.enqueue(job_type, payload)
                wait_for(lambda job=job: job in self.held(), "a running job")
                self.ok("cancel", job)
                found = self.wait_state(job, "cancelled")
                self.assertEqual((found["attempts"], found["executions"]), (0, 1))
                self.assertEqual([run["outcome"] for run in found["runs"]], ["cancelled"])
                self.assertIsNotNone(found["cancel_requested_at"])
                pool.wait_event("job_cancelled", job=job)

    def test_a_job_that_was_cancelled_before_a_worker_started_it_has_no_run(self):
        pool = self.start_quick({"x": {"command": NOTE}})
        workers = self.freeze_workers(pool)
        job = self.enqueue("x")
        self.wait_state(job, "running")
        self.ok("cancel", job)
        self.assertEqual(self.wait_state(job, "cancelled")["runs"], [])
        self.thaw(workers)
        self.assertEqual(self.run_job("x")["executions"], 1)
        self.assertEqual(len(self.read("ran").split()), 1)

    def test_an_ack_that_comes_first_wins_and_no_other_return_does(self):
        pool = self.start_quick({"hold": {"command": HOLD + "; exit $(cat)"}},
                                {"num_workers": 4, "lease": "10m", "heartbeat_interval": "3m",
                                 "stale_threshold": "10m"})
        # The beat after the second is far away, so nobody tells the jobs.
        wait_for(lambda: any(moment(entry["beat_at"]) - moment(entry["started_at"]) > 0.3
                             for entry in self.objects("pools")), "the second beat")
        ends = {"0": "done", "3": "cancelled", "65": "cancelled", "75": "cancelled"}
        jobs = {self.enqueue("hold", code): state for code, state in ends.items()}
        self.wait_held(4)
        self.ok("cancel", *jobs)
        self.let_go()
        for job, state in jobs.items():
            self.wait_state(job, state)


class Types(RunningCase):
    def test_a_type_without_a_handler_is_dead_if_the_config_says_so(self):
        self.start_quick({"x": {"command": NOTE}}, {"unknown_types": "dead"})
        job = self.run_job("y", state="dead")
        self.assertEqual((job["reason"], job["last_error"], job["attempts"], job["runs"]),
                         ("no_handler", "no handler for type 'y'", 0, []))

    def test_the_exact_type_beats_a_prefix_and_the_longest_prefix_wins(self):
        patterns = ["*", "a:*", "a:b:*", "a:b:c"]
        self.start_quick({pattern: {"command": ["/bin/echo", "-n", pattern], "result": "stdout"}
                          for pattern in patterns})
        for job_type, pattern in (("a:b:c", "a:b:c"), ("a:b:cd", "a:b:*"), ("a:b:", "a:b:*"),
                                  ("a:b", "a:*"), ("ab", "*")):
            with self.subTest(job_type):
                job = self.run_job(job_type)
                self.assertEqual(self.ok("logs", job["id"]), pattern)


class Recycling(RunningCase):
    def check(self, pool_settings, reason):
        pool = self.start_quick({"x": {"command": NOTE}}, {"num_workers": 1, **pool_settings})
        first = pool.pid_of("worker 1")
        self.enqueue_many(7, "x")
        self.wait_stats(done=7)
        self.assertEqual({(job["executions"], job["attempts"]) for job in self.jobs()}, {(1, 0)})
        self.assertEqual(len(self.read("ran").split()), 7)
        pool.wait_replaced("worker 1", first)
        return pool.events("worker_recycled", reason=reason)

    def test_a_worker_is_replaced_after_so_many_jobs(self):
        recycled = self.check({"max_jobs_per_worker": 3}, "max_jobs_per_worker")
        self.assertEqual([event["jobs"] for event in recycled], [3, 3])

    def test_a_worker_is_replaced_when_it_has_grown_too_large(self):
        recycled = self.check({"max_worker_rss": "1M"}, "max_worker_rss")
        self.assertEqual([event["jobs"] for event in recycled], [1] * 7)


class Once(RunningCase):
    def test_all_that_is_ready_is_run_and_then_it_ends(self):
        self.enqueue_many(20, "x")
        later = self.enqueue("x", "--run-at", "+1h")
        self.configure({"x": {"command": NOTE}, "bad": {"command": "exit 65"}}, QUICK)
        bad = self.enqueue("bad")
        pool = self.start(None, "--once")
        self.assertEqual(pool.wait(), 0, pool.log_text())
        self.assertEqual(len(self.read("ran").split()), 20)
        self.assertEqual([self.job(job)["state"] for job in (later, bad)], ["scheduled", "dead"])

    def test_a_store_without_jobs_is_soon_served(self):
        self.configure({"x": {"command": NOTE}})
        for backend in (self.backend, "memory:"):
            with self.subTest(backend):
                pool = self.start(None, "--once", "--backend", backend)
                self.assertEqual(pool.wait(), 0, pool.log_text())


class Waiting(RunningCase):
    def test_enqueue_wait_ends_as_the_job_does(self):
        self.start_quick({"good": {"command": "true"}, "bad": {"command": "exit 65"}})
        self.assertEqual(self.thctl("enqueue", "good", "--wait").code, 0)
        result = self.thctl("enqueue", "bad", "--wait")
        self.assertEqual(result.code, 1, result)
        self.assertIn("exit code 65", result.err)


if __name__ == "__main__":
    unittest.main()

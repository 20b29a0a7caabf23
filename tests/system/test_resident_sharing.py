"""
Residents that are shared by handlers, and that have several jobs at a time:
tests/fixtures/resident_many.py, which does what its jobs say.
"""
import json
import os
import shutil
import signal
import unittest

from daemon import DaemonCase, is_alive, title, wait_for

SOURCE = os.environ.get("TH_SOURCE_DIR", os.path.join(os.path.dirname(__file__), "..", ".."))
EXAMPLES = os.path.abspath(os.path.join(SOURCE, "examples", "residents"))
FIXTURE = os.path.abspath(os.path.join(SOURCE, "tests", "fixtures", "resident_many.py"))
PROGRAM = {"resident": ["/usr/bin/python3", FIXTURE]}
QUICK = {"lease": "3s", "heartbeat_interval": "300ms", "kill_grace": "300ms"}


class SharingCase(DaemonCase):

    def start_many(self, handlers=None, concurrency=10, num_workers=1, **pool):
        return self.start_pool(
            handlers or {"r": {**PROGRAM, "concurrency": concurrency, "timeout": "1h"},
                         "c": {"command": "true"}},
            pool={"num_workers": num_workers, **QUICK, **pool},
            defaults={"retry": {"policy": "fixed", "base_delay": "1h"}})

    def enqueue_way(self, do, *options, job_type="r", **members):
        return self.enqueue(job_type, json.dumps({"do": do, **members}), *options)

    def run_way(self, do, state="done", job_type="r", **members):
        return self.wait_state(self.enqueue_way(do, job_type=job_type, **members), state)

    def wait_running(self, *jobs):
        """Waits until the program has said that it is at all of them."""
        def look():
            return all(job["state"] == "running" and job["progress"]
                       for job in map(self.job, jobs))
        wait_for(look, lambda: f"progress: {[self.job(job_id) for job_id in jobs]}")

    def hold(self, count, *options, **members):
        jobs = [self.enqueue_way("hold", *options, number=number, **members)
                for number in range(count)]
        self.wait_running(*jobs)
        return jobs

    def counts(self, job_id):
        job = self.job(job_id)
        return job["state"], job["attempts"], job["stalls"]

    def check_undisturbed(self, jobs):
        """Those that were given back run again, uncounted."""
        for job in map(self.job, jobs):
            self.assertEqual((job["state"], job["executions"]), ("running", 1))

    def wait_counts(self, job_id, *expected):
        wait_for(lambda: self.counts(job_id) == expected,
                 lambda: f"{expected}, not {self.job(job_id)}")


class Sharing(SharingCase):

    def shown(self, job_type):
        return self.run_way("show", job_type=job_type)["result"]

    def test_handlers_that_start_the_same_program_share_it(self):
        pool = self.start_many({"a": PROGRAM, "b": PROGRAM, "c:*": {**PROGRAM, "timeout": "3s"}})
        pids = {self.shown(job_type)["pid"] for job_type in ("a", "b", "c:x", "a")}
        self.assertEqual(len(pids), 1)
        self.assertEqual(len(pool.events("resident_started")), 1)

    def test_another_environment_or_folder_is_another_program(self):
        os.mkdir(self.path("elsewhere"))
        self.start_many({"a": PROGRAM, "red": {**PROGRAM, "env": {"COLOUR": "red"}},
                         "away": {**PROGRAM, "cwd": "./elsewhere"},
                         "polite": {**PROGRAM, "nice": 3}})
        shown = {job_type: self.shown(job_type) for job_type in ("a", "red", "away", "polite")}
        self.assertEqual(len({one["pid"] for one in shown.values()}), 4)
        self.assertEqual((shown["a"]["colour"], shown["red"]["colour"]), (None, "red"))

    def test_the_smallest_concurrency_of_its_jobs_counts(self):
        self.start_many({"many": {**PROGRAM, "concurrency": 10}, "alone": PROGRAM})
        held = self.hold(2, job_type="many")
        alone = self.enqueue_way("show", job_type="alone")
        self.ok("cancel", *held)
        self.assertEqual(self.wait_state(alone, "done")["result"]["others"], 0)


class Together(SharingCase):

    def test_fifty_jobs_wait_in_one_program(self):
        pool = self.start_many(concurrency=50)
        jobs = self.hold(49)
        shown = self.run_way("show")["result"]
        self.assertEqual(shown["others"], 49)
        self.run_way("let_go")
        ends = [self.wait_state(job_id, "done") for job_id in jobs]
        self.assertEqual({end["result"]["pid"] for end in ends}, {shown["pid"]})
        self.assertEqual([end["result"]["payload"]["number"] for end in ends], list(range(49)))
        self.assertEqual(len(pool.events("resident_started")), 1)

    def test_answers_come_in_any_order(self):
        self.start_many()
        slow = self.enqueue_way("hold")
        self.wait_running(slow)
        for number in range(5):
            self.assertIsInstance(self.run_way("wait", **{"for": 0.01})["result"], int)
        self.assertEqual(self.job(slow)["state"], "running")
        self.run_way("let_go")
        self.wait_state(slow, "done")

    def test_people_see_how_many_there_are(self):
        pool = self.start_many()
        jobs = self.hold(3)
        wait_for(lambda: title(pool.pid_of("worker 1")) ==
                 f"thd: worker 1 r {jobs[0]} and 2 more",
                 lambda: title(pool.pid_of("worker 1")))

        def shown():
            [pool] = self.objects("pools")
            return [process for process in pool["processes"] if process["name"] == "worker 1"][0]
        wait_for(lambda: shown()["jobs_running"] == 3, shown)
        self.assertEqual((shown()["job"], shown()["type"]), (jobs[0], "r"))
        self.assertIn("3 jobs", self.ok("pools"))
        pool.signal(signal.SIGUSR1)
        pool.wait_event("process_state", count=3, name="worker 1")
        self.assertEqual({event["job"] for event in pool.events("process_state", name="worker 1")},
                         set(jobs))

    def test_each_has_its_own_progress(self):
        self.start_many()
        first, second = self.hold(2)
        self.assertEqual(self.job(first)["progress"]["percent"], 1)
        self.assertEqual(self.job(second)["progress"]["percent"], 1)

    def test_what_it_prints_with_several_jobs_is_nobodys(self):
        pool = self.start_many()
        self.hold(1)
        job = self.run_way("grumble")
        pool.wait_event("resident_output", line="oh no", handler="r")
        self.assertIn(job["output"], (None, ""))

    def test_a_job_of_another_handler_stops_the_intake_until_it_is_empty(self):
        self.start_many()
        held = self.hold(2)
        other = self.enqueue("c")
        after = self.enqueue_way("show")
        self.ok("cancel", *held)
        self.assertEqual(self.wait_state(after, "done")["result"]["others"], 0)
        self.assertEqual(self.wait_state(other, "done")["attempts"], 0)

    def test_an_idle_worker_takes_what_another_cannot(self):
        self.start_many(num_workers=2)
        held = self.hold(1)
        for _ in range(5):
            self.run_job("c")
        self.assertEqual(self.counts(held[0]), ("running", 0, 0))
        self.run_way("let_go")
        self.run_way("let_go")

    def test_large_payloads_go_together_as_well(self):
        self.start_many()
        jobs = self.hold(4, filling=20_000 * "x")
        self.assertEqual(self.run_way("show")["result"]["others"], 4)
        self.run_way("let_go")
        for job_id in jobs:
            self.wait_state(job_id, "done")

    def test_a_worker_is_recycled_when_it_has_done_enough_and_has_none_left(self):
        pool = self.start_many(max_jobs_per_worker=3)
        jobs = self.hold(2)
        self.run_way("let_go")
        for job_id in jobs:
            self.wait_state(job_id, "done")
        pool.wait_event("worker_recycled", jobs=3)
        self.run_way("show")


class OneStops(SharingCase):

    def test_one_that_times_out_is_asked_to_stop_and_the_others_go_on(self):
        self.start_many()
        held = self.hold(2)
        late = self.enqueue_way("obey", "--timeout", "300ms")
        self.wait_counts(late, "retry", 1, 0)
        self.assertEqual(self.job(late)["last_error"], "timed out after 300ms: as you like")
        self.assertIn(late, self.run_way("show")["result"]["cancelled"])
        self.check_undisturbed(held)

    def test_an_answer_that_comes_too_late_does_not_count(self):
        self.start_many()
        late = self.enqueue_way("obey", "--timeout", "300ms", **{"with": {"ok": True}})
        self.wait_counts(late, "retry", 1, 0)
        self.assertEqual(self.job(late)["last_error"], "timed out after 300ms")

    def test_one_that_does_not_stop_is_killed_and_the_others_are_released(self):
        self.start_many()
        before = self.run_way("show")["result"]["pid"]
        held = self.hold(2)
        late = self.enqueue_way("hold", "--timeout", "300ms")
        self.wait_counts(late, "retry", 1, 0)
        self.assertEqual(self.job(late)["last_error"], "timed out after 300ms")
        wait_for(lambda: not is_alive(before), "the end of the program")
        self.wait_running(*held)
        for job_id in held:
            job = self.job(job_id)
            self.assertEqual((job["state"], job["attempts"], job["stalls"]), ("running", 0, 0))
            self.assertEqual(job["runs"][0]["error"], "stopped with another job of its resident")

    def test_one_is_cancelled_and_the_others_go_on(self):
        self.start_many()
        held = self.hold(2)
        job_id = self.enqueue_way("obey")
        self.wait_running(job_id)
        self.ok("cancel", job_id)
        self.wait_counts(job_id, "cancelled", 0, 0)
        self.check_undisturbed(held)

    def test_one_that_was_done_before_it_could_be_cancelled_is_done(self):
        self.start_many()
        job_id = self.enqueue_way("obey", **{"with": {"ok": True, "result": 7}})
        self.wait_running(job_id)
        self.ok("cancel", job_id)
        self.assertEqual(self.wait_state(job_id, "done")["result"], 7)

    def test_a_cancelled_one_that_does_not_stop_is_killed_and_the_others_are_released(self):
        self.start_many()
        first, second = self.hold(2)
        self.ok("cancel", first)
        self.wait_counts(first, "cancelled", 0, 0)
        wait_for(lambda: self.job(second)["executions"] == 2, lambda: self.job(second))
        self.assertEqual(self.counts(second)[1:], (0, 0))

    def test_all_fail_when_it_crashes(self):
        self.start_many()
        held = self.hold(2)
        crash = self.enqueue_way("crash")
        for job_id in held + [crash]:
            self.wait_counts(job_id, "retry", 1, 0)
            job = self.job(job_id)
            self.assertEqual(job["last_error"],
                             "resident r was killed by SIGSEGV before it answered: about to crash")
            self.assertEqual([run["outcome"] for run in job["runs"]], ["retry"])  # and not given back before
        self.run_way("show")

    def test_all_fail_when_it_says_what_nobody_understands(self):
        self.start_many()
        held = self.hold(1)
        self.enqueue_way("babble")
        self.wait_counts(held[0], "retry", 1, 0)
        self.assertIn("wrote a line that is not an answer", self.job(held[0])["last_error"])

    def test_one_at_a_time_is_asked_as_well_and_the_next_gets_no_stale_wish(self):
        self.start_many(concurrency=1)
        before = self.run_way("show")["result"]["pid"]
        late = self.enqueue_way("obey", "--timeout", "300ms")
        self.wait_counts(late, "retry", 1, 0)
        shown = self.run_way("show")["result"]
        self.assertEqual((shown["pid"], shown["cancelled"]), (before, [late]))


class AllStop(SharingCase):

    def test_a_drain_gives_all_of_them_back_uncounted(self):
        pool = self.start_many(shutdown_timeout="100ms")
        held = self.hold(3)
        self.assertEqual(pool.stop(), 0, pool.log_text())
        for job_id in held:
            self.assertEqual(self.counts(job_id), ("ready", 0, 0))

    def test_a_drain_waits_for_what_ends_in_time(self):
        pool = self.start_many()
        jobs = self.hold(3, until=self.path("gate"))
        pool.signal(signal.SIGTERM)
        pool.wait_event("pool_draining")
        self.write("gate", "")
        self.assertEqual(pool.wait(), 0, pool.log_text())
        for job_id in jobs:
            self.assertEqual(self.counts(job_id), ("done", 0, 0))

    def test_a_reload_waits_for_all_of_them(self):
        pool = self.start_many()
        held = self.hold(3)
        worker = pool.pid_of("worker 1")
        pool.signal(signal.SIGHUP)
        pool.wait_event("config_reloaded")
        self.assertEqual([self.counts(job_id) for job_id in held], 3 * [("running", 0, 0)])
        self.ok("cancel", *held)
        pool.wait_replaced("worker 1", worker)
        for job_id in held:
            self.wait_counts(job_id, "cancelled", 0, 0)
        self.run_way("show")

    def test_a_dispatcher_that_dies_loses_none_of_them(self):
        pool = self.start_many()
        held = self.hold(3)
        dispatcher = pool.pid_of("dispatcher")
        os.kill(dispatcher, signal.SIGKILL)
        pool.wait_replaced("dispatcher", dispatcher)
        self.assertEqual(self.run_way("show")["result"]["others"], 3)
        self.run_way("let_go")
        for job_id in held:
            self.wait_counts(job_id, "done", 0, 0)
            self.assertEqual(self.job(job_id)["executions"], 1)

    def test_each_job_of_a_worker_that_dies_has_failed(self):
        pool = self.start_many()
        held = self.hold(3)
        worker = pool.pid_of("worker 1")
        os.kill(worker, signal.SIGKILL)
        pool.wait_replaced("worker 1", worker)
        for job_id in held:
            self.wait_counts(job_id, "retry", 1, 0)
            self.assertEqual(self.job(job_id)["last_error"],
                             "worker 1 was killed by SIGKILL while it ran the job")
        self.run_way("show")

    def test_a_lost_lease_of_one_kills_it_and_releases_the_others(self):
        pool = self.start_many()
        before = self.run_way("show")["result"]["pid"]
        first, second = self.hold(2)
        os.kill(pool.pid_of("heartbeater"), signal.SIGSTOP)
        wait_for(lambda: not is_alive(before), "the end of the program")
        pool.wait_event("job_released", job=second)
        self.assertEqual(self.job(first)["attempts"], 0)
        self.assertEqual(self.job(second)["attempts"], 0)


class Examples(SharingCase):

    def test_every_example_whose_language_is_here_does_what_it_says(self):
        here = [name for name, program in (("py", "python3"), ("js", "node"))
                if shutil.which(program, path="/usr/bin:/bin")]
        self.assertIn("py", here)
        for name in here:
            with self.subTest(name):
                pool = self.start_many({"r": {"resident": [os.path.join(EXAMPLES, "many." + name)],
                                              "concurrency": 20}})
                jobs = [self.enqueue("r", json.dumps({"seconds": 1})) for _ in range(20)]
                long = self.enqueue("r", json.dumps({"seconds": 1000}), "--timeout", "2s")
                for job_id in jobs:
                    self.assertEqual(self.wait_state(job_id, "done")["result"], "slept")
                self.wait_counts(long, "retry", 1, 0)
                self.assertEqual(self.job(long)["last_error"], "timed out after 2s: given up")
                self.assertEqual(len(pool.events("resident_started")), 1)
                self.assertEqual(pool.stop(), 0)
                [end] = pool.events("resident_ended")
                self.assertEqual((end["exit_code"], end["jobs"]), (0, 21))


if __name__ == "__main__":
    unittest.main()

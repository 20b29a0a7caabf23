"""
Residents of a real pool: tests/fixtures/resident.py, which does what its jobs say, and the examples.
"""
import json
import os
import shutil
import signal
import subprocess
import unittest

from daemon import THD, DaemonCase, is_alive, living_in, title, wait_for

SOURCE = os.environ.get("TH_SOURCE_DIR", os.path.join(os.path.dirname(__file__), "..", ".."))
FIXTURE = os.path.abspath(os.path.join(SOURCE, "tests", "fixtures", "resident.py"))
EXAMPLES = os.path.abspath(os.path.join(SOURCE, "examples", "residents"))
QUICK = {"lease": "3s", "heartbeat_interval": "300ms", "kill_grace": "100ms"}


class ResidentCase(DaemonCase):

    def start_resident(self, num_workers=1, handler=None, **pool):
        return self.start_pool(
            {"r": {"resident": ["/usr/bin/python3", FIXTURE], "timeout": "50s", **(handler or {})},
             "c": {"command": "setsid sleep 1000 & echo done"}},
            pool={"num_workers": num_workers, **QUICK, **pool},
            defaults={"retry": {"policy": "fixed", "base_delay": "10ms"}})

    def enqueue_way(self, do, **members):
        return self.enqueue("r", json.dumps({"do": do, **members}))

    def run_way(self, do, state="done", **members):
        return self.wait_state(self.enqueue_way(do, **members), state)

    def pid(self):
        """Of the program that does the next job."""
        return self.run_way("show")["result"]["pid"]

    def wait_running(self, job_id):
        """Waits until the program has said that it is at it."""
        def look():
            job = self.job(job_id)
            return job["state"] == "running" and job["progress"]
        wait_for(look, lambda: f"progress: {self.job(job_id)}")


class Work(ResidentCase):

    def test_one_program_does_many_jobs(self):
        pool = self.start_resident()
        pids = {self.pid() for _ in range(10)}
        self.assertEqual(len(pids), 1)
        self.assertEqual(len(pool.events("resident_started")), 1)
        self.assertEqual(pool.stop(), 0)
        [end] = pool.events("resident_ended")
        self.assertEqual((end["exit_code"], end["jobs"]), (0, 10), "it ended with its stdin")
        self.assertNotIn("signal", end)

    def test_a_handler_says_how_much_of_its_stderr_is_kept(self):
        self.start_resident(handler={"output": "256K"})
        expected = "".join(f"line {number}\n" for number in range(30000))[-(256 << 10):]
        self.assertEqual(self.run_way("lines", count=30000)["output"], expected)

    def test_a_job_is_told_all_that_was_promised(self):
        self.start_resident()
        job = self.run_way("show")
        told = job["result"]["job"]
        deadline = told.pop("deadline")
        self.assertGreater(deadline, 1_700_000_000)
        self.assertEqual(told, {
            "id": job["id"], "type": "r", "queue": "default", "attempt": 1, "max_attempts": 4,
            "execution": 1, "payload": {"do": "show"}})

    def test_each_worker_has_its_own(self):
        self.start_resident(num_workers=2)
        jobs = [self.enqueue_way("sleep") for _ in range(2)]
        for job_id in jobs:
            self.wait_running(job_id)
        self.ok("cancel", *jobs)

    def test_what_it_prints_is_logged_with_its_job_or_with_none(self):
        pool = self.start_resident()
        job = self.run_way("grumble")
        self.assertEqual(job["output"], "oh no\nthis is hard\n")
        lines = [event["line"] for event in pool.events("job_output", job=job["id"])]
        self.assertEqual(lines, ["oh no", "this is hard"])
        self.run_way("mumble")
        pool.wait_event("resident_output", line="nobody asked", handler="r")

    def test_answers_have_their_effect(self):
        self.start_resident()
        dead = self.run_way("fail", "dead", **{"with": {"error": "gone", "retry": False}})
        self.assertEqual((dead["last_error"], dead["reason"]), ("gone", "permanent"))
        asleep = self.run_way("fail", "scheduled", **{"with": {"snooze": "1h"}})
        self.assertEqual(asleep["attempts"], 0)
        raw = self.run_job("r", "--raw", "-", stdin=b"\x00\xff\n")
        self.assertEqual(raw["result"], "00ff0a")

    def test_a_worker_that_is_recycled_takes_it_along(self):
        pool = self.start_resident(max_jobs_per_worker=2)
        self.assertEqual(len({self.pid() for _ in range(4)}), 2)
        pool.wait_event("resident_ended", count=2, exit_code=0)

    def test_commands_of_the_same_worker_leave_it_alone(self):
        self.start_resident()
        before = self.pid()
        for _ in range(3):
            self.run_job("c")
        self.assertEqual(self.pid(), before)


class Ends(ResidentCase):

    def test_a_job_that_kills_it_is_tried_again_and_others_are_done(self):
        self.start_resident(handler={"max_attempts": 2})
        before = self.pid()
        job = self.run_way("crash", "dead")
        self.assertEqual(job["attempts"], 2)
        self.assertEqual(job["last_error"], "resident r was killed by SIGSEGV before it answered: "
                                            "about to crash")
        self.assertNotEqual(self.pid(), before)

    def test_a_job_that_takes_too_long_fails_and_it_is_started_anew(self):
        self.start_resident(handler={"max_attempts": 1, "timeout": "300ms"})
        job = self.run_way("resist", "dead")
        self.assertEqual(job["last_error"], "timed out after 300ms")
        self.pid()

    def test_a_cancelled_job_takes_it_along_with_all_it_started(self):
        pool = self.start_resident()
        before = self.pid()
        job_id = self.enqueue_way("sleep")
        self.wait_running(job_id)
        self.ok("cancel", job_id)
        self.assertEqual(self.wait_state(job_id, "cancelled")["attempts"], 0)
        self.assertFalse(is_alive(before))
        self.pid()
        pool.stop()

    def test_a_drain_gives_its_job_back_uncounted(self):
        pool = self.start_resident(shutdown_timeout="100ms")
        job_id = self.enqueue_way("resist")
        self.wait_running(job_id)
        self.assertEqual(pool.stop(), 0, pool.log_text())
        job = self.job(job_id)
        self.assertEqual((job["state"], job["attempts"], job["stalls"]), ("ready", 0, 0))
        self.assertEqual([title(pid) for pid in living_in(self.folder)], [])

    def test_one_that_ignores_the_end_of_its_stdin_ends_with_its_pool_all_the_same(self):
        pool = self.start_resident()
        self.run_way("stop_reading")
        self.assertEqual(pool.stop(), 0)
        self.assertEqual([title(pid) for pid in living_in(self.folder)], [])

    def test_it_dies_with_its_worker(self):
        pool = self.start_resident()
        before = self.pid()
        worker = pool.pid_of("worker 1")
        os.kill(worker, signal.SIGKILL)
        pool.wait_replaced("worker 1", worker)
        wait_for(lambda: not is_alive(before), "the end of the resident")
        self.assertNotEqual(self.pid(), before)

    def test_it_dies_with_the_master(self):
        pool = self.start_resident()
        self.wait_running(self.enqueue_way("sleep"))
        pool.kill()
        wait_for(lambda: not living_in(self.folder),
                 lambda: f"the end of {[title(pid) for pid in living_in(self.folder)]}")

    def test_one_that_was_killed_between_two_jobs_is_started_anew(self):
        pool = self.start_resident()
        before = self.pid()
        os.kill(before, signal.SIGKILL)
        pool.wait_event("resident_ended", signal="SIGKILL")
        self.assertNotEqual(self.pid(), before)

    def test_a_broken_one_costs_no_attempt_and_its_jobs_are_done_when_it_is_mended(self):
        self.script("broken", f"[ -e mended ] || exec /usr/bin/python3 {FIXTURE} --die\n"
                              f"exec /usr/bin/python3 {FIXTURE}\n")
        pool = self.start_pool({"r": {"resident": ["./broken"]}}, pool={"num_workers": 1})
        job_id = self.enqueue_way("answer")
        event = pool.wait_event("start_failed")
        self.assertIn("exited with code 1 before it read its job: no such module", event["error"])
        self.write("mended", "")
        job = self.wait_state(job_id, "done")
        self.assertEqual((job["attempts"], job["stalls"]), (0, 0))


class Check(DaemonCase):

    def test_a_program_that_is_not_there_is_found_by_a_check(self):
        self.configure({"r": {"resident": ["no-such-program"]}})
        done = subprocess.run([THD, "--config", self.path("jobs.yaml"), "--check"], cwd=self.folder,
                              env=self.environment_with(None, True), stderr=subprocess.PIPE,
                              text=True, check=False)
        self.assertEqual(done.returncode, 78)
        self.assertIn("handlers.r.resident: there is no program 'no-such-program'", done.stderr)


class Examples(DaemonCase):

    def test_every_example_whose_language_is_here_does_what_it_says(self):
        languages = {"py": "python3", "js": "node", "rb": "ruby", "pl": "perl", "sh": "sh"}
        here = [name for name, program in languages.items()
                if shutil.which(program, path="/usr/bin:/bin")]
        self.assertLessEqual({"py", "pl", "sh"}, set(here))
        self.start_pool({name: {"resident": [os.path.join(EXAMPLES, "echo." + name)]}
                         for name in here}, pool={"num_workers": 1})
        payload = {"text": "a \"word\" ü,\n", "list": [1, {}, None, 2.5], "payload": "x"}
        for name in here:
            with self.subTest(name):
                for _ in range(3):
                    self.assertEqual(self.run_job(name, json.dumps(payload))["result"], payload)


if __name__ == "__main__":
    unittest.main()

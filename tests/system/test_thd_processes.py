"""
The processes of a pool: what ps shows of them, what they hold, and what happens when they die.
"""
import os
import signal
import unittest

from daemon import children, is_alive, is_stopped, living_in, read_proc, title, wait_for
from gate import GateCase

SERVICES = ["dispatcher", "heartbeater", "scheduler", "retrier", "reaper"]
FOR_THE_MASTER = ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGTSTP"]
SECRET = "vault-of-hearts"  # in the backend's URL alone


def kill(pid):
    os.kill(pid, signal.SIGKILL)


def open_files(pid):
    folder = f"/proc/{pid}/fd"
    return [os.readlink(os.path.join(folder, name)) for name in os.listdir(folder)]


class Titles(GateCase):

    def test_ps_shows_every_process_by_its_role(self):
        pool = self.brisk_pool(pool_id="web-1", num_workers=3)
        self.assertEqual(title(pool.pid), "thd: master pool=web-1")
        self.assertEqual(sorted(title(pid) for pid in children(pool.pid)),
                         sorted(f"thd: {name}" for name in
                                SERVICES + ["worker 1", "worker 2", "worker 3"]))

    def test_a_worker_shows_the_job_that_it_runs_and_no_longer(self):
        pool = self.brisk_pool(num_workers=1)
        worker = pool.pid_of("worker 1")
        job_id = self.held_job()
        self.assertEqual(title(worker), f"thd: worker 1 held {job_id}")
        self.open_gate()
        wait_for(lambda: title(worker) == "thd: worker 1", lambda: "an idle one: " + title(worker))

    def test_a_pool_that_has_just_started_soon_shows_its_workers(self):
        self.brisk_pool(lease="300s", heartbeat_interval="100s", stale_threshold="300s")

        def workers():
            [pool] = self.objects("pools")
            return [process["state"] for process in pool["processes"]
                    if process["name"].startswith("worker")]
        wait_for(lambda: workers() == ["idle", "idle"], "two idle workers")


class Signals(GateCase):

    def test_only_the_master_acts_on_signals(self):
        pool = self.brisk_pool(num_workers=2)
        running = self.held_job()
        before = pool.processes()
        for name in FOR_THE_MASTER:
            for pid in before.values():
                os.kill(pid, getattr(signal, name))
        self.run_job("quick")
        self.assertEqual(pool.processes(), before)
        self.assertFalse(any(is_stopped(pid) for pid in before.values()))
        self.assertEqual(pool.events("process_exited"), [])
        self.assertEqual(pool.events("pool_draining"), [])
        self.open_gate()
        self.assert_untouched(running)


class Deaths(GateCase):

    def test_a_service_that_is_killed_is_back_and_no_job_notices(self):
        pool = self.brisk_pool()
        running = self.held_job()
        for name in SERVICES:
            with self.subTest(name):
                pid = pool.pid_of(name)
                kill(pid)
                self.assertNotEqual(pool.wait_replaced(name, pid), pid)
                pool.wait_event("process_exited", name=name, pid=pid, signal="SIGKILL")
                self.assert_untouched(self.enqueue("quick"))
        self.open_gate()
        self.assert_untouched(running)

    def test_killing_who_holds_the_jobs_again_and_again_costs_no_job(self):
        for name in ("dispatcher", "heartbeater"):
            with self.subTest(name):
                pool = self.brisk_pool(lease="10s")  # it outlives the delays of the restarts
                running = self.held_job()
                lines = '{"type": "quick"}\n' * 40
                self.ok("enqueue", "--bulk", self.write("jobs.jsonl", lines))
                for _ in range(4):
                    pid = pool.pid_of(name)
                    kill(pid)
                    pool.wait_replaced(name, pid)
                self.open_gate()
                self.assert_untouched(running)
                wait_for(lambda: {job["state"] for job in self.jobs()} == {"done"},
                         lambda: f"the end of {self.objects('stats')}\n{pool.log_text()}")
                self.assertEqual({(job["attempts"], job["stalls"]) for job in self.jobs()},
                                 {(0, 0)})
                self.assertEqual(pool.stop(), 0)
                self.close_gate()
        self.assert_no_overlaps()

    def test_a_result_that_nobody_has_read_is_found_by_the_next_dispatcher(self):
        pool = self.brisk_pool(num_workers=1, lease="10s")
        job_id = self.held_job()
        dispatcher, worker = pool.pid_of("dispatcher"), pool.pid_of("worker 1")
        os.kill(dispatcher, signal.SIGSTOP)
        self.open_gate()
        wait_for(lambda: title(worker) == "thd: worker 1", "the end of the run")
        self.assertEqual(self.job(job_id)["state"], "running")
        kill(dispatcher)
        self.assert_untouched(job_id)
        self.assertEqual(len(self.starts(job_id)), 1)

    def test_an_idle_worker_that_is_killed_is_replaced(self):
        pool = self.brisk_pool(num_workers=1)
        worker = pool.pid_of("worker 1")
        kill(worker)
        pool.wait_replaced("worker 1", worker)
        self.assert_untouched(self.enqueue("quick"))

    def test_a_killed_worker_takes_the_whole_tree_of_its_job_along_and_that_counts(self):
        self.handlers["tree"] = {
            "command": "setsid sh -c 'echo $$ >>tree; setsid sleep 1000 & wait' & "
                       "echo $$ >>tree; exec sleep 1000",
            "max_attempts": 1}
        pool = self.brisk_pool(num_workers=1)
        job_id = self.enqueue("tree")
        wait_for(lambda: len(self.lines("tree")) == 2, "the tree")
        worker = pool.pid_of("worker 1")
        others = set(pool.processes().values()) | {pool.pid}
        wait_for(lambda: len(set(living_in(self.folder)) - others) == 3, "three processes")
        kill(worker)
        job = self.wait_state(job_id, "dead")
        self.assertEqual(set(living_in(self.folder)) - others, {pool.pid_of("worker 1")})
        self.assertEqual((job["attempts"], job["stalls"], job["signal"]), (1, 0, 9), job)
        self.assertIn("SIGKILL", job["last_error"])
        self.assert_untouched(self.enqueue("quick"))

    def test_one_that_dies_again_and_again_is_restarted_with_a_growing_delay(self):
        pool = self.brisk_pool()
        for count in range(1, 5):
            kill(pool.pid_of("scheduler"))
            pool.wait_event("process_exited", count, name="scheduler")
        self.assertEqual([event["restart_ms"] for event in
                          pool.events("process_exited", name="scheduler")], [0, 100, 200, 400])


class DeathOfTheMaster(GateCase):

    def test_everything_ends_with_the_master(self):
        self.handlers["tree"] = {
            "command": "setsid sh -c 'setsid sleep 1000 & echo >>tree; wait' & exec sleep 1000"}
        pool = self.brisk_pool()
        self.enqueue("tree")
        self.held_job()
        wait_for(lambda: self.lines("tree"), "the tree")
        pool.kill()
        wait_for(lambda: not living_in(self.folder),
                 lambda: "the end of " + ", ".join(map(title, living_in(self.folder))))

    def test_its_jobs_are_run_by_another_pool_after_their_leases_have_ended_and_not_before(self):
        first = self.brisk_pool(lease="2s")
        job_id = self.held_job()
        second = self.start().wait_ready()
        first.kill()
        wait_for(lambda: not any(map(is_alive, self.starts(job_id))), "the end of the first run")
        [(expiry,)] = self.sql("SELECT expires_at FROM lease")
        self.open_gate()
        job = self.wait_state(job_id, "done")
        self.assertEqual((job["executions"], job["attempts"], job["stalls"]), (2, 0, 1), job)
        [(started,)] = self.sql("SELECT started_at FROM ended")
        self.assertGreaterEqual(started, expiry)
        self.assertEqual(second.wait_event("job_stalled", job=job_id)["stalls"], 1)
        self.assert_no_overlaps()


class Holdings(GateCase):
    """Who knows what."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path(SECRET))
        self.database = self.path(SECRET + "/jobs.db")
        self.backend = "sqlite:" + self.database

    def test_master_and_workers_have_no_database_open_and_show_no_url(self):
        for given in ("environment", "option", "config"):
            with self.subTest(given):
                pool = self.start_with(given).wait_ready()
                self.assert_untouched(self.enqueue("quick"))
                for pid in (pool.pid, pool.pid_of("worker 1"), pool.pid_of("worker 2")):
                    self.assertEqual([file for file in open_files(pid) if "jobs.db" in file], [])
                    self.assertNotIn(SECRET.encode(), read_proc(pid, "cmdline"))
                    self.assertNotIn(SECRET.encode(), read_proc(pid, "environ"))
                files = open_files(pool.pid_of("dispatcher"))
                self.assertTrue(any("jobs.db" in file for file in files), files)
                self.assertEqual(pool.stop(), 0)

    def test_what_leads_to_the_store_does_not_reach_a_job(self):
        self.handlers["env"] = {"command": "env >seen; cat /proc/$PPID/environ >>seen"}
        self.brisk_pool(env={"PGPASSWORD": SECRET, "TASKHARBOR_BACKEND": self.backend})
        self.run_job("env")
        with open(self.path("seen"), encoding="utf-8") as seen:
            self.assertNotIn(SECRET, seen.read())

    def start_with(self, given):
        sections = {"backend": self.backend} if given == "config" else {}
        config = self.configure(self.handlers, **sections)
        arguments = ["--backend", self.backend] if given == "option" else []
        return self.start(config, *arguments, backend=given == "environment")


if __name__ == "__main__":
    unittest.main()

"""
Signals: how a pool pauses, tells, drains and ends; and what systemd hears of it.
"""
import os
import signal
import unittest

from daemon import is_alive, living_in, wait_for
from harness import only_sqlite
from gate import GateCase
from notified import NotifiedCase

STUBBORN = "trap '' TERM; echo >>stubborn; while :; do sleep 0.05; done"


class Ending(GateCase):

    def assert_gone(self, pool, code=0):
        """It ended by itself, said so, and nothing of it is left."""
        self.assertEqual(pool.wait(), code, pool.log_text())
        self.assertEqual(pool.events("pool_stopped")[-1]["exit_code"], code)
        self.assertEqual(self.objects("pools"), [])
        self.assertEqual(living_in(self.folder), [])

    def assert_given_back(self, job_id):
        job = self.job(job_id)
        self.assertEqual((job["state"], job["attempts"], job["stalls"]), ("ready", 0, 0), job)


class Drain(Ending):

    def test_an_idle_pool_drains_and_deregisters(self):
        for name in ("SIGTERM", "SIGINT", "SIGQUIT"):
            with self.subTest(name):
                pool = self.brisk_pool()
                self.assertEqual(len(self.objects("pools")), 1)
                pool.signal(getattr(signal, name))
                self.assert_gone(pool)
                event = "pool_stopping" if name == "SIGQUIT" else "pool_draining"
                self.assertEqual(pool.events(event)[0]["reason"], name)

    @only_sqlite("reads leases in the file")
    def test_a_running_job_is_waited_for_though_it_takes_longer_than_its_lease(self):
        pool = self.brisk_pool()
        job_id = self.held_job()
        [(before,)] = self.sql("SELECT expires_at FROM lease")
        pool.signal(signal.SIGTERM)
        pool.wait_event("pool_draining")
        late = self.enqueue("held")
        wait_for(lambda: self.sql("SELECT max(expires_at) > ? FROM lease", before + 4 * 10**6)
                 == [(1,)], "a lease that outlives the first one")
        self.open_gate()
        self.assert_gone(pool)
        self.assert_untouched(job_id)
        self.assertEqual(self.starts(late), [])
        self.assert_given_back(late)

    def test_what_was_only_fetched_is_given_back_uncounted(self):
        pool = self.brisk_pool(num_workers=1, lease="10s")
        worker = pool.pid_of("worker 1")
        os.kill(worker, signal.SIGSTOP)
        job_id = self.enqueue("quick")
        wait_for(lambda: self.job(job_id)["state"] == "running", "a reservation")
        pool.signal(signal.SIGTERM)
        pool.wait_event("job_released", job=job_id)
        os.kill(worker, signal.SIGCONT)
        self.assert_gone(pool)
        self.assert_given_back(job_id)

    def test_jobs_behind_a_running_one_are_there_for_others_when_the_pool_drains(self):
        pool = self.brisk_pool(num_workers=1)
        running = self.held_job()
        waiting = [self.enqueue("quick") for _ in range(5)]
        pool.signal(signal.SIGTERM)
        pool.wait_event("pool_draining")
        for job_id in waiting:
            self.wait_state(job_id, "ready")
        self.open_gate()
        self.assert_gone(pool)
        self.assert_untouched(running)
        for job_id in waiting:
            self.assert_given_back(job_id)

    def test_a_job_that_outlasts_the_shutdown_timeout_is_stopped_and_given_back_uncounted(self):
        self.handlers["stubborn"] = {"command": STUBBORN}
        pool = self.brisk_pool(shutdown_timeout="200ms")
        polite = self.held_job()
        stubborn = self.enqueue("stubborn")
        wait_for(lambda: self.lines("stubborn"), "the stubborn job")
        pool.signal(signal.SIGTERM)
        self.assert_gone(pool)
        self.assert_given_back(polite)
        self.assert_given_back(stubborn)
        self.assertEqual(self.lines("ends"), [])

    def test_a_pool_that_shall_not_wait_stops_its_jobs_at_once(self):
        for first, second in (("SIGTERM", "SIGTERM"), ("SIGINT", "SIGINT"), ("SIGTERM", "SIGINT"),
                              ("SIGTERM", "SIGQUIT"), (None, "SIGQUIT")):
            with self.subTest(first=first, second=second):
                pool = self.brisk_pool()
                job_id = self.held_job()
                if first:
                    pool.signal(getattr(signal, first))
                    pool.wait_event("pool_draining", reason=first)
                pool.signal(getattr(signal, second))
                pool.wait_event("pool_stopping", reason=second)
                self.assert_gone(pool)
                self.assert_given_back(job_id)
                self.ok("cancel", job_id)

    def test_a_signal_to_the_whole_group_does_no_harm(self):
        for name in ("SIGINT", "SIGTERM"):
            with self.subTest(name):
                pool = self.brisk_pool()
                job_id = self.held_job()
                os.killpg(pool.pid, getattr(signal, name))
                pool.wait_event("pool_draining", reason=name)
                self.open_gate()
                self.assert_gone(pool)
                self.assert_untouched(job_id)
                self.assertEqual([event for event in pool.events("process_exited")
                                  if "signal" in event], [])
                self.close_gate()

    def test_a_drain_whose_dispatcher_dies_still_waits_for_the_job(self):
        pool = self.brisk_pool()
        job_id = self.held_job()
        pool.signal(signal.SIGTERM)
        pool.wait_event("pool_draining")
        for name in ("dispatcher", "heartbeater"):
            pid = pool.pid_of(name)
            os.kill(pid, signal.SIGKILL)
            pool.wait_replaced(name, pid)
        self.open_gate()
        self.assert_gone(pool)
        self.assert_untouched(job_id)

    def test_a_pool_that_is_still_starting_ends_too(self):
        self.backend = "sqlite:" + self.path("nowhere/jobs.db")
        pool = self.start(self.configure(self.handlers))
        pool.wait_event("store_lost")
        pool.signal(signal.SIGTERM)
        self.assertEqual(pool.wait(), 0, pool.log_text())


class Steering(GateCase):

    def test_tstp_stops_reserving_and_cont_goes_on(self):
        pool = self.brisk_pool()
        running = self.held_job()
        pool.signal(signal.SIGTSTP)
        pool.wait_event("pool_paused")
        waiting = self.enqueue("quick")
        self.open_gate()
        self.assert_untouched(running)  # so the dispatcher has heard of it, and of the other job
        self.assertEqual(self.job(waiting)["state"], "ready")
        pool.signal(signal.SIGCONT)
        pool.wait_event("pool_resumed")
        self.assert_untouched(waiting)

    def test_a_pause_outlives_the_dispatcher(self):
        pool = self.brisk_pool()
        pool.signal(signal.SIGTSTP)
        pool.wait_event("pool_paused")
        pid = pool.pid_of("dispatcher")
        os.kill(pid, signal.SIGKILL)
        pool.wait_replaced("dispatcher", pid)
        waiting = self.enqueue("quick")
        pool.signal(signal.SIGUSR1)
        wait_for(lambda: any(event["state"] == "idle" for event in
                             pool.events("process_state", name="dispatcher"))
                 or pool.signal(signal.SIGUSR1), "the new dispatcher")
        self.assertEqual(self.job(waiting)["state"], "ready")
        pool.signal(signal.SIGCONT)
        self.assert_untouched(waiting)

    def test_thctl_has_a_pool_take_no_more_jobs_and_go_on(self):
        pool = self.brisk_pool()
        running = self.held_job()
        self.ok("pools", "quiet", self.objects("pools")[0]["name"])
        pool.wait_event("pool_paused")
        waiting = self.enqueue("quick")
        self.open_gate()
        self.assert_untouched(running)  # so the dispatcher has heard of it
        self.assertEqual(self.job(waiting)["state"], "ready")
        self.ok("pools", "resume", self.objects("pools")[0]["name"])
        pool.wait_event("pool_resumed")
        self.assert_untouched(waiting)

    def test_a_signal_that_came_later_than_what_thctl_wants_is_obeyed(self):
        pool = self.brisk_pool()
        self.ok("pools", "quiet", self.objects("pools")[0]["name"])
        pool.wait_event("pool_paused")
        pool.signal(signal.SIGCONT)
        pool.wait_event("pool_resumed")
        pid = pool.pid_of("heartbeater")  # the next one hears of it again
        os.kill(pid, signal.SIGKILL)
        pool.wait_replaced("heartbeater", pid)
        wait_for(lambda: len(pool.events("pool_wanted")) == 2, "the next heartbeater's first beat")
        self.assert_untouched(self.enqueue("quick"))
        self.assertEqual(len(pool.events("pool_paused")), 1)

    def test_thctl_has_a_pool_end_once_its_jobs_have_ended(self):
        pool = self.brisk_pool()
        running = self.held_job()
        self.ok("pools", "terminate", self.objects("pools")[0]["name"])
        self.assertEqual(pool.wait_event("pool_draining")["reason"], "wanted")
        self.open_gate()
        self.assertEqual(pool.wait(), 0, pool.log_text())
        self.assert_untouched(running)
        self.assertEqual(self.objects("pools"), [])

    def test_usr1_logs_what_every_process_does(self):
        pool = self.brisk_pool(num_workers=2)
        job_id = self.held_job()
        pool.signal(signal.SIGUSR1)
        self.assertEqual(pool.wait_event("pool_state")["state"], "running")
        pool.wait_event("process_state", name="worker 2")
        self.assertEqual({event["name"]: event["pid"] for event in pool.events("process_state")},
                         pool.processes())
        [running] = pool.events("process_state", state="running")
        self.assertEqual((running["job"], running["type"]), (job_id, "held"))

    def test_a_running_job_that_is_cancelled_is_stopped(self):
        self.brisk_pool()
        job_id = self.held_job()
        self.ok("cancel", job_id)
        job = self.wait_state(job_id, "cancelled")
        self.assertEqual(job["attempts"], 0)
        self.assertFalse(is_alive(self.starts(job_id)[0]))
        self.assertEqual(self.lines("ends"), [])


class Systemd(NotifiedCase):

    def setUp(self):
        super().setUp()
        self.handlers["env"] = {"command": "env >seen", "pass_env": ["NOTIFY_SOCKET"]}

    def test_systemd_hears_of_readiness_watchdog_and_end(self):
        pool = self.brisk_pool(num_workers=2)
        self.assertIn("STATUS=running with 2 workers", self.hear("READY=1"))
        self.hear("WATCHDOG=1")
        self.hear("WATCHDOG=1")
        pool.signal(signal.SIGTSTP)
        self.hear("STATUS=paused with 2 workers")
        pool.signal(signal.SIGTERM)
        self.assertIn("STATUS=", self.hear("STOPPING=1"))
        self.assertEqual(pool.wait(), 0)

    def test_the_socket_of_systemd_is_not_for_jobs(self):
        self.brisk_pool()
        self.run_job("env")
        with open(self.path("seen"), encoding="utf-8") as seen:
            self.assertNotRegex(seen.read(), "NOTIFY_SOCKET|WATCHDOG")

    def test_a_watchdog_of_another_process_is_not_fed(self):
        self.environment["WATCHDOG_PID"] = "1"
        pool = self.brisk_pool()
        heard = [self.listener.recv(4096).decode()]
        self.run_job("quick")
        pool.stop()
        self.listener.setblocking(False)
        try:
            while True:
                heard.append(self.listener.recv(4096).decode())
        except BlockingIOError:
            pass
        self.assertNotIn("WATCHDOG=1", heard)
        self.assertIn("STOPPING=1", "\n".join(heard))


if __name__ == "__main__":
    unittest.main()

"""
HUP: a new config is checked, then taken over, and no job is disturbed.

    TH_RELOADS=1000 /usr/bin/python3 -B -m unittest test_thd_reload.Storm
"""
import json
import os
import signal
import subprocess
import time
import unittest

from daemon import THD, children, title, wait_for
from gate import BRISK, GateCase
from notified import NotifiedCase

RELOADS = int(os.environ.get("TH_RELOADS", "200"))
SERVICES = {"dispatcher", "heartbeater", "scheduler", "retrier", "reaper"}


def count_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


class ReloadCase(GateCase):

    def rewrite(self, **settings):
        """Writes the config anew, with the handlers of this case."""
        sections = {name: settings.pop(name) for name in ("queues", "defaults", "log", "cron")
                    if name in settings}
        return self.configure(self.handlers, {**BRISK, **settings}, **sections)

    def reload(self, pool):
        """Sends HUP, and waits until the new config holds."""
        count = len(pool.events("config_reloaded"))
        pool.signal(signal.SIGHUP)
        return pool.wait_event("config_reloaded", count + 1)

    def rejected(self, pool):
        """Sends HUP, and returns what is said against the new config."""
        count = len(pool.events("config_rejected"))
        pool.signal(signal.SIGHUP)
        pool.wait_event("config_rejected", count + 1)
        return pool.events("config_rejected")[count:]

    def workers(self, pool):
        return {name: pid for name, pid in pool.processes().items() if name not in SERVICES}

    def wait_workers(self, pool, count):
        wait_for(lambda: len(self.workers(pool)) == count,
                 lambda: f"{count} workers, not {self.workers(pool)}, in\n{pool.log_text()}")


class Checked(ReloadCase):

    def test_a_wrong_config_is_refused_with_every_place_and_the_old_one_stays(self):
        pool = self.brisk_pool()
        before = pool.processes()
        self.write("jobs.yaml", 'pool:\n  num_worker: 3\nhandlers:\n  quick: {command: []}\n')
        events = self.rejected(pool)
        self.assertEqual([(event["file"], event["line"], event["column"]) for event in events[:-1]],
                         [(self.path("jobs.yaml"), 2, 3), (self.path("jobs.yaml"), 4, 20)], events)
        self.assertIn("did you mean 'num_workers'?", events[0]["error"])
        self.assertIn("is wrong in 2 places", events[-1]["error"])
        self.assertEqual(pool.processes(), before)
        self.rewrite()  # for thctl, which reads it too
        self.assert_untouched(self.enqueue("quick"))

    def test_a_fifo_among_the_files_of_a_config_is_refused_and_freezes_nobody(self):
        pool = self.brisk_pool()
        before = pool.processes()
        os.mkdir(self.path("conf.d"))
        os.mkfifo(self.path("conf.d/fifo"))
        schema = {**self.handlers, "checked": {"command": "true", "schema": "./conf.d/fifo"}}
        plugin = {**self.handlers, "plugged": {"plugin": "./conf.d/fifo"}}
        for handlers, sections, check, reload in (
                (self.handlers, {"include": ["conf.d/*"]}, True, True),
                (schema, {}, True, True), (plugin, {}, True, False)):
            self.configure(handlers, BRISK, **sections)
            if check:
                checked = subprocess.run([THD, "--check", "--config", self.path("jobs.yaml")],
                                         env=self.environment, capture_output=True, text=True,
                                         timeout=60, check=False)
                self.assertEqual(checked.returncode, 78)
                self.assertIn("it is not a regular file", checked.stderr)
            if reload:
                self.assertIn("it is not a regular file", self.rejected(pool)[0]["error"])
                self.assertEqual(pool.processes(), before)
        self.rewrite()
        self.assert_untouched(self.enqueue("quick"))

    def test_what_cannot_change_while_it_runs_is_refused_in_one_sentence(self):
        self.environment["TASKHARBOR_BACKEND"] = ""
        self.configure(self.handlers, BRISK, backend=self.backend)
        pool = self.start(backend=False).wait_ready()
        before = pool.processes()
        for says, settings in (
                ("pool.pool_id cannot change", {"pool": {**BRISK, "pool_id": "other"}}),
                ("pool.num_workers can grow to 18 while thd runs, not to 19",
                 {"pool": {**BRISK, "num_workers": 19}}),
                ("backend: cannot change while thd runs", {"backend": "sqlite:" + self.path("other.db")}),
                ("handler 'quick': there is no user", {"handlers": {
                    "quick": {"command": "true", "user": "nobody-of-this-name"}}})):
            with self.subTest(says):
                self.configure(**{"handlers": self.handlers, "pool": BRISK,
                                  "backend": self.backend, **settings})
                self.assertIn(says, self.rejected(pool)[0]["error"])
        self.assertEqual(pool.processes(), before)

    def test_what_was_typed_comes_before_the_new_config(self):
        self.rewrite(num_workers=2)
        pool = self.start(None, "--num-workers", "3", "--backend", self.backend).wait_ready()
        self.configure(self.handlers, {**BRISK, "num_workers": 1},
                       backend="sqlite:" + self.path("other.db"))
        self.assertEqual(self.reload(pool)["workers"], 3)
        self.assert_untouched(self.enqueue("quick"))
        self.assertEqual(len(self.workers(pool)), 3)

    def test_a_config_that_now_names_another_backend_than_the_environment_is_refused(self):
        self.rewrite()
        pool = self.start().wait_ready()
        self.configure(self.handlers, BRISK, backend="sqlite:" + self.path("other.db"))
        self.assertIn("backend: cannot change", self.rejected(pool)[0]["error"])
        self.configure(self.handlers, {**BRISK, "lease": 3}, backend="sqlite:./other.db")
        self.assertEqual(len(self.rejected(pool)), 3)  # both faults, and their sum
        self.configure(self.handlers, BRISK, backend=self.backend)
        self.reload(pool)

    def test_a_pool_that_drains_takes_no_new_config(self):
        pool = self.brisk_pool()
        job_id = self.held_job()
        pool.signal(signal.SIGTERM)
        pool.wait_event("pool_draining")
        [event] = self.rejected(pool)
        self.assertIn("about to end", event["error"])
        self.open_gate()
        self.assertEqual(pool.wait(), 0)
        self.assert_untouched(job_id)


class TakenOver(ReloadCase):

    def test_every_process_is_replaced_and_nothing_is_left_of_the_old_ones(self):
        pool = self.brisk_pool()
        before, files = pool.processes(), count_files(pool.pid)
        event = self.reload(pool)
        self.assertEqual((event["generation"], event["workers"]), (2, 2))
        self.wait_workers(pool, 2)
        wait_for(lambda: not set(pool.processes().values()) & set(before.values()),
                 lambda: f"all to be replaced: {before}, {pool.processes()}")
        self.assertEqual(set(pool.processes()), set(before))
        wait_for(lambda: count_files(pool.pid) == files, "the old descriptors to be closed")
        self.assertEqual(len(children(pool.pid)), len(before))
        self.assertEqual([event for event in pool.events("process_exited")
                          if event["level"] != "info"], [])
        [shown] = self.objects("pools")
        self.assertEqual(pool.stop(), 0)
        self.assertEqual(shown["state"], "running")

    def test_queued_jobs_run_by_the_new_config_and_running_ones_by_the_old(self):
        self.handlers["late"] = {"command": "echo old >>said"}
        pool = self.brisk_pool(num_workers=1)
        running = self.held_job()
        waiting = self.enqueue("late")
        self.handlers["late"] = {"command": "echo new >>said"}
        self.rewrite(num_workers=1)
        self.assertEqual(self.reload(pool)["old_workers"], 1)
        self.open_gate()
        self.assert_untouched(running)
        self.wait_state(waiting, "done")
        self.assertEqual(self.lines("said"), [["new"]])

    def test_a_new_policy_holds_for_queued_jobs(self):
        self.handlers["fails"] = {"command": "exit 1", "max_attempts": 1}
        pool = self.brisk_pool(num_workers=1)
        running = self.held_job()
        waiting = self.enqueue("fails")
        self.handlers["fails"] = {"command": "exit 1", "max_attempts": 3,
                                  "retry": {"policy": "fixed", "base_delay": "10ms"}}
        self.rewrite(num_workers=1)
        self.reload(pool)
        self.open_gate()
        self.assertEqual(self.wait_state(waiting, "dead")["attempts"], 3)
        self.assert_untouched(running)

    def test_the_end_of_a_job_whose_handler_is_gone_is_recorded(self):
        pool = self.brisk_pool(num_workers=1)
        running = self.held_job()
        del self.handlers["held"]
        self.rewrite(num_workers=1)
        self.reload(pool)
        self.open_gate()
        self.assert_untouched(running)

    def test_long_jobs_hold_nobody_up_and_are_seen_as_what_is_waited_for(self):
        pool = self.brisk_pool(num_workers=2)
        running = self.held_job()
        self.reload(pool)
        self.assert_untouched(self.enqueue("quick"))
        wait_for(lambda: self.objects("pools")[0]["state"] == "replacing", "its state")
        pool.signal(signal.SIGUSR1)
        state = pool.wait_event("pool_state")
        self.assertEqual((state["generation"], state["old_workers"]), (2, 1))
        self.open_gate()
        self.assert_untouched(running)
        wait_for(lambda: self.objects("pools")[0]["state"] == "running", "its state")

    def test_workers_may_be_more_and_fewer(self):
        pool = self.brisk_pool(num_workers=2)
        for count in (5, 1, 3):
            with self.subTest(count):
                self.rewrite(num_workers=count)
                self.assertEqual(self.reload(pool)["workers"], count)
                self.wait_workers(pool, count)
                self.assertEqual(set(self.workers(pool)),
                                 {f"worker {number}" for number in range(1, count + 1)})
                jobs = [self.held_job() for _ in range(count)]
                self.open_gate()
                for job_id in jobs:
                    self.assert_untouched(job_id)
                self.close_gate()

    def test_a_worker_too_many_finishes_its_job_first(self):
        pool = self.brisk_pool(num_workers=2)
        jobs = [self.held_job() for _ in range(2)]
        self.rewrite(num_workers=1)
        self.reload(pool)
        self.open_gate()
        for job_id in jobs:
            self.assert_untouched(job_id)
        self.wait_workers(pool, 1)

    def test_the_reaper_may_be_switched_off_and_on(self):
        pool = self.brisk_pool()
        for enabled in (False, True):
            self.rewrite(enable_reaper=enabled)
            self.reload(pool)
            self.assertEqual("reaper" in pool.processes(), enabled)

    def test_the_log_may_change(self):
        pool = self.brisk_pool()
        self.rewrite(log={"level": "warning", "format": "json"})
        pid = pool.pid_of("reaper")
        pool.signal(signal.SIGHUP)
        pool.wait_replaced("reaper", pid)
        self.assertEqual(pool.events("config_reloaded"), [])

    def test_a_pool_that_waits_for_its_store_takes_a_new_config_too(self):
        self.backend = "sqlite:" + self.path("later/jobs.db")
        pool = self.start(self.rewrite(num_workers=1))
        pool.wait_event("store_lost")
        self.rewrite(num_workers=2)
        pool.signal(signal.SIGHUP)
        pool.wait_event("config_accepted")
        os.mkdir(self.path("later"))
        self.assertEqual(pool.wait_event("config_reloaded")["workers"], 2)
        pool.wait_ready()
        self.assert_untouched(self.enqueue("quick"))

    def test_a_pause_outlives_a_reload(self):
        pool = self.brisk_pool()
        pool.signal(signal.SIGTSTP)
        pool.wait_event("pool_paused")
        self.reload(pool)
        waiting = self.enqueue("quick")
        self.reload(pool)
        self.assertEqual(self.job(waiting)["state"], "ready")
        pool.signal(signal.SIGCONT)
        self.assert_untouched(waiting)

    def test_a_pool_drains_in_the_middle_of_a_reload(self):
        for name in ("SIGTERM", "SIGQUIT"):
            with self.subTest(name):
                pool = self.brisk_pool()
                job_id = self.held_job()
                pool.signal(signal.SIGHUP)
                pool.wait_event("config_accepted")
                pool.signal(getattr(signal, name))
                if name == "SIGTERM":
                    pool.wait_event("pool_draining")
                    self.open_gate()
                self.assertEqual(pool.wait(), 0, pool.log_text())
                self.assertEqual(self.job(job_id)["state"],
                                 "done" if name == "SIGTERM" else "ready")
                self.assertEqual(self.objects("pools"), [])
                if name == "SIGTERM":
                    self.close_gate()

    def test_whoever_dies_meanwhile_is_replaced_too(self):
        pool = self.brisk_pool()
        job_id = self.held_job()
        for name in sorted(SERVICES):
            pid = pool.pid_of(name)
            os.kill(pid, signal.SIGSTOP)  # so that it cannot retire
            self.addCleanup(self.kill_if, pid, name)
            pool.signal(signal.SIGHUP)
            pool.wait_event("config_accepted", len(pool.events("config_reloaded")) + 1)
            count = len(pool.events("config_reloaded"))
            os.kill(pid, signal.SIGKILL)
            pool.wait_event("config_reloaded", count + 1)
        self.open_gate()
        self.assert_untouched(job_id)

    def kill_if(self, pid, name):
        if title(pid) == f"thd: {name}":
            os.kill(pid, signal.SIGKILL)


class Storm(ReloadCase):

    JOBS = 2 * RELOADS

    def settle_down(self, pool, workers):
        """Waits until all that was asked for has been taken over, and returns who is there: each under its own title."""
        wait_for(lambda: len(pool.events("config_accepted")) == len(pool.events("config_reloaded")),
                 "the last config")
        generation = pool.events("config_reloaded")[-1]["generation"]

        def look():
            before = len(pool.events("pool_state"))
            pool.signal(signal.SIGUSR1)
            state = pool.wait_event("pool_state", before + 1)
            return (state["generation"], state["old_workers"]) == (generation, 0)
        wait_for(look, "the last old worker")

        def all_there():
            found = pool.processes()
            return found if sum(name.startswith("worker ") for name in found) == workers else None
        return wait_for(all_there, f"{workers} workers")

    def test_however_often_hup_comes_every_job_runs_once_and_nothing_is_left_over(self):
        self.handlers["work"] = {"command": 'sleep 0.02; echo "$TH_JOB_ID" >>ran'}
        pool = self.brisk_pool(num_workers=4, lease="5s")
        self.reload(pool)
        files = {name: count_files(pid) for name, pid in self.settle_down(pool, 4).items()}
        # These three have the same files open, but for one that has not looked into the store yet.
        rarely = ("scheduler", "retrier", "reaper")
        files.update(dict.fromkeys(rarely, max(files[name] for name in rarely)))
        master = count_files(pool.pid)
        for number in range(RELOADS):
            if number % 10 == 0:
                lines = '{"type": "work"}\n' * (10 * self.JOBS // RELOADS)
                self.ok("enqueue", "--bulk", "-", stdin=lines)
                self.rewrite(num_workers=2 + number // 10 % 4, lease="5s")
            pool.signal(signal.SIGHUP)
            time.sleep(0.005)  # the pace of the signals, not a wait
        self.rewrite(num_workers=4, lease="5s")
        self.reload(pool)
        wait_for(lambda: len(self.lines("ran")) >= self.JOBS,
                 lambda: f"{self.JOBS} runs, not {len(self.lines('ran'))}", 240)
        wait_for(lambda: {job["state"] for job in self.jobs()} == {"done"}, "the last settlement")
        ran = [words[0] for words in self.lines("ran")]
        self.assertEqual((len(ran), len(set(ran))), (self.JOBS, self.JOBS))
        self.assertEqual({(job["attempts"], job["stalls"]) for job in self.jobs()}, {(0, 0)})
        self.assertEqual([event for event in pool.events("process_exited")
                          if event["level"] != "info"], [])

        settled = self.settle_down(pool, 4)
        def left_over():
            """Who has more open than before; one at work may have a file more for a moment."""
            now = {name: count_files(pid) for name, pid in settled.items()}
            return {name: count for name, count in now.items() if count > files[name]}
        self.assertEqual(count_files(pool.pid), master)
        wait_for(lambda: not left_over(), lambda: f"descriptors to be closed: {left_over()} of {files}")
        self.assertEqual(sorted(children(pool.pid)), sorted(settled.values()))
        self.assertEqual(pool.stop(), 0)
        print(json.dumps({"hups": RELOADS, "jobs": self.JOBS,
                          "reloads": len(pool.events("config_reloaded"))}), flush=True)


class Systemd(NotifiedCase):

    def test_systemd_hears_when_a_reload_begins_and_when_it_is_over(self):
        pool = self.brisk_pool(num_workers=2)
        self.hear("READY=1")
        pool.signal(signal.SIGHUP)
        before = time.clock_gettime(time.CLOCK_MONOTONIC) * 1e6
        begun = dict(line.split("=") for line in self.hear("RELOADING=1").split("\n"))
        self.assertLess(abs(int(begun["MONOTONIC_USEC"]) - before), 60e6)
        self.assertIn("STATUS=running with 2 workers", self.hear("READY=1"))
        self.write("jobs.yaml", "nonsense: true")
        pool.signal(signal.SIGHUP)
        self.hear("RELOADING=1")
        self.hear("READY=1")
        pool.wait_event("config_rejected")


if __name__ == "__main__":
    unittest.main()

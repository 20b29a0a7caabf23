"""
USR2: a new thd beside the old one takes its place, and there is always one that takes jobs.
"""
import os
import shutil
import signal
import unittest

import daemon
from daemon import children, is_alive, title, wait_for
from gate import BRISK
from harness import DEADLINE
from notified import NotifiedCase


class UpgradeCase(NotifiedCase):

    def setUp(self):
        super().setUp()
        self.installed = self.path("bin/thd")
        os.mkdir(self.path("bin"))
        shutil.copy(daemon.THD, self.installed)
        self.original, daemon.THD = daemon.THD, self.installed
        self.addCleanup(setattr, daemon, "THD", self.original)

    def install(self, text):
        """Puts a script in the place of thd, as a package manager would."""
        os.rename(self.script("bin/next", text), self.installed)

    def start_new(self, pool):
        """Sends USR2; returns the pid of the new thd."""
        count = len(pool.events("upgrade_started"))
        pool.signal(signal.SIGUSR2)
        return pool.wait_event("upgrade_started", count + 1)["pid"]

    def rejected(self, pool):
        """Sends USR2, and returns what is said against it."""
        count = len(pool.events("upgrade_rejected"))
        pool.signal(signal.SIGUSR2)
        return pool.wait_event("upgrade_rejected", count + 1)

    def upgrade(self, pool):
        """Waits until the new thd has taken over; returns its pid."""
        pid = self.start_new(pool)
        self.addCleanup(self.end_new, pid)
        pool.wait_event("pool_draining", reason="upgrade")
        return pid

    def end_new(self, pid, number=signal.SIGKILL):
        """It is no child of ours: its exit code is in its last line."""
        if title(pid).startswith("thd: master"):
            os.kill(pid, number)
        wait_for(lambda: not is_alive(pid), "the end of the new thd")


class Replaced(UpgradeCase):

    def test_the_new_one_is_ready_before_the_old_one_drains_and_every_job_runs_once(self):
        self.handlers["work"] = {"command": 'sleep 0.02; echo "$TH_JOB_ID" >>ran'}
        pool = self.brisk_pool(num_workers=3, lease="5s", pool_id="web")
        self.ok("enqueue", "--bulk", "-", stdin='{"type": "work"}\n' * 300)
        wait_for(lambda: self.lines("ran"), "the first job")
        pid = self.upgrade(pool)
        self.assertEqual(pool.wait(), 0, pool.log_text())
        self.ok("enqueue", "--bulk", "-", stdin='{"type": "work"}\n' * 100)
        wait_for(lambda: [job["state"] for job in self.jobs()] == ["done"] * 400, "all jobs")
        ran = [words[0] for words in self.lines("ran")]
        self.assertEqual((len(ran), len(set(ran))), (400, 400))
        self.assertEqual({(job["attempts"], job["stalls"]) for job in self.jobs()}, {(0, 0)})

        story = [event["event"] for event in pool.events()
                 if event["event"].startswith(("pool_", "upgrade_"))]
        self.assertEqual(story, ["pool_ready", "upgrade_started", "pool_ready", "upgrade_ready",
                                 "pool_draining", "pool_stopped"])
        [shown] = self.objects("pools")
        self.assertEqual(shown["pid"], pid)
        self.assertTrue(shown["name"].startswith("web."))
        self.end_new(pid, signal.SIGTERM)
        self.assertEqual(self.objects("pools"), [])
        self.assertEqual(pool.events("pool_stopped")[-1]["exit_code"], 0)

    def test_a_job_of_the_old_one_runs_on_beside_the_new_one(self):
        pool = self.brisk_pool(num_workers=1)
        running = self.held_job()
        self.upgrade(pool)
        self.assert_untouched(self.enqueue("quick"))
        self.assertEqual(len(self.objects("pools")), 2)
        self.assertIn("draining", title(pool.pid))
        self.open_gate()
        self.assert_untouched(running)
        self.assertEqual(pool.wait(), 0, pool.log_text())

    def test_the_new_one_gets_what_the_old_one_was_started_with_and_nothing_else(self):
        for arguments in (["--backend", self.backend], ["--backend=" + self.backend],
                          ["-b", self.backend], ["-b" + self.backend]):
            with self.subTest(arguments):
                self.handlers["env"] = {"command": "env >seen; ls -l /proc/self/fd >>seen"}
                self.configure(self.handlers, {**BRISK, "num_workers": 1}, backend="memory:")
                pool = self.start(None, "--num-workers", "2", *arguments, backend=False)
                pool.wait_ready()
                files = len(os.listdir(f"/proc/{pool.pid}/fd"))
                pid = self.upgrade(pool)
                self.assertEqual(pool.wait(), 0, pool.log_text())
                self.run_job("env")
                with open(self.path("seen"), encoding="utf-8") as seen:
                    self.assertNotRegex(seen.read(), "NOTIFY_SOCKET|WATCHDOG|UPGRADE")
                self.assertEqual(pool.events("pool_ready")[-1]["workers"], 2)
                self.assertEqual(len(os.listdir(f"/proc/{pid}/fd")), files)
                self.assertNotIn(self.database, title(pid))
                self.end_new(pid)

    def test_it_may_be_done_again_and_again(self):
        pool = self.brisk_pool(num_workers=1)
        pid = pool.pid
        for number in range(1, 4):
            os.kill(pid, signal.SIGUSR2)
            old, pid = pid, wait_for(
                lambda: len(pool.events("upgrade_ready")) == number and
                pool.events("upgrade_ready")[-1]["pid"], "the next thd")
            self.addCleanup(self.end_new, pid)
            wait_for(lambda: not is_alive(old), "the end of the old one")
            self.assert_untouched(self.enqueue("quick"))
        self.assertEqual(len(self.objects("pools")), 1)

    def test_thd_may_have_been_found_by_its_name(self):
        daemon.THD = "thd"
        os.environ["PATH"], path = self.path("bin"), os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        self.environment["PATH"] = self.path("bin") + ":" + path
        pool = self.brisk_pool()
        self.upgrade(pool)
        self.assertEqual(pool.events("upgrade_started")[0]["program"], self.installed)
        self.assertEqual(pool.wait(), 0, pool.log_text())

    def test_systemd_is_told_who_the_new_one_is_and_hears_no_more_of_the_old_one(self):
        pool = self.brisk_pool()
        self.hear("READY=1")
        pid = self.upgrade(pool)
        self.hear("READY=1")  # of the new one
        self.hear(f"MAINPID={pid}")
        self.assertEqual(pool.wait(), 0)
        self.assertNotIn("STOPPING=1", self.hear_rest())
        self.hear("WATCHDOG=1")  # of the new one, which is alone now

    def hear_rest(self):
        """All that has been said so far."""
        self.listener.setblocking(False)
        heard = ""
        try:
            while True:
                heard += self.listener.recv(4096).decode() + "\n"
        except BlockingIOError:
            self.listener.settimeout(DEADLINE)
            return heard


class Rejected(UpgradeCase):

    def test_a_broken_thd_leaves_the_old_one_as_it_was(self):
        pool = self.brisk_pool()
        job_id = self.held_job()
        before = pool.processes()
        for says, text in (({"exit_code": 1}, "exit 1"), ({"signal": "SIGKILL"}, "kill -9 $$"),
                           ({"exit_code": 0}, "(sleep 1000) & exit 0"),
                           ({"signal": "SIGTERM"}, "exec 3<&-; exec sleep 1000")):
            with self.subTest(text):
                self.install(text)
                event = self.rejected(pool)
                self.assertEqual({name: event.get(name) for name in says}, says, event)
        os.unlink(self.installed)
        self.assertEqual(self.rejected(pool)["exit_code"], 126)
        self.assertIn("No such file", pool.events("process_failed")[-1]["error"])
        wait_for(lambda: sorted(children(pool.pid)) == sorted(before.values()),
                 lambda: f"{before}, not {list(map(title, children(pool.pid)))}")
        self.assertEqual(pool.processes(), before)
        self.open_gate()
        self.assert_untouched(job_id)

    def test_a_wrong_config_leaves_the_old_one_as_it_was(self):
        pool = self.brisk_pool()
        with open(self.path("jobs.yaml"), encoding="utf-8") as file:
            right = file.read()
        self.write("jobs.yaml", "nonsense: true")
        self.assertEqual(self.rejected(pool)["exit_code"], 78)
        self.write("jobs.yaml", right)
        self.upgrade(pool)
        self.assertEqual(pool.wait(), 0)

    def test_there_is_one_at_a_time_and_meanwhile_no_reload(self):
        pool = self.brisk_pool()
        self.install("exec sleep 1000")
        pid = self.start_new(pool)
        self.assertIn("already", self.rejected(pool)["error"])
        pool.signal(signal.SIGHUP)
        self.assertIn("replace", pool.wait_event("config_rejected")["error"])
        self.assertTrue(is_alive(pid))
        self.assertEqual(pool.stop(), 0)

    def test_who_ends_the_pool_ends_one_that_is_not_ready_too(self):
        pool = self.brisk_pool()
        self.install("trap 'echo >ended; exit' TERM; touch started; while :; do sleep 0.01; done")
        pid = self.start_new(pool)
        wait_for(lambda: os.path.exists(self.path("started")), "the new thd")
        self.assertEqual(pool.stop(), 0, pool.log_text())
        wait_for(lambda: not is_alive(pid), "its end")
        self.assertTrue(os.path.exists(self.path("ended")))

    def test_jobs_in_memory_are_not_left_behind(self):
        self.configure(self.handlers, BRISK, backend="memory:")
        pool = self.start(backend=False).wait_ready()
        self.assertIn("in memory", self.rejected(pool)["error"])

    def test_a_pool_that_is_paused_or_drains_starts_no_new_thd(self):
        pool = self.brisk_pool()
        pool.signal(signal.SIGTSTP)
        pool.wait_event("pool_paused")
        self.assertIn("paused", self.rejected(pool)["error"])
        pool.signal(signal.SIGCONT)
        self.held_job()
        pool.signal(signal.SIGTERM)
        pool.wait_event("pool_draining")
        self.assertIn("draining", self.rejected(pool)["error"])
        self.open_gate()
        self.assertEqual(pool.wait(DEADLINE), 0)


if __name__ == "__main__":
    unittest.main()

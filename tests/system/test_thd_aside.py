"""thd: jobs that nobody can run now are set aside, seen, and run when somebody can."""
import unittest
from signal import SIGHUP

from daemon import wait_for
from running import RunningCase

NOTE = 'read line; echo "$line" >>ran'


class Aside(RunningCase):
    def enqueue_in_order(self, job_type, count):
        return [self.enqueue(job_type, str(n)) for n in range(count)]

    def ran(self):
        return [int(n) for n in self.read("ran").split()]

    def test_a_type_without_a_handler_is_set_aside_and_told_once(self):
        pool = self.start_quick({"x": {"command": NOTE}})
        jobs = self.enqueue_in_order("strange", 3)
        self.wait_stats(ready=3, no_handler=3)
        for job in jobs:
            found = self.job(job)
            self.assertEqual((found["state"], found["attempts"], found["stalls"], found["runs"],
                              found["last_error"]), ("ready", 0, 0, [], None))
        self.assertEqual(len(pool.events("type_unhandled", type="strange")), 1)
        self.assertEqual(self.ok("ls", "--type", "strange").count("no handler"), 3)
        self.assertRegex(self.ok("show", jobs[0]), r"state +ready, set aside since .*: no handler")
        self.assertRegex(self.ok("stats"), r"NO-HANDLER(.|\n)* 3 ")

    def test_jobs_that_need_no_worker_are_not_fetched_one_for_each_worker(self):
        self.ok("enqueue", "--bulk", "-", "--quiet", stdin='{"type": "strange"}\n' * 500)
        self.configure({"x": {"command": "true"}}, {"num_workers": 1, "unknown_types": "dead"})
        self.assertEqual(self.start(None, "--once").wait(), 0)
        self.assertLess(len({job["ended_at"] for job in self.jobs("--state", "dead")}), 50)

    def test_another_pool_that_handles_the_type_runs_them_in_order(self):
        self.start_quick({"x": {"command": "true"}})
        self.enqueue_in_order("strange", 20)
        self.wait_stats(no_handler=20)
        self.configure({"strange": {"command": NOTE}}, {"num_workers": 1})
        self.start(None)
        self.wait_stats(done=20, no_handler=0)
        self.assertEqual({job["attempts"] for job in self.jobs()}, {0})

    def test_so_does_the_same_pool_after_a_reload(self):
        pool = self.start_quick({"x": {"command": "true"}}, {"num_workers": 1})
        self.enqueue_in_order("strange", 20)
        self.wait_stats(no_handler=20)
        self.configure({"strange": {"command": NOTE}}, {"num_workers": 1})
        pool.signal(SIGHUP)
        self.wait_stats(done=20, no_handler=0)
        self.assertEqual(self.ran(), list(range(20)))

    def test_once_runs_what_was_set_aside(self):
        self.enqueue_in_order("strange", 5)
        self.configure({"x": {"command": "true"}})
        self.assertEqual(self.start(None, "--once").wait(), 0)
        self.wait_stats(no_handler=5)
        self.configure({"strange": {"command": NOTE}}, {"num_workers": 1})
        self.assertEqual(self.start(None, "--once").wait(), 0)
        self.assertEqual(self.ran(), list(range(5)))

    def test_a_broken_deploy_is_seen_and_mended(self):
        pool = self.start_quick({"x": {"command": ["./missing"]}})
        jobs = self.enqueue_in_order("x", 10)
        self.wait_stats(ready=10, cannot_start=10)
        shown = self.ok("ls")
        self.assertEqual(shown.count("cannot start"), 10)
        self.assertEqual(shown.count("missing: No such file or directory"), 10)
        self.assertRegex(self.ok("show", jobs[-1]), "set aside since .*: cannot start")
        self.assertRegex(self.ok("stats"), r"CANNOT-START .*\n.* 10 +(now|\S+ ago) +0 +0")
        self.assertIn("cannot start 10", self.ok("top", "--once"))
        wait_for(lambda: self.objects("pools")[0]["start_failures"], "a start failure of the pool")
        [failure] = self.objects("pools")[0]["start_failures"]
        self.assertEqual((failure["pattern"], failure["since"] < failure["next_try"]), ("x", True))
        self.assertRegex(failure["error"], "missing: No such file")
        self.assertRegex(self.ok("pools"), "cannot start  x, failing since .*, next try .*missing")
        self.script("missing", NOTE)
        self.wait_stats(done=10, cannot_start=0)
        wait_for(lambda: self.objects("pools")[0]["start_failures"] == [],
                 "no start failure any more")
        self.assertEqual(len(pool.events("start_works")), 1)
        self.assertEqual({job["attempts"] for job in self.jobs()}, {0})

    def test_another_pool_whose_handler_works_runs_them(self):
        self.start_quick({"x": {"command": ["./missing"]}})
        self.enqueue_in_order("x", 10)
        self.wait_stats(cannot_start=10)
        self.configure({"x": {"command": NOTE}})
        self.start(None)
        self.wait_stats(done=10)


if __name__ == "__main__":
    unittest.main()

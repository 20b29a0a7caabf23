"""
Plugins: what they say, what they can do to their worker, and what of it anybody else notices.
"""
import os
import sqlite3
import subprocess
import unittest
from signal import SIGKILL, SIGSTOP

from daemon import THD, DaemonCase, is_alive, wait_for
from plugins import BUILD, SANITIZER, plugin

QUICK = {"lease": "2s", "heartbeat_interval": "300ms", "kill_grace": "100ms"}
RETRY = {"policy": "fixed", "base_delay": "10ms"}


class PluginCase(DaemonCase):

    def setUp(self):
        super().setUp()
        self.environment["ASAN_OPTIONS"] = SANITIZER

    def start_faulty(self, pool=None, **handler):
        """A pool whose every job is the faulty plugin's, but for those that are commands."""
        handlers = {"*": {"plugin": plugin("faulty"), "max_attempts": 1, **handler},
                    "command": {"command": ["true"]}}
        return self.start_pool(handlers, {**QUICK, **(pool or {})}, defaults={"retry": RETRY})

    def steps(self):
        try:
            with open(self.path("steps"), encoding="utf-8") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []


class Outcomes(PluginCase):

    def test_a_function_says_how_its_job_ended(self):
        pool = self.start_faulty()
        cases = [
            ("done", "done", None, None),
            ("retry", "dead", "exhausted", "attempt 1 of 1 failed"),
            ("dead", "dead", "permanent", "cannot get better: [1]"),
            ("nothing", "dead", "exhausted", "plugin faulty gave no reason"),
            ("nonsense", "dead", "exhausted", "plugin faulty returned 17, which is not an outcome"),
            ("next", "dead", "exhausted", "th_next() is for middleware"),
        ]
        for job_type, state, reason, error in cases:
            with self.subTest(job_type):
                job = self.run_job(job_type, "[1]", state=state)
                self.assertEqual((job["reason"], job["last_error"]), (reason, error))
        self.assertEqual(pool.events("process_exited"), [])

    def test_a_snooze_counts_nothing_and_waits_as_long_as_it_says(self):
        self.start_faulty(retry={"base_delay": "1h"})
        job = self.run_job("snooze")
        self.assertEqual((job["attempts"], job["executions"]), (0, 2))
        self.assertEqual([run["outcome"] for run in job["runs"]], ["snoozed", "done"])

    def test_a_function_is_told_all_and_can_say_all(self):
        pool = self.start_faulty(timeout="90s", max_attempts=3)
        job = self.run_job("all:of:it", "payload", "--raw")
        told = job["result"]
        self.assertEqual(told["id"], job["id"])
        self.assertEqual((told["type"], told["queue"]), ("all:of:it", "default"))
        self.assertEqual((told["payload"], told["size"]), ("payload", 7))
        self.assertEqual((told["attempt"], told["max_attempts"], told["execution"]), (1, 3, 1))
        self.assertGreater(told["deadline"], 1_700_000_000)
        self.assertIn(told["pid"], pool.processes().values())
        self.assertEqual(job["output"], "a line of all:of:it\n")
        pool.wait_event("job_output", job=job["id"], line="a line of all:of:it")

    def test_a_handler_says_how_many_of_its_lines_are_kept(self):
        self.start_faulty(output="256K")
        expected = "".join(f"line {number}\n" for number in range(30000))[-(256 << 10):]
        self.assertEqual(self.run_job("lines")["output"], expected)

    def test_a_large_payload_ends_in_nul_too(self):
        self.start_faulty()
        text = "x" * 300_000
        job = self.run_job("dead", "-", "--raw", state="dead", stdin=text)
        self.assertTrue(job["last_error"].startswith("cannot get better: xxx"))
        self.assertIn("bytes left out", job["last_error"])
        self.assertTrue(job["last_error"].endswith("x" * 3072))

    def test_commands_and_plugins_take_turns_in_one_worker(self):
        self.start_faulty({"num_workers": 1})
        for _ in range(3):
            self.run_job("done")
            self.run_job("command")


class Prints(PluginCase):

    WORDS = "printed\nlogged\nlast words"

    def lines(self, pool, job):
        return [event["line"] for event in pool.events("job_output", job=job["id"])]

    def test_what_a_plugin_prints_is_logged_and_kept_beside_what_it_logs(self):
        pool = self.start_faulty()
        job = self.run_job("words", "done", "--raw")
        self.assertEqual(job["output"], self.WORDS)
        pool.wait_event("job_output", job=job["id"], line="last words")
        self.assertEqual(self.lines(pool, job), ["printed", "logged", "last words"])

    def test_the_last_words_of_a_plugin_that_crashes_are_kept_and_logged_once(self):
        pool = self.start_faulty()
        for end, error in [("abort", "killed by SIGABRT in plugin faulty"),
                           ("segv", "killed by SIGSEGV in plugin faulty"),
                           ("exit", "exit(3) called in plugin faulty")]:
            with self.subTest(end):
                job = self.run_job("words", end, "--raw", state="dead")
                self.assertEqual((job["last_error"], job["output"]), (error, self.WORDS))
                self.assertIn("last words", self.ok("logs", job["id"]))
                pool.wait_event("job_output", job=job["id"], line="last words")
                self.assertEqual(self.lines(pool, job), ["printed", "logged", "last words"])

    def test_the_last_words_of_a_plugin_that_overruns_are_kept(self):
        self.start_faulty(timeout="300ms")
        job = self.run_job("words", "hang", "--raw", state="dead")
        self.assertEqual(job["last_error"], "timed out after 300ms in plugin faulty")
        self.assertEqual(job["output"], self.WORDS)

    def test_of_much_that_a_plugin_prints_before_it_crashes_the_end_is_kept(self):
        self.start_faulty(output="1K")
        expected = "".join(f"line {number}\n" for number in range(3000))[-1024:]
        for end, state in ("done", "done"), ("segv", "dead"):
            with self.subTest(end):
                self.assertEqual(self.run_job("much", end, "--raw", state=state)["output"], expected)

    def test_half_a_line_belongs_to_the_job_that_printed_it(self):
        self.start_faulty({"num_workers": 1})
        for number in "12":
            self.assertEqual(self.run_job("half", number)["output"], "half a line of " + number)
        self.assertFalse(self.run_job("done").get("output"))

    def test_a_dispatcher_that_died_leaves_the_last_words_to_the_next(self):
        pool = self.start_faulty({"num_workers": 1})
        job_id = self.enqueue("words", "hang", "--raw")
        pool.wait_event("job_output", job=job_id, line="last words")
        dispatcher = pool.pid_of("dispatcher")
        os.kill(dispatcher, SIGSTOP)
        os.kill(pool.pid_of("worker 1"), SIGKILL)
        pool.wait_event("process_exited", name="worker 1")
        os.kill(dispatcher, SIGKILL)
        self.assertEqual(self.wait_state(job_id, "dead")["output"], self.WORDS)


class Starts(PluginCase):

    def wait_start_failed(self, pool, handler, says):
        event = pool.wait_event("start_failed", handler=handler)
        self.assertIn(says, event["error"])

    def test_a_plugin_that_cannot_be_used_costs_no_attempt(self):
        self.write("text.so", "no shared object")
        cases = {
            "missing": (self.path("missing.so"), "No such file"),
            "text": (self.path("text.so"), "plugin text: "),
            "no_plugin": (plugin("no_plugin"), "it exports no th_plugin"),
            "other_abi": (plugin("other_abi"),
                          "built for plugin ABI 2.5, and this thd has 1.1: build it again"),
            "type": (plugin("faulty"), "plugin faulty has no handler for type 'type'"),
        }
        pool = self.start_pool({name: {"plugin": path} for name, (path, _) in cases.items()},
                               QUICK)
        for name, (_, says) in cases.items():
            with self.subTest(name):
                job_id = self.enqueue(name)
                self.wait_start_failed(pool, name, says)
                self.assertEqual(self.wait_state(job_id, "ready")["attempts"], 0)
        self.assertEqual(pool.events("process_exited"), [])

    def test_an_init_that_fails_is_tried_again(self):
        self.write("broken", "")
        pool = self.start_pool({"step": {"plugin": plugin("first")}}, {**QUICK, "num_workers": 1})
        job_id = self.enqueue("step", '"a"')
        self.wait_start_failed(pool, "step",
                               "plugin first: init returned 7: there is a file 'broken'")
        os.unlink(self.path("broken"))
        self.assertEqual(self.wait_state(job_id, "done")["attempts"], 0)
        pool.wait_event("plugin_output", plugin="first", line="hello from first")
        self.assertEqual(self.steps(), ["first init", 'first "a"'])

    def test_init_and_fini_are_called_once_per_worker_the_last_one_first(self):
        pool = self.start_pool(
            {"step": {"plugin": plugin("first")}, "step:a": {"plugin": plugin("second")},
             "step:b": {"plugin": plugin("first")}}, {**QUICK, "num_workers": 1})
        for job_type in ("step", "step:a", "step:b", "step"):
            self.run_job(job_type, "1")
        self.assertEqual(pool.stop(), 0)
        self.assertEqual(self.steps(), [
            "first init", "first 1", "second init", "second 1", "first 1", "first 1",
            "second fini", "first fini"])

    def test_a_recycled_worker_ends_with_fini_and_the_next_begins_with_init(self):
        pool = self.start_pool({"step": {"plugin": plugin("first")}},
                               {**QUICK, "num_workers": 1, "max_jobs_per_worker": 1})
        for _ in range(2):
            self.run_job("step", "1")
        pool.wait_event("worker_recycled", 2)
        wait_for(lambda: len(self.steps()) == 6, lambda: self.steps())
        self.assertEqual(self.steps(), ["first init", "first 1", "first fini"] * 2)

    def test_no_code_of_a_plugin_runs_outside_of_workers(self):
        pool = self.start_pool({"step": {"plugin": plugin("first")}, "command": {"command": "true"}},
                               QUICK)
        self.run_job("step", "1")
        self.run_job("command")
        for name, pid in [("master", pool.pid), *pool.processes().items()]:
            with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
                is_mapped = "libfirst.so" in maps.read()
            if not name.startswith("worker"):
                self.assertFalse(is_mapped, name)


class Faults(PluginCase):

    def test_a_fault_ends_its_worker_and_is_told_to_its_job(self):
        pool = self.start_faulty()
        cases = [
            ("segv", "0", "killed by SIGSEGV in plugin faulty", {"signal": 11}),
            ("abort", "0", "killed by SIGABRT in plugin faulty", {"signal": 6}),
            ("overflow", "0", "killed by SIGSEGV in plugin faulty", {"signal": 11}),
            ("exit", "0", "exit(0) called in plugin faulty", {"exit_code": 0}),
            ("exit", "1", "exit(1) called in plugin faulty", {"exit_code": 1}),
            ("exit", "3", "exit(3) called in plugin faulty", {"exit_code": 3}),
            ("exit_now", "0", "exit(0) called in plugin faulty", {"exit_code": 0}),
        ]
        for number, (job_type, payload, error, fields) in enumerate(cases):
            with self.subTest(job_type + payload):
                job = self.run_job(job_type, payload, state="dead")
                self.assertEqual(job["last_error"], error)
                self.assertEqual((job["attempts"], job["reason"]), (1, "exhausted"))
                self.assertEqual({name: job[name] for name in fields}, fields)
                pool.wait_event("process_exited", number + 1, restart_ms=0)
                self.run_job("done")

    def test_a_crash_is_a_failed_attempt_that_is_retried(self):
        self.start_faulty(max_attempts=3)
        job = self.run_job("segv", state="dead")
        self.assertEqual((job["attempts"], job["executions"], job["stalls"]), (3, 3, 0))

    def test_a_crash_leaves_the_job_of_another_worker_alone(self):
        self.script("wait", "while [ ! -e go ]; do sleep 0.01; done")
        pool = self.start_pool(
            {"slow": {"command": ["./wait"]}, "*": {"plugin": plugin("faulty"), "max_attempts": 1}},
            QUICK)
        slow = self.enqueue("slow")
        self.wait_state(slow, "running")
        self.run_job("segv", state="dead")
        self.run_job("done")
        self.write("go", "")
        job = self.wait_state(slow, "done")
        self.assertEqual((job["attempts"], job["executions"]), (0, 1))
        self.assertEqual(len(pool.events("process_exited")), 1)

    def test_a_thread_that_crashes_behind_a_done_job_takes_only_its_worker(self):
        pool = self.start_faulty({"num_workers": 1})
        self.run_job("thread")
        pool.wait_event("process_exited", name="worker 1", signal="SIGBUS")
        self.run_job("done")


class Overruns(PluginCase):

    def start_hanging(self, job_type, pool=None, **handler):
        self.pool = self.start_faulty(pool, **handler)
        job_id = self.enqueue(job_type)
        wait_for(lambda: (self.job(job_id)["progress"] or {}).get("percent") == 1,
                 lambda: f"progress of {self.job(job_id)}\n{self.pool.log_text()}")
        return job_id

    def test_a_function_that_hangs_is_killed_when_its_time_is_up(self):
        self.start_faulty(timeout="300ms")
        for job_type in ("hang", "undo"):
            with self.subTest(job_type):
                job = self.run_job(job_type, state="dead")
                self.assertEqual(job["last_error"], "timed out after 300ms in plugin faulty")
                self.assertEqual(job["attempts"], 1)
        self.run_job("done")

    def test_a_function_that_waits_is_interrupted_when_its_time_is_up(self):
        pool = self.start_faulty({"kill_grace": "300ms"}, timeout="300ms")
        job = self.run_job("wait", state="dead")
        self.assertEqual(job["last_error"],
                         "timed out after 300ms in plugin faulty: was interrupted")
        self.assertEqual(pool.events("process_exited"), [])

    def test_a_function_that_hangs_is_killed_when_its_job_is_cancelled(self):
        job_id = self.start_hanging("hang")
        self.ok("cancel", job_id)
        job = self.wait_state(job_id, "cancelled")
        self.assertEqual(job["attempts"], 0)
        self.pool.wait_event("plugin_overrun", reason="cancel", signal="SIGKILL", plugin="faulty")
        self.run_job("done")

    def test_a_function_that_waits_is_interrupted_when_its_job_is_cancelled(self):
        job_id = self.start_hanging("wait", {"kill_grace": "300ms"})
        self.ok("cancel", job_id)
        job = self.wait_state(job_id, "cancelled")
        self.assertEqual(job["runs"][0]["error"], "stopped on request: was interrupted")
        self.assertEqual(self.pool.events("process_exited"), [])

    def test_a_pool_that_stops_gives_back_what_hangs_in_a_plugin(self):
        for job_type in ("hang", "wait"):
            with self.subTest(job_type):
                job_id = self.start_hanging(job_type, {"shutdown_timeout": "100ms"})
                self.assertEqual(self.pool.stop(), 0, self.pool.log_text())
                job = self.job(job_id)
                self.assertEqual((job["state"], job["attempts"], job["stalls"]), ("ready", 0, 0))
                self.ok("cancel", job_id)

    def test_a_job_whose_lease_cannot_be_confirmed_does_not_run_on(self):
        job_id = self.start_hanging("hang", {"lease": "1s"}, timeout="1h")
        holder = sqlite3.connect(self.database, isolation_level=None, timeout=30)
        self.addCleanup(holder.close)
        holder.execute("BEGIN IMMEDIATE")
        self.pool.wait_event("plugin_overrun", reason="lost_lease", signal="SIGKILL")
        holder.rollback()
        job = wait_for(lambda: self.job(job_id) if self.job(job_id)["executions"] > 1 else None,
                       lambda: self.job(job_id))
        self.assertEqual(job["attempts"], 0)

    def test_a_worker_inside_a_plugin_ends_with_its_master(self):
        self.start_hanging("hang")
        worker = next(pid for name, pid in self.pool.processes().items()
                      if name.startswith("worker"))
        self.pool.kill()
        wait_for(lambda: not is_alive(worker), "the end of the worker")


class Middleware(PluginCase):

    def start_wrapped(self, *names, **pool):
        """All of these around a plugin and a command; one worker, so that the steps have an order."""
        return self.start_pool(
            {"step": {"plugin": plugin("third"), "max_attempts": 1},
             "command": {"command": "cat >>steps; echo >>steps", "max_attempts": 1},
             "fails": {"command": ["false"], "max_attempts": 1},
             "unstartable": {"command": ["./missing"]},
             "slow": {"command": ["sleep", "60"]}},
            {**QUICK, "num_workers": 1, "middleware": [plugin(name) for name in names], **pool})

    def test_middleware_is_wrapped_around_every_handler_in_the_order_of_the_config(self):
        pool = self.start_wrapped("first", "second")
        self.run_job("step", "1")
        self.run_job("command", "2")
        self.assertEqual(pool.stop(), 0)
        self.assertEqual(self.steps(), [
            "first init", "second init", "third init",
            "first before", "second before", "third 1", "second after", "first after",
            "first before", "second before", "2", "second after", "first after",
            "third fini", "second fini", "first fini"])

    def test_middleware_may_refuse_change_and_overrule(self):
        self.start_wrapped("first", "second")
        cases = [
            ("step", "second:refuse", "dead", "refused by second"),
            ("command", "first:refuse", "dead", "refused by first"),
            ("step", "first:overrule", "dead", "overruled by first"),
            ("command", "first:overrule", "dead", "overruled by first"),
            ("step", "first:twice", "dead", "th_next() was called twice in plugin first"),
            ("step", "first:change", "done", None),
            ("command", "second:change", "done", None),
        ]
        for job_type, payload, state, error in cases:
            with self.subTest(f"{job_type} {payload}"):
                job = self.run_job(job_type, payload, "--raw", state=state)
                self.assertEqual(job["last_error"], error)
        self.assertIn("third changed", self.steps())
        self.assertIn("changed", self.steps())
        self.assertNotIn("first:refuse", self.steps())

    def test_what_a_handler_reports_passes_through_middleware(self):
        pool = self.start_wrapped("first")
        job = self.run_job("fails", state="dead")
        self.assertEqual((job["last_error"], job["exit_code"]), ("exit code 1", 1))
        job_id = self.enqueue("unstartable")
        pool.wait_event("start_failed", handler="unstartable")
        self.assertEqual(self.wait_state(job_id, "ready")["attempts"], 0)

    def test_a_cancelled_command_inside_middleware_is_stopped_by_its_worker(self):
        pool = self.start_wrapped("first")
        job_id = self.enqueue("slow")
        self.wait_state(job_id, "running")
        self.ok("cancel", job_id)
        self.wait_state(job_id, "cancelled")
        self.assertEqual(pool.events("process_exited"), [])

    def test_a_crash_is_told_of_the_plugin_that_crashed(self):
        self.start_wrapped("first", "second")
        job = self.run_job("step", "second:crash", "--raw", state="dead")
        self.assertRegex(job["last_error"], "^killed by SIG(ILL|TRAP) in plugin second$")

    def test_middleware_that_cannot_be_loaded_stops_every_job_and_costs_none(self):
        pool = self.start_wrapped("missing")
        job_id = self.enqueue("command")
        self.assertIn("pool.middleware: plugin missing: ",
                      pool.wait_event("start_failed")["error"])
        self.assertEqual(self.wait_state(job_id, "ready")["attempts"], 0)

    def test_the_examples_work(self):
        examples = [os.path.join(BUILD, f"lib{name}.so") for name in ("thumbnail", "audit")]
        self.start_pool({"thumbnail*": {"plugin": examples[0]}},
                        {**QUICK, "middleware": examples[1:]})
        job = self.run_job("thumbnail:small", '{"url": "x"}')
        self.assertEqual(job["result"], {"ok": 1})
        self.assertEqual(job["output"],
                         "audit 1: thumbnail:small, attempt 1, 12 bytes\naudit 1: done\n")
        job = self.run_job("thumbnail", "", "--raw", state="dead")
        self.assertEqual((job["reason"], job["last_error"]), ("permanent", "empty payload"))


class Check(PluginCase):

    def check(self, handlers, middleware=()):
        self.configure(handlers, {"middleware": list(middleware)})
        return subprocess.run([THD, "--config", self.path("jobs.yaml"), "--check"],
                              cwd=self.folder, env=self.environment_with({}, True),
                              capture_output=True, text=True, check=False, timeout=60)

    def test_check_tells_of_every_plugin_what_is_wrong_with_it(self):
        cases = {
            "missing": ("./missing.so", ".plugin: {}: cannot open shared object file"),
            "no_plugin": (plugin("no_plugin"), ".plugin: {}: no plugin: it exports no th_plugin"),
            "other_abi": (plugin("other_abi"),
                          ".plugin: {}: built for plugin ABI 2.5, and this thd has 1.1"),
            "fatal": (plugin("fatal"), ".plugin: {}: killed by SIGABRT while it was loaded"),
            "unknown": (plugin("faulty"), ".plugin: {}: has no handler for type 'unknown'"),
        }
        done = self.check({name: {"plugin": path} for name, (path, _) in cases.items()},
                          [plugin("first"), plugin("faulty")])
        self.assertEqual(done.returncode, 78, done)
        for name, (path, says) in cases.items():
            full = path.replace("./", self.folder + "/")
            self.assertIn(f": handlers.{name}" + says.format(full), done.stderr)
        self.assertIn(f": pool.middleware: {plugin('faulty')}: has no middleware",
                      done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), len(cases) + 2, done.stderr)

    def test_check_is_content_with_plugins_that_work_and_does_not_use_them(self):
        done = self.check({"step": {"plugin": plugin("first")}, "*": {"plugin": plugin("faulty")}},
                          [plugin("second")])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.steps(), [])


if __name__ == "__main__":
    unittest.main()

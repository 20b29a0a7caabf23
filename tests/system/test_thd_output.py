"""thd: what a command prints, uses and leaves behind."""
import os
import re
import subprocess
import unittest

from daemon import is_alive, read_proc
from harness import DEADLINE, THCTL
from running import HOLD, RunningCase, moment

KEPT = 4096  # bytes of output, of an error, of a result
HEAD = 1024  # of them the beginning, in an error
ONE_GIB = 1 << 30
WORKER_PEAK_KIB = 64 << 10
NUMBERS = "seq 10000 19999"  # 60,000 bytes
THE_NUMBERS = "".join(f"{number}\n" for number in range(10000, 20000))
MANY_NUMBERS = "seq 10000 59999"  # 300,000 bytes
THE_MANY_NUMBERS = "".join(f"{number}\n" for number in range(10000, 60000))


class Output(RunningCase):
    def test_the_last_4_KiB_of_both_streams_are_kept(self):
        self.start_quick({"x": {"command": NUMBERS + "; echo and an error >&2"}})
        expected = (THE_NUMBERS + "and an error\n")[-KEPT:]
        job = self.run_job("x")
        self.assertEqual(job["output"], expected)
        self.assertEqual(self.thctl("logs", job["id"]).out, expected)
        self.assertIsNone(job["last_error"])

    def test_a_handler_says_how_much_is_kept(self):
        self.start_quick({"much": {"command": MANY_NUMBERS, "output": "256K"},
                          "most": {"command": "head -c 2000000 /dev/zero | tr '\\0' x", "output": "1M"},
                          "less": {"command": NUMBERS, "output": "100"}})
        job = self.run_job("much")
        self.assertEqual(job["output"], THE_MANY_NUMBERS[-(256 << 10):])
        self.assertEqual(self.thctl("logs", job["id"]).out, job["output"])
        self.assertEqual(self.run_job("most")["output"], "x" * (1 << 20))
        self.assertEqual(self.run_job("less")["output"], THE_NUMBERS[-100:])

    def test_who_follows_sees_nothing_twice_of_a_long_output(self):
        """While it runs less of it is stored than when it has ended."""
        self.start_quick({"x": {"command": f"seq 10000 12000; {HOLD}; seq 12001 59999",
                                "output": "1M"}})
        job = self.enqueue("x")
        self.wait_held()
        follower = subprocess.Popen(
            [THCTL, "logs", "-f", job], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            cwd=self.folder, env=self.environment_with(None, True))
        self.addCleanup(follower.kill)
        seen = follower.stdout.read(KEPT)
        self.let_go()
        seen += follower.communicate(timeout=DEADLINE)[0]
        lines = seen.split()[1:]  # the first may be cut
        self.assertEqual((lines[0], lines[-1], follower.returncode), (b"11319", b"59999", 0))
        self.assertEqual(lines, sorted(set(lines)))

    def test_many_long_outputs_at_once_are_all_kept(self):
        """Too many for one call to the store."""
        self.start_quick({"x": {"command": "head -c 1048576 /dev/zero | tr '\\0' x", "output": "1M"}},
                         {"num_workers": 8})
        jobs = [self.enqueue("x") for _ in range(24)]
        for job in jobs:
            self.assertEqual(self.wait_state(job, "done")["output"], "x" * (1 << 20))

    def test_the_first_KiB_of_stderr_and_its_last_three_are_the_error(self):
        self.start_quick({"x": {"command": f"echo no error; {NUMBERS} >&2; exit 3"}})
        job = self.run_job("x", state="dead")
        left_out = f"[... {len(THE_NUMBERS) - KEPT} bytes left out ...]"
        self.assertEqual(job["last_error"], "exit code 3: " + "\n".join(
            [THE_NUMBERS[:HEAD], left_out, THE_NUMBERS[HEAD - KEPT:].rstrip()]))
        self.assertEqual([run["error"] for run in job["runs"]], [job["last_error"]] * 2)
        self.assertEqual(job["output"], THE_NUMBERS[-KEPT:])

    def test_an_exception_is_seen_in_tables(self):
        self.write("fail.py", "def ping(n):\n    pong(n - 1)\n"
                   "def pong(n):\n    ping(n) if n > 0 else [].pop()\nping(99)\n")
        self.start_quick({"x": {"command": ["/usr/bin/python3", "fail.py"]}})
        job = self.run_job("x", state="dead")
        self.assertTrue(job["last_error"].startswith("exit code 1: Traceback (most recent call"))
        [title, row] = self.thctl("ls", "--state", "dead").out.splitlines()
        self.assertEqual(row[title.index("ERROR"):], "IndexError: pop from empty list")
        for run in self.ok("show", job["id"]).splitlines()[-2:]:
            self.assertTrue(run.endswith("  IndexError: pop from empty list"), run)

    def test_stdout_is_the_result_if_the_handler_says_so(self):
        self.start_quick({"json": {"command": "echo not this >&2; echo '{\"a\": 1}'",
                                   "result": "stdout"},
                          "much": {"command": "head -c 5000 /dev/zero", "result": "stdout"},
                          "bad": {"command": "echo 1; exit 3", "result": "stdout"},
                          "none": {"command": "echo 1"}})
        self.assertEqual(self.run_job("json")["result"], {"a": 1})
        self.assertEqual(len(self.run_job("much")["result_base64"]), (KEPT + 2) // 3 * 4)
        self.assertIsNone(self.run_job("none")["result"])
        self.assertIsNone(self.run_job("bad", state="dead")["result"])

    def test_who_follows_sees_it_as_it_comes(self):
        """Not with each heartbeat alone: of those there are three while the job runs."""
        self.start_quick({"x": {"command": "for i in $(seq 60); do echo $i; sleep 0.1; done"}},
                         pool={"heartbeat_interval": "2s", "lease": "12s"})
        follower = subprocess.Popen(
            [THCTL, "logs", "-f", self.enqueue("x")], stdout=subprocess.PIPE, cwd=self.folder,
            env=self.environment_with(None, True))
        self.addCleanup(follower.kill)
        pieces = []
        while piece := os.read(follower.stdout.fileno(), 65536):
            pieces.append(piece)
        follower.stdout.close()
        self.assertEqual(follower.wait(DEADLINE), 0)
        self.assertEqual(b"".join(pieces).split(), [b"%d" % i for i in range(1, 61)])
        self.assertGreater(len(pieces), 8)

    def test_the_last_progress_is_kept_with_the_end(self):
        self.start_quick({"x": {"command": "echo progress 40 half >&3; echo progress 97 nearly >&3"}})
        self.assertEqual(self.run_job("x")["progress"], {"percent": 97, "text": "nearly"})

    def test_it_is_logged_line_by_line(self):
        pool = self.start_quick({"x": {"command": "printf 'one\\n\\ntwo'; echo no >&2"}})
        job = self.run_job("x")
        self.assertEqual([event["line"] for event in
                          pool.events("job_output", job=job["id"], type="x", stream="stdout")],
                         ["one", "", "two"])
        [event] = pool.events("job_output", job=job["id"], stream="stderr")
        self.assertEqual((event["line"], event["process"]), ("no", f"worker {job['worker']}"))

    def test_any_bytes_are_kept_and_logged_as_text(self):
        self.script("print", "printf 'a\\0b\\377c\\n'; printf 'no \\376' >&2; exit 3")
        pool = self.start_quick({"x": {"command": ["./print"], "max_attempts": 1}})
        job = self.run_job("x", state="dead")
        self.assertEqual(self.thctl("logs", job["id"]).out.encode(errors="surrogateescape"),
                         b"a\0b\xffc\nno \xfe")
        self.assertEqual(job["last_error"], "exit code 3: no ?")
        self.assertEqual([event["line"] for event in pool.events("job_output")],
                         ["a?b\ufffdc", "no \ufffd"])

    def test_a_long_line_is_logged_in_part(self):
        self.script("print", 'head -c 100000 /dev/zero | tr "\\0" x')
        pool = self.start_quick({"x": {"command": ["./print"]}})
        job = self.run_job("x")
        [event] = pool.events("job_output", job=job["id"])
        self.assertEqual((event["line"], event["cut_bytes"]), ("x" * 2048, 100000 - 2048))

    def test_it_can_be_followed_while_the_job_runs(self):
        self.start_quick({"x": {"command": f"echo one; {HOLD}; echo two; echo three >&2"}})
        job = self.enqueue("x")
        self.wait_held()
        follower = subprocess.Popen(
            [THCTL, "logs", "-f", job], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=self.folder, env=self.environment_with(None, True))
        self.addCleanup(follower.kill)
        self.assertEqual(follower.stdout.readline(), b"one\n")
        self.let_go()
        out, err = follower.communicate(timeout=DEADLINE)
        self.assertEqual((out, err, follower.returncode), (b"two\nthree\n", b"", 0))

    def test_a_gigabyte_costs_neither_memory_nor_log(self):
        self.script("print", f'yes "$(head -c 999 /dev/zero | tr "\\0" x)" | head -c {ONE_GIB}')
        pool = self.start_quick({"x": {"command": ["./print"]}}, {"num_workers": 1})
        job = self.run_job("x")
        peak = re.search(rb"VmHWM:\s+(\d+) kB", read_proc(pool.pid_of("worker 1"), "status"))
        self.assertLess(int(peak[1]), WORKER_PEAK_KIB)
        self.assertEqual(job["output"].strip("x\n"), "")
        logged = len(pool.events("job_output"))
        [dropped] = pool.events("lines_dropped", job=job["id"])
        self.assertEqual(logged + dropped["count"], -(-ONE_GIB // 1000))
        self.assertLess(os.path.getsize(pool.log_path), 16 << 20)


class Leftovers(RunningCase):
    # Each says who it is, leaves the session, and keeps stdout.
    SLEEPER = "setsid sh -c 'echo $$ >>pids; trap \"\" TERM HUP; while :; do sleep 1; done' & "

    def test_what_a_command_leaves_behind_is_killed(self):
        self.script("leave", f"{self.SLEEPER} ( {self.SLEEPER} ) & "
                    "until [ \"$(wc -l <pids)\" = 2 ]; do sleep 0.01; done 2>/dev/null; echo ended")
        self.start_quick({"x": {"command": ["./leave"]}})
        job = self.run_job("x")
        self.assertEqual(job["output"], "ended\n")
        self.assertEqual([is_alive(pid) for pid in self.read("pids").split()], [False, False])

    def test_so_is_what_a_stopped_one_leaves(self):
        self.script("leave", f"{self.SLEEPER} {self.SLEEPER} "
                    "until [ \"$(wc -l <pids)\" = 2 ]; do sleep 0.01; done 2>/dev/null\n" + HOLD)
        self.start_quick({"x": {"command": ["./leave"]}})
        job = self.enqueue("x")
        self.wait_held()
        self.ok("cancel", job)
        self.wait_state(job, "cancelled")
        self.assertEqual([is_alive(pid) for pid in self.read("pids").split()], [False, False])


class Runs(RunningCase):
    BURN = ["/usr/bin/python3", "-c", "import time; x = bytearray(80 << 20)\n"
            "while time.process_time() < 0.3: pass\n"
            "import subprocess; subprocess.run(['/bin/sleep', '0.1'])"]

    def test_a_run_records_its_time_and_memory(self):
        self.start_quick({"x": {"command": self.BURN}})
        job = self.run_job("x")
        [run] = job["runs"]
        self.assertGreaterEqual(run["user_ms"] + run["system_ms"], 299)
        self.assertGreaterEqual(run["wall_ms"], 399)
        self.assertGreaterEqual(run["max_rss_kb"], 80 << 10)
        self.assertLess(run["max_rss_kb"], 160 << 10)
        self.assertLessEqual(run["wall_ms"], 1000 * (moment(job["ended_at"]) -
                                                     moment(job["started_at"])))

    def test_the_newest_ten_are_kept(self):
        self.start_quick({"x": {"command": 'exit "$TH_EXECUTION"', "max_attempts": 12}})
        job = self.run_job("x", state="dead")
        self.assertEqual([(run["execution"], run["exit_code"]) for run in job["runs"]],
                         [(number, number) for number in range(3, 13)])

    def test_the_run_of_a_crashed_worker_is_recorded_too(self):
        self.start_quick({"x": {"command": "sleep 0.1; kill -KILL $PPID; sleep 60"}})
        job = self.run_job("x", "--max-attempts", "1", state="dead")
        [run] = job["runs"]
        self.assertEqual((run["execution"], run["worker"], run["pool"], run["outcome"],
                          run["signal"], run["error"]),
                         (1, job["worker"], job["pool"], "dead", 9, job["last_error"]))
        self.assertGreaterEqual(moment(run["started_at"]), moment(job["created_at"]))
        self.assertGreaterEqual(run["wall_ms"], 99)


if __name__ == "__main__":
    unittest.main()

"""thctl enqueue --bulk --wait and --lines --wait: many jobs, followed to their ends."""
import json
import signal
import subprocess
import unittest

from daemon import DaemonCase, wait_for
from harness import DEADLINE, THCTL

HANDLERS = {"ok": {"command": ["true"]},
            "bad": {"command": "echo it went wrong >&2; exit 65"},
            "long": {"command": ["sleep", "600"]}}


class WaitForMany(DaemonCase):
    def lines(self, *types):
        return "".join(json.dumps({"type": name}) + "\n" for name in types)

    def start_bulk(self, *types):
        process = subprocess.Popen(
            [THCTL, "enqueue", "--bulk", self.write("in.jsonl", self.lines(*types)), "--wait"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
            env=self.environment_with(None, True))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def test_all_done_exits_0(self):
        self.start_pool(HANDLERS)
        result = self.thctl("enqueue", "--bulk", "-", "--wait", stdin=self.lines(*["ok"] * 60))
        self.assertEqual(result.code, 0, result)
        self.assertEqual(len(result.lines), 60)
        self.assertRegex(result.err, r"\n60 jobs ended in [^\n]+: 60 done\n$")

    def test_lines_of_several_queues_are_followed_too(self):
        self.start_pool(HANDLERS, queues={"default": {}, "other": {}})
        result = self.thctl("enqueue", "--bulk", "-", "--wait",
                            stdin='{"type":"ok","queue":"other"}\n{"type":"ok"}\n')
        self.assertEqual(result.code, 0, result)
        result = self.thctl("enqueue", "--lines", "ok", "-", "--queue", "other", "--wait",
                            stdin="1\n2\n3\n")
        self.assertEqual(result.code, 0, result)
        self.assertIn("3 jobs ended in", result.err)

    def test_any_that_dies_exits_1_and_the_first_are_named(self):
        self.start_pool(HANDLERS)
        result = self.thctl("enqueue", "--bulk", "-", "--wait",
                            stdin=self.lines(*["ok", "bad"] * 7))
        self.assertEqual(result.code, 1, result)
        self.assertRegex(result.err, rf"\n{result.lines[1]} dead \(permanent\): [^\n]*it went wrong\n")
        self.assertEqual(result.err.count("it went wrong"), 5, result)
        self.assertIn("and 2 more (see 'thctl ls --state dead')\n", result.err)
        self.assertRegex(result.err, r"14 jobs ended in [^\n]+: 7 done, 7 dead\n$")

    def test_json_has_the_answers_and_then_the_jobs(self):
        self.start_pool(HANDLERS)
        result = self.thctl("--json", "enqueue", "--lines", "ok", "--wait", stdin="[1]\n[2]\n")
        self.assertEqual(result.code, 0, result)
        answers, jobs = result.objects[:2], result.objects[2:]
        self.assertEqual({answer["id"] for answer in answers}, {job["id"] for job in jobs})
        self.assertEqual([job["state"] for job in jobs], ["done"] * 2)
        self.assertEqual(sorted(job["payload"] for job in jobs), [[1], [2]])

    def test_a_wait_that_is_over_exits_124_and_counts_those_that_go_on(self):
        result = self.thctl("enqueue", "--bulk", "-", "--wait=30ms", stdin=self.lines("ok", "ok"))
        self.assertEqual(result.code, 124, result)
        self.assertIn("thctl: after 30ms: 2 of 2 jobs have not ended; they go on: 'thctl stats' "
                      "counts them\n", result.err)

    def test_whoever_stops_waiting_is_told_that_they_go_on(self):
        self.start_pool(HANDLERS)
        process = self.start_bulk("ok", "long")
        wait_for(lambda: len(self.jobs("--state", "done")) == 1, "the first one to end")
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=DEADLINE)[1].decode()
        self.assertEqual(process.returncode, -signal.SIGINT, err)
        self.assertRegex(err, "thctl: no longer waiting: [12] of 2 jobs have not ended; they go on")
        self.assertEqual(len(self.jobs("--state", "running")), 1)

    def test_jobs_that_are_one_by_their_key_count_once(self):
        self.start_pool(HANDLERS)
        result = self.thctl("enqueue", "--bulk", "-", "--wait",
                            stdin='{"type":"ok","idempotency_key":"i"}\n' * 3)
        self.assertEqual(result.code, 0, result)
        self.assertIn("1 job ended in", result.err)

    def test_cancelled_ones_are_failures(self):
        self.ok("migrate")
        process = self.start_bulk("ok", "ok")
        jobs = wait_for(lambda: len(self.jobs()) == 2 and self.jobs(), "two jobs")
        self.ok("cancel", *[job["id"] for job in jobs])
        err = process.communicate(timeout=DEADLINE)[1].decode()
        self.assertEqual(process.returncode, 1, err)
        self.assertIn(f"{jobs[0]['id']} cancelled\n", err)
        self.assertRegex(err, r"2 jobs ended in [^\n]+: 2 cancelled\n$")

    def test_nothing_to_wait_for_is_no_error(self):
        self.assertEqual(self.thctl("enqueue", "--lines", "ok", "--wait", stdin="").code, 0)

    def test_a_terminal_sees_a_bar(self):
        process = self.path("in.jsonl")
        self.write("in.jsonl", self.lines("ok", "ok"))
        code, screen = self.on_terminal("enqueue", "--bulk", process, "--wait=150ms")
        self.assertEqual(code, 124, screen)
        self.assertIn("waiting [....................]   0%  0 of 2 jobs ended", screen)


if __name__ == "__main__":
    unittest.main()

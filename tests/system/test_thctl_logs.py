"""thctl logs: what a job has printed, once and as it is printed."""
import json
import os
import select
import subprocess
import time
import unittest

from harness import DEADLINE, THCTL, Case

AN_ID = "0193f0a2-7c1d-7abc-8def-0123456789ab"
KEPT = 4096  # bytes of a job's output
ANY_BYTES = b"caf\xc3\xa9\n\x1b[31mred\x1b[0m\tand\r\n\xff\xfe\x00end"


class Logs(Case):
    def job_that_printed(self, output):
        job = self.enqueue("x")
        self.make_running(job)
        self.make_output(job, output)
        return job

    def test_programs_get_the_bytes_as_they_are(self):
        job = self.job_that_printed(ANY_BYTES)
        result = self.thctl("logs", job)
        self.assertEqual(result.out.encode(errors="surrogateescape"), ANY_BYTES)
        self.assertEqual((result.code, result.err), (0, ""))

    def test_a_terminal_is_shown_all_of_it_and_obeys_none(self):
        job = self.job_that_printed(ANY_BYTES)
        self.assertEqual(self.on_terminal("logs", job), (
            0, "café\n\\x1b[31mred\\x1b[0m\tand\\r\n\\xff\\xfe\\x00end\n"))

    def test_a_terminal_gets_a_newline_at_the_end_only_if_there_is_none(self):
        self.assertEqual(self.on_terminal("logs", self.job_that_printed(b"a\nb\n")), (0, "a\nb\n"))

    def test_json_is_one_object_with_text(self):
        job = self.job_that_printed(b"a\n\xffb\x00")
        self.assertEqual(self.objects("logs", job),
                         [{"id": job, "state": "running", "output": "a\n\ufffdb\0"}])

    def test_nothing_printed_is_said_to_people_and_no_failure(self):
        job = self.enqueue("x")
        result = self.thctl("logs", job)
        self.assertEqual((result.code, result.out, result.err),
                         (0, "", f"job {job} (ready) has printed nothing so far\n"))
        self.make_ended(job, "dead", "bad", 1)
        result = self.thctl("logs", job)
        self.assertEqual((result.code, result.out, result.err),
                         (0, "", f"job {job} (dead) has printed nothing\n"))
        self.assertEqual(self.objects("logs", job), [{"id": job, "state": "dead", "output": None}])

    def test_an_ended_job_is_printed_whatever_its_end(self):
        job = self.job_that_printed(b"last words\n")
        self.make_ended(job, "dead", "bad", 1)
        self.assertEqual(self.ok("logs", job), "last words")

    def test_a_job_that_does_not_exist_fails(self):
        self.ok("migrate")
        self.refuses(1, f"job {AN_ID} does not exist", "logs", AN_ID)
        self.refuses(1, f"job {AN_ID} does not exist", "logs", "-f", AN_ID)
        self.refuses(2, "'x' is not the id of a job", "logs", "x")

    def test_a_full_disk_is_noticed(self):
        job = self.job_that_printed(b"text\n")
        for arguments in (["logs", job], ["logs", "-f", job], ["--json", "logs", "-f", job]):
            with open("/dev/full", "wb") as full:
                result = self.thctl(*arguments, stdout=full)
            self.assertEqual(result.code, 1, result)
            self.assertIn("cannot write to stdout: No space left on device\n", result.err)


class Follow(Case):
    def setUp(self):
        super().setUp()
        self.job = self.enqueue("x")

    def follow(self, *arguments):
        """Starts `thctl logs -f` on the job of the test; expect() then reads what it prints."""
        self.process = subprocess.Popen(
            [THCTL, *arguments, "logs", "-f", self.job], stdout=subprocess.PIPE, bufsize=0,
            stderr=subprocess.PIPE, cwd=self.folder, env=self.environment_with(None, True))
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.process.stderr.close)

    def read(self, stream, length):
        data, deadline = b"", time.monotonic() + DEADLINE
        while len(data) < length and time.monotonic() < deadline:
            if select.select([stream], [], [], 0.1)[0]:
                piece = os.read(stream.fileno(), length - len(data))
                if not piece:
                    break
                data += piece
        return data

    def expect(self, output):
        self.assertEqual(self.read(self.process.stdout, len(output)), output)

    def expect_remark(self, text):
        self.assertEqual(self.read(self.process.stderr, len(text.encode())), text.encode())

    def expect_end(self, code, out=b"", err=""):
        self.assertEqual(self.process.communicate(timeout=DEADLINE), (out, err.encode()))
        self.assertEqual(self.process.returncode, code)

    def test_what_is_new_is_printed_until_the_job_is_done(self):
        self.make_running(self.job)
        self.make_output(self.job, b"one\n")
        self.follow()
        self.expect(b"one\n")
        self.make_output(self.job, b"one\ntwo\nthr")
        self.expect(b"two\nthr")
        self.make_output(self.job, b"one\ntwo\nthree\n")
        self.make_ended(self.job, "done")
        self.expect_end(0, b"ee\n")

    def test_a_job_that_waits_is_waited_for(self):
        self.follow()
        self.expect_remark("(waiting: ready)\n")
        self.make_running(self.job)
        self.make_output(self.job, b"one\n")
        self.expect(b"one\n")
        self.make_ended(self.job, "done")
        self.expect_end(0)

    def test_a_dead_job_exits_1_with_the_reason(self):
        self.make_running(self.job)
        self.make_output(self.job, b"oh")
        self.make_ended(self.job, "dead", "exit code 3: oh", 2)
        self.follow()
        self.expect_end(1, b"oh", f"thctl: job {self.job} is dead (permanent): exit code 3: oh\n")

    def test_a_cancelled_job_exits_1(self):
        self.follow()
        self.expect_remark("(waiting: ready)\n")
        self.ok("cancel", self.job)
        self.expect_end(1, b"", f"thctl: job {self.job} was cancelled\n")

    def test_a_job_that_is_deleted_meanwhile_exits_1(self):
        self.follow()
        self.expect_remark("(waiting: ready)\n")
        self.sql("DELETE FROM job")
        self.expect_end(1, b"", f"thctl: job {self.job} was deleted before its end was seen\n")

    def numbered(self, first, last):
        return b"".join(b"line %d\n" % number for number in range(first, last))

    def test_a_tail_that_moved_on_is_continued_where_it_was(self):
        self.make_running(self.job)
        first, second = self.numbered(0, 900)[-KEPT:], self.numbered(0, 1000)[-KEPT:]
        self.make_output(self.job, first)
        self.follow()
        self.expect(first)
        self.make_output(self.job, second)
        self.expect(self.numbered(900, 1000))
        self.make_ended(self.job, "done")
        self.expect_end(0)

    def test_a_gap_is_told(self):
        self.make_running(self.job)
        first, second = self.numbered(0, 900)[-KEPT:], self.numbered(0, 5000)[-KEPT:]
        self.make_output(self.job, first)
        self.follow()
        self.expect(first)
        self.make_output(self.job, second)
        self.expect_remark("… (some output was not kept)\n")
        self.expect(second)
        self.make_ended(self.job, "done")
        self.expect_end(0)

    def test_another_execution_starts_anew(self):
        self.make_running(self.job)
        self.make_output(self.job, b"trying hard\n")
        self.follow()
        self.expect(b"trying hard\n")
        self.make_retry(self.job)
        self.expect_remark("(waiting: retry)\n")
        self.make_running(self.job, execution=2)
        self.make_output(self.job, b"trying hard\nworked\n")
        self.expect(b"trying hard\nworked\n")
        self.make_ended(self.job, "done")
        self.expect_end(0)

    def test_half_a_character_waits_for_its_other_half(self):
        self.make_running(self.job)
        self.make_output(self.job, "caf\u00e9".encode()[:-1])
        self.follow("--json")
        self.assertEqual(json.loads(self.process.stdout.readline()),
                         {"id": self.job, "state": "running", "output": "caf"})
        self.make_output(self.job, "caf\u00e9\n".encode())
        self.assertEqual(json.loads(self.process.stdout.readline())["output"], "\u00e9\n")
        self.make_ended(self.job, "done")
        self.expect_end(0, json.dumps({"id": self.job, "state": "done", "output": None},
                                      separators=(",", ":")).encode() + b"\n")

    def test_json_has_a_line_for_each_change_with_what_is_new(self):
        self.follow("--json")
        seen = [json.loads(self.process.stdout.readline())]
        self.make_running(self.job)
        self.make_output(self.job, b"one\n")
        while seen[-1]["output"] is None:
            seen.append(json.loads(self.process.stdout.readline()))
        self.make_output(self.job, b"one\ntwo\n")
        seen.append(json.loads(self.process.stdout.readline()))
        self.make_ended(self.job, "dead", "bad", 1)
        seen.append(json.loads(self.process.stdout.readline()))
        self.assertEqual(self.process.wait(timeout=DEADLINE), 1)
        self.assertTrue(all(list(line) == ["id", "state", "output"] for line in seen))
        told = [(line["state"], line["output"]) for line in seen]
        self.assertEqual([line for line in told if line != ("running", None)],
                         [("ready", None), ("running", "one\n"), ("running", "two\n"),
                          ("dead", None)])

    def test_progress_alone_prints_nothing(self):
        self.make_running(self.job)
        self.make_output(self.job, b"one\n")
        self.follow("--json")
        self.assertIn(b'"one\\n"', self.process.stdout.readline())
        self.sql("UPDATE detail SET progress_percent = 40")
        self.make_output(self.job, b"one\ntwo\n")
        self.assertIn(b'"two\\n"', self.process.stdout.readline())

    def test_a_reader_that_goes_away_ends_it(self):
        self.make_running(self.job)
        self.make_output(self.job, b"one\n")
        self.follow()
        self.expect(b"one\n")
        self.process.stdout.close()
        self.make_output(self.job, b"one\ntwo\n")
        self.assertEqual(self.process.wait(timeout=DEADLINE), 0)
        self.assertEqual(self.process.stderr.read(), b"")

    def test_on_a_terminal_remarks_have_lines_of_their_own(self):
        self.make_running(self.job)
        self.make_output(self.job, b"no newline")
        code, screen = self.on_terminal("logs", "-f", self.job, answers=[
            ("no newline", lambda: self.make_retry(self.job)),
            ("(waiting: retry)", lambda: self.make_ended(self.job, "done"))])
        self.assertEqual((code, screen), (0, "no newline\n(waiting: retry)\n"))


if __name__ == "__main__":
    unittest.main()

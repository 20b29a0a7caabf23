"""thctl enqueue --bulk."""
import base64
import fcntl
import json
import os
import signal
import struct
import subprocess
import termios
import time
import unittest
from datetime import datetime, timedelta, timezone

from harness import DEADLINE, THCTL, Case, limit_file_size


class Bulk(Case):
    def bulk(self, content, *arguments, **options):
        return self.thctl("enqueue", "--bulk", self.write("in.jsonl", content), *arguments,
                          **options)

    def refused(self, content, *arguments):
        """Nothing is stored, not even the file; returns what was said."""
        result = self.bulk(content, *arguments)
        self.assertEqual((result.code, result.out), (2, ""), result)
        self.assertFalse(os.path.exists(self.database))
        return result.err

    def test_ten_thousand_lines_are_stored_in_their_order(self):
        lines = [json.dumps({"type": "t", "payload": n}) for n in range(10000)]
        result = self.bulk("\n".join(lines) + "\n")
        self.assertEqual(result.code, 0, result.err)
        self.assertRegex(result.err, r"^stored 10,000 jobs in [^\n]+ \([\d,]+/s\)\n$")
        jobs = self.jobs()
        self.assertEqual([job["payload"] for job in jobs], list(range(10000)))
        self.assertEqual([job["id"] for job in jobs], result.lines)

    def test_a_line_has_all_fields_of_a_job(self):
        self.bulk(json.dumps({
            "id": "0193f0a2-7c1d-7abc-8def-0123456789ab", "type": "t", "queue": "q",
            "payload_base64": base64.b64encode(b"\0\xff").decode(), "priority": 1,
            "run_at": "2031-01-31T10:00:00Z", "timeout": "30s", "max_attempts": 2, "max_stalls": 3,
            "key": "k", "idempotency_key": "i", "update_payload": False,
            "update_run_at": "never", "update_retry": False, "reset_counts": True,
            "headers": {"a": [1]}, "tags": ["x", "y"]}))
        [job] = self.jobs()
        self.assertEqual(job["id"], "0193f0a2-7c1d-7abc-8def-0123456789ab")
        self.assertEqual((job["queue"], job["priority"], job["timeout_ms"]), ("q", 1, 30000))
        self.assertEqual(base64.b64decode(job["payload_base64"]), b"\0\xff")
        self.assertEqual((job["state"], job["key"], job["idempotency_key"]),
                         ("scheduled", "k", "i"))
        self.assertEqual((job["headers"], job["tags"]), ({"a": [1]}, ["x", "y"]))

    def test_json_answers_have_a_line_per_job(self):
        result = self.bulk('{"type":"t","idempotency_key":"k"}\n' * 2, "--json")
        self.assertEqual([list(answer) for answer in result.objects],
                         [["id", "state", "existed", "updated"]] * 2)
        self.assertEqual([answer["existed"] for answer in result.objects], [False, True])
        self.assertIn("stored 1 job, 1 existed already in", result.err)

    def test_quiet_prints_no_ids(self):
        result = self.bulk('{"type":"t"}\n', "--quiet")
        self.assertEqual((result.code, result.out), (0, ""), result)
        self.assertIn("stored 1 job in", result.err)

    def test_options_are_the_defaults_of_lines_that_do_not_say(self):
        self.bulk('{}\n{"type":"own","queue":"mine","priority":9}\n', "fallback", "--queue", "q",
                  "--priority", "1", "--max-attempts", "3", "--timeout=5s", "--run-at", "+1h",
                  "--header", "a=1", "--tag", "all")
        first, second = self.jobs()
        self.assertEqual((first["type"], first["queue"], first["priority"]), ("fallback", "q", 1))
        self.assertEqual((second["type"], second["queue"], second["priority"]), ("own", "mine", 9))
        self.assertEqual((second["max_attempts"], second["timeout_ms"]), (3, 5000))
        self.assertEqual(second["state"], "scheduled")
        self.assertEqual((second["headers"], second["tags"]), ({"a": "1"}, ["all"]))

    def test_relative_times_have_one_now(self):
        before = datetime.now(timezone.utc)
        self.bulk('{"type":"t","run_at":"+5m"}\n' * 1500)
        times = {job["run_at"] for job in self.jobs()}
        self.assertEqual(len(times), 1)
        run_at = datetime.fromisoformat(times.pop().replace("Z", "+00:00"))
        self.assertLess(run_at - before - timedelta(minutes=5), timedelta(seconds=DEADLINE))

    def test_empty_lines_and_a_missing_last_newline_do_no_harm(self):
        result = self.bulk('\n{"type":"t"}\r\n\r\n  \t\n\n{"type":"t"}')
        self.assertEqual(result.code, 0, result)
        self.assertEqual(len(self.jobs()), 2)

    def test_an_empty_file_is_no_error(self):
        self.assertIn("stored 0 jobs", self.bulk("").err)

    def test_stdin_can_be_a_pipe_or_a_file(self):
        content = '{"type":"t"}\n' * 1234
        self.assertEqual(len(self.ok("enqueue", "--bulk", "-", stdin=content).splitlines()), 1234)
        with open(self.write("in.jsonl", content), "rb", buffering=0) as file:
            file.seek(len('{"type":"t"}\n'))  # what was read before is not ours
            done = subprocess.run([THCTL, "enqueue", "--bulk", "-"], stdin=file, check=True,
                                  env=self.environment_with(None, True), capture_output=True,
                                  timeout=DEADLINE)
        self.assertEqual(len(done.stdout.splitlines()), 1233)

    def test_a_named_pipe_is_read_once(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        with subprocess.Popen([THCTL, "enqueue", "--bulk", fifo], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE,
                              env=self.environment_with(None, True)) as process:
            with open(fifo, "w", encoding="utf-8") as file:
                file.write('{"type":"t"}\n' * 10)
            out, err = process.communicate(timeout=DEADLINE)
        self.assertEqual((process.returncode, len(out.splitlines())), (0, 10), err)
        self.assertEqual(sorted(os.listdir(self.folder))[0], "fifo")

    def test_one_bad_line_stores_nothing_and_is_named(self):
        good = '{"type":"t"}\n'
        for line, reason in (("{", "in.jsonl:17: column 2: "), ("[]", ""), ("7", ""),
                             ('{"type":"a b"}', "type 'a b'"), ("{}", "type is missing"),
                             ('{"type":"t","typo":1}', "unknown field 'typo' (did you mean 'type'?)"),
                             ('{"type":"t","priority":"high"}', "priority"),
                             ('{"type":"t","priority":10}', "priority is out of range"),
                             ('{"type":"t","run_at":"soon"}', "run_at"),
                             ('{"type":"t","timeout":"5"}', "timeout"),
                             ('{"type":"t","payload_base64":"?"}', "payload_base64"),
                             ('{"type":"t","id":"1"}', "id"),
                             ('{"type":"t","key":""}', "key is blank"),
                             ('{"type":"t"}{"type":"t"}', ""), ('{"type":"t\0"}', "")):
            with self.subTest(line):
                said = self.refused(good * 16 + line + "\n" + good).splitlines()
                self.assertEqual(len(said), 2, said)
                self.assertTrue(said[0].startswith(self.path("in.jsonl") + ":17: "), said)
                self.assertIn(reason, said[0])
                self.assertIn("1 bad line in", said[1])
                self.assertIn("nothing was stored", said[1])

    def test_lines_that_are_too_long_are_bad(self):
        for size, reason in (((1 << 20) + 1, "payload is 10485"), (3 << 20, "too long")):
            line = json.dumps({"type": "t", "payload": "x" * size})
            self.assertIn(reason, self.refused('{"type":"t"}\n' + line + '\n{"type":"t"}\n'))

    def test_twenty_bad_lines_are_listed_and_the_others_counted(self):
        said = self.refused("bad\n" * 1025 + '{"type":"t"}\n').splitlines()
        self.assertEqual(len(said), 22)
        self.assertTrue(said[19].startswith(self.path("in.jsonl") + ":20: "))
        self.assertIn("and 1,005 more bad lines", said[20])
        self.assertIn("1,025 bad lines", said[21])

    def test_bad_lines_of_stdin_are_named_by_it(self):
        result = self.thctl("enqueue", "--bulk", "-", stdin="{}\n")
        self.assertEqual(result.code, 2)
        self.assertTrue(result.err.startswith("stdin:1: type is missing"), result)

    def test_bad_lines_cannot_steer_the_terminal(self):
        self.assertNotIn("\033", self.refused('{"type":"\\u001b[2J"}\n{"\033[2J":1}\n'))

    def test_skip_bad_stores_the_others(self):
        result = self.bulk('bad\n{"type":"a"}\nbad\n{"type":"b"}\n' * 1000, "--skip-bad")
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("in.jsonl:1: ", result.err)
        self.assertIn("2,000 bad lines", result.err)
        self.assertIn("stored 2,000 jobs", result.err)
        self.assertEqual([job["type"] for job in self.jobs()], ["a", "b"] * 1000)

    def test_skip_bad_with_only_bad_lines_stores_none(self):
        result = self.bulk("bad\n", "--skip-bad")
        self.assertEqual((result.code, result.out), (0, ""), result)
        self.assertEqual(self.jobs(), [])

    def test_options_for_one_job_are_refused(self):
        file = self.write("in.jsonl", '{"type":"t"}\n')
        for option in (["--file", file], ["--raw"], ["--key", "k"],
                       ["--idempotency-key", "k"],
                       ["--id", "0193f0a2-7c1d-7abc-8def-0123456789ab"]):
            self.refuses(2, "cannot go with --bulk", "enqueue", "--bulk", file, *option)
        self.refuses(2, "give at most TYPE", "enqueue", "--bulk", file, "t", "{}")
        self.refuses(2, "is not a name", "enqueue", "--bulk", file, "a b")
        self.assertFalse(os.path.exists(self.database))

    def test_a_file_that_cannot_be_read_is_refused(self):
        self.refuses(2, "missing", "enqueue", "--bulk", self.path("missing"))
        self.refuses(2, "it is a folder", "enqueue", "--bulk", self.folder)
        self.refuses(2, "stdin", "enqueue", "--bulk", "-", preexec=lambda: os.close(0))
        self.assertFalse(os.path.exists(self.database))

    def test_stdin_that_does_not_fit_the_temporary_folder_is_refused(self):
        self.refuses(2, f"temporary file for stdin in {self.folder}: ", "enqueue", "--bulk", "-",
                     stdin='{"type":"t"}\n' * 100000, preexec=limit_file_size(100000))
        self.refuses(2, "temporary file for stdin in ", "enqueue", "--bulk", "-",
                     stdin='{"type":"t"}\n', env={"TMPDIR": self.path("missing")})
        self.assertFalse(os.path.exists(self.database))

    def test_a_failure_in_between_names_the_last_line_stored(self):
        line = json.dumps({"type": "t", "payload": "x" * 1000}) + "\n"
        result = self.bulk(line * 5000, preexec=limit_file_size(3000000))
        self.assertIn(result.code, (1, 69), result.err)
        stored = len(self.jobs())
        self.assertTrue(0 < stored < 5000 and stored % 1000 == 0, stored)
        self.assertEqual(len(result.lines), stored)
        self.assertIn(f"is stored up to line {stored}", result.err)
        self.assertIn(f"tail -n +{stored + 1} {self.path('in.jsonl')} | thctl enqueue", result.err)
        self.assertEqual(self.sql("PRAGMA integrity_check"), [("ok",)])

    def test_a_job_that_the_store_refuses_is_named_by_its_line(self):
        waiting, other = ('{"type":"%s","key":"k"}\n' % type for type in ("t", "other"))
        result = self.bulk(waiting + '\n{"type":"t"}\n' * 1500 + other)
        self.assertEqual((result.code, len(result.lines)), (1, 1000), result.err)
        self.assertIn("thctl: line 3002: key 'k' of queue 'default' waits with type 't'", result.err)
        self.assertIn("is stored up to line 1999: go on with 'tail -n +2000 ", result.err)
        self.assertIn("thctl: line 2: key 'k' of", self.bulk("\n" + other).err)

    def interrupt(self, number):
        """Sends a signal as soon as something is stored; returns what was printed, and said."""
        file = self.write("in.jsonl", '{"type":"t"}\n' * 50000)
        with subprocess.Popen(
                [THCTL, "enqueue", "--bulk", file], cwd=self.folder, bufsize=0,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=self.environment_with(None, True)) as process:
            out = process.stdout.readline()
            process.send_signal(number)
            rest, err = process.communicate(timeout=DEADLINE)
        self.assertEqual(process.returncode, -number, err)
        return (out + rest).decode().splitlines(), err.decode()

    def test_a_signal_stops_it_between_batches_and_the_last_line_stored_is_named(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.ok("migrate")
            before = self.sql("SELECT count(*) FROM job")[0][0]
            ids, said = self.interrupt(number)
            stored = self.sql("SELECT count(*) FROM job")[0][0] - before
            self.assertTrue(0 < stored < 50000, stored)
            self.assertTrue(stored - 1000 <= len(ids) <= stored, (len(ids), said))
            self.assertIn("thctl: stopped by a signal\n", said)
            self.assertIn(f"is stored up to line {stored}: go on with", said)

    @staticmethod
    def is_full(pipe):
        size = fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)
        return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0] > size - 4096

    def test_a_signal_also_stops_it_while_nobody_reads(self):
        file = self.write("in.jsonl", '{"type":"t"}\n' * 20000)
        reader, writer = os.pipe()
        with subprocess.Popen(
                [THCTL, "enqueue", "--bulk", file], cwd=self.folder, stdout=writer,
                stderr=subprocess.PIPE, env=self.environment_with(None, True)) as process:
            os.close(writer)
            while not self.is_full(reader):
                time.sleep(0.01)
            process.terminate()
            _, err = process.communicate(timeout=DEADLINE)
        os.close(reader)
        self.assertEqual(process.returncode, -signal.SIGTERM, err)
        self.assertIn(b"is stored up to line ", err)

    def test_a_failure_at_once_says_that_nothing_was_stored(self):
        self.ok("migrate")
        line = json.dumps({"type": "t", "payload": "x" * 900000}) + "\n"
        result = self.bulk(line * 3, preexec=limit_file_size(2000000))
        self.assertIn(result.code, (1, 69), result.err)
        self.assertIn("nothing of", result.err)
        self.assertEqual(self.jobs(), [])

    def test_payloads_larger_than_memory_should_hold_are_stored_in_smaller_batches(self):
        line = json.dumps({"type": "t", "payload": "x" * 1000000}) + "\n"
        result = self.bulk(line * 40)
        self.assertEqual((result.code, len(result.lines)), (0, 40), result.err)

    def append(self):
        with open(self.path("in.jsonl"), "a", encoding="utf-8") as file:
            file.write('{"type":"late"}\n')

    def test_a_file_that_changes_while_it_is_checked_is_refused(self):
        file = self.write("in.jsonl", '{"type":"t"}\n' * 200000)
        code, screen = self.on_terminal("enqueue", "--bulk", file, answers=[("checking", self.append)])
        self.assertEqual(code, 2, screen)
        self.assertIn("in.jsonl was changed while it was being read", screen)
        self.assertFalse(os.path.exists(self.database))

    def test_a_file_that_changes_while_it_is_stored_stops_there(self):
        file = self.write("in.jsonl", '{"type":"t"}\n' * 200000)
        code, screen = self.on_terminal("enqueue", "--bulk", file, "--quiet", columns=500,
                                        answers=[("storing", self.append)])
        self.assertEqual(code, 1, screen)
        self.assertIn("in.jsonl was changed while it was being read", screen)
        stored = self.sql("SELECT count(*) FROM job")[0][0]
        self.assertIn(f"is stored up to line {stored}:", screen)

    def test_an_unreachable_backend_is_69(self):
        result = self.bulk('{"type":"t"}\n', "--backend", "sqlite:./nowhere/x.db")
        self.assertEqual((result.code, result.out), (69, ""), result)

    def test_a_terminal_sees_a_bar_and_anything_else_does_not(self):
        self.ok("migrate")
        self.make_pool("any.1")
        file = self.write("in.jsonl", '{"type":"t"}\n' * 50000)
        code, screen = self.on_terminal("enqueue", "--bulk", file, "--quiet")
        self.assertEqual(code, 0, screen)
        self.assertRegex(screen, r"checking \[#*\.*\] +\d+%  [\d,]+ jobs  [\d,]+/s")
        self.assertRegex(screen, r"storing \[#+\.*\] +\d+%  [\d,]+ jobs  [\d,]+/s")
        self.assertRegex(screen, r"\r\033\[Kstored 50,000 jobs in \S+ \([\d,]+/s\)\n$")

    def test_a_terminal_that_cannot_erase_a_line_sees_no_bar(self):
        self.ok("migrate")
        self.make_pool("any.1")
        file = self.write("in.jsonl", '{"type":"t"}\n' * 50000)
        for env in ({"TERM": "dumb"}, {"TERM": None}):
            code, screen = self.on_terminal("enqueue", "--bulk", file, "--quiet", env=env)
            self.assertEqual(code, 0, screen)
            self.assertRegex(screen, r"^stored 50,000 jobs in \S+ \([\d,]+/s\)\n$")

    def test_a_reader_that_goes_away_does_not_stop_the_storing(self):
        file = self.write("in.jsonl", '{"type":"t"}\n' * 5000)
        reader, writer = os.pipe()
        os.close(reader)
        result = self.thctl("enqueue", "--bulk", file, stdout=writer)
        os.close(writer)
        self.assertEqual(result.code, 0, result)
        self.assertRegex(result.err, r"^stored 5,000 jobs[^\n]+\n$")
        self.assertEqual(len(self.jobs()), 5000)


if __name__ == "__main__":
    unittest.main()

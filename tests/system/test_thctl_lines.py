"""thctl enqueue --lines: each line is the payload of a job."""
import base64
import os
import unittest

from harness import Case, limit_file_size


class Lines(Case):
    def payloads(self):
        return [job["payload"] if "payload" in job else base64.b64decode(job["payload_base64"])
                for job in self.jobs()]

    def test_each_line_is_a_job_of_the_type_given_with_the_options_given(self):
        result = self.thctl("enqueue", "--lines", "t", "-", "--queue", "q", "--priority", "2",
                            stdin='{"a": 1e400}\n[2]\n"x"\n')
        self.assertEqual(result.code, 0, result)
        jobs = self.jobs()
        self.assertEqual([job["id"] for job in jobs], result.lines)
        self.assertEqual([(job["type"], job["queue"], job["priority"]) for job in jobs],
                         [("t", "q", 2)] * 3)
        self.assertEqual(self.payloads()[1:], [[2], "x"])

    def test_raw_lines_are_bytes_as_they_are(self):
        self.ok("enqueue", "--lines", "--raw", "t", "-", stdin=b"a b\n \n\xc3\xbc\r\n\xff\0\n")
        self.assertEqual(self.payloads(), [b"a b", b" ", b"\xc3\xbc\r", b"\xff\0"])

    def test_empty_lines_are_passed_over_and_the_last_newline_may_be_missing(self):
        self.ok("enqueue", "--lines", "t", "-", stdin="\n1\n\n \t\r\n2")
        self.ok("enqueue", "--lines", "--raw", "t", "-", stdin="\na\n\n\nb")
        self.assertEqual(self.payloads(), [1, 2, b"a", b"b"])

    def test_lines_that_end_with_a_nul_may_have_newlines_in_them(self):
        self.ok("enqueue", "-l0", "--raw", "t", "-", stdin=b"a\nb\0\0c")
        self.assertEqual(self.payloads(), [b"a\nb", b"c"])

    def test_they_come_from_a_file_from_stdin_or_from_a_pipe_that_nobody_named(self):
        file = self.write("in", "1\n2\n")
        for arguments, stdin in ((["--file", file], None), (["-"], "1\n2\n"), (["--file=-"], "1\n2\n"),
                                 ([], "1\n2\n")):
            with self.subTest(arguments):
                self.assertEqual(len(self.ok("enqueue", "--lines", "t", *arguments,
                                             stdin=stdin).splitlines()), 2)

    def test_a_terminal_is_not_read_unless_it_is_named(self):
        code, screen = self.on_terminal("enqueue", "--lines", "t")
        self.assertEqual(code, 2)
        self.assertIn("--lines needs lines: pipe them in, or give --file F", screen)

    def test_one_bad_line_stores_nothing_and_plain_text_is_told_of_raw(self):
        result = self.thctl("enqueue", "--lines", "t", "-", stdin="1\nsome text\n")
        self.assertEqual((result.code, result.out), (2, ""))
        self.assertIn("stdin:2: payload is not JSON", result.err)
        self.assertIn("thctl: 1 bad line in stdin: nothing was stored (--raw takes lines of any text,"
                      " --skip-bad stores the others)\n", result.err)
        self.assertFalse(os.path.exists(self.database))
        self.ok("enqueue", "--lines", "t", "-", "--skip-bad", stdin="1\nsome text\n")
        self.assertEqual(self.payloads(), [1])

    def test_what_says_nothing_about_lines_is_refused(self):
        for says, arguments in (
                ("--bulk and --lines exclude each other", ["t", "--bulk", "f"]),
                ("--key is for one job", ["t", "--key", "k"]),
                ("--idempotency-key is for one job", ["t", "--idempotency-key", "k"]),
                ("--id is for one job", ["t", "--id", "0193f0a2-7c1d-7abc-8def-0123456789ab"]),
                ("(did you mean '--file paths.txt'?)", ["t", "paths.txt"]),
                ("- and --file exclude each other", ["t", "-", "--file", "f"]),
                ("enqueue needs TYPE", [])):
            with self.subTest(says):
                self.refuses(2, says, "enqueue", "--lines", *arguments)
        self.refuses(2, "--null goes with --lines", "enqueue", "t", "--null")
        self.assert_nothing_stored()

    def test_a_failure_in_between_tells_how_to_go_on(self):
        line = "x" * 1000 + "\n"
        file = self.write("my lines", line * 5000)
        result = self.thctl("enqueue", "--lines", "--raw", "t", "--file", file,
                            preexec=limit_file_size(3 << 20))
        self.assertEqual(result.code, 69, result.err)
        self.assertRegex(result.err, r"is stored up to line \d000: go on with 'tail -n \+\d001 '?/.*"
                                     r"my lines'? \| thctl enqueue --lines t -' and the same options")


if __name__ == "__main__":
    unittest.main()

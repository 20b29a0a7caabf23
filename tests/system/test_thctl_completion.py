"""The script by which bash completes thctl's command lines."""
import subprocess
import unittest

from harness import DEADLINE, Case

ASK = r"""
set -u
eval "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
_thctl
printf '%s\n' "${COMPREPLY[@]}"
"""


class Completion(Case):
    def offered(self, *words):
        """What bash would offer for the last of these words."""
        script = self.ok("completion", backend=False)
        done = subprocess.run(["bash", "-c", ASK, "bash", script, "thctl", *words], check=True,
                              stdout=subprocess.PIPE, timeout=DEADLINE, text=True)
        return done.stdout.split()

    def test_commands_are_offered_first(self):
        self.assertEqual(self.offered("res"), ["resume"])
        self.assertIn("enqueue", self.offered(""))
        self.assertEqual(self.offered("--js"), ["--json"])
        self.assertEqual(self.offered("--config", "x.yaml", "enq"), ["enqueue"])

    def test_options_are_those_of_the_command_and_of_all(self):
        self.assertEqual(self.offered("ls", "--st"), ["--state"])
        self.assertEqual(self.offered("show", "--st"), [])
        self.assertEqual(self.offered("show", "--back"), ["--backend"])
        self.assertEqual(self.offered("--json", "enqueue", "x", "--wa"), ["--wait"])

    def test_values_are_offered_where_there_are_only_a_few(self):
        self.assertEqual(self.offered("ls", "--state", "r"), ["ready", "running", "retry"])
        self.assertEqual(self.offered("ls", "-s", "de"), ["dead"])
        self.assertEqual(self.offered("ls", "--state", "=", "de"), ["dead"])
        self.assertIn("dead", self.offered("ls", "--state", "="))

    def test_other_values_and_payloads_are_left_to_bash(self):
        self.assertEqual(self.offered("enqueue", "--file", ""), [])
        self.assertEqual(self.offered("--config", ""), [])

    def test_help_takes_a_command(self):
        self.assertEqual(self.offered("help", "mig"), ["migrate"])

    def test_what_can_be_wanted_of_a_pool_is_offered(self):
        self.assertEqual(self.offered("pools", "qu"), ["quiet"])

    def test_the_script_is_a_good_one(self):
        path = self.write("script", self.ok("completion", backend=False) + "\n")
        done = subprocess.run(["shellcheck", "-s", "bash", path], check=False, text=True,
                              stdout=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()

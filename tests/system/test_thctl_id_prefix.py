"""Ids by their first digits, in each command that takes ids, on each store."""
import re
import unittest

from harness import Case

FIRST = "0193f0a2-7c1d-7abc-8def-0123456789ab"
SECOND = "0193f0a2-7c1d-7abc-8def-0123456789ac"
LATER = "0193f0a3-0000-7000-8000-000000000000"


class IdPrefix(Case):
    def setUp(self):
        super().setUp()
        for job, queue in ((LATER, "a"), (SECOND, "b"), (FIRST, "c")):
            self.enqueue("x", "--id", job, "--queue", queue)

    def test_a_beginning_that_one_job_has_stands_for_it(self):
        for prefix in ("0193f0a3", "0193f0a3-", "0193F0A30", "0193f0a300007", LATER.replace("-", ""),
                       LATER[:-1], LATER):
            with self.subTest(prefix):
                self.assertEqual(self.job(prefix)["id"], LATER)
        self.assertEqual(self.job(FIRST)["id"], FIRST)
        self.assertEqual(self.job(SECOND)["id"], SECOND)

    def test_every_command_takes_it(self):
        self.assertTrue(self.ok("show", "0193f0a3").startswith("id"))
        self.assertIn(LATER, self.ok("why", "0193f0a3"))
        self.assertIn(LATER, self.thctl("logs", "0193f0a3").err)
        self.assertEqual(self.ok("run", "0193f0a3"), f"{LATER} due now")
        self.assertEqual(self.ok("cancel", "0193f0a3"), f"{LATER} cancelled")
        self.assertEqual(self.ok("retry", "0193f0a3"), f"{LATER} queued again")
        self.ok("cancel", "0193f0a3")
        self.assertEqual(self.ok("rm", "0193f0a3"), f"{LATER} deleted")
        self.refuses(1, "no job has an id that begins with 0193f0a3", "show", "0193f0a3")

    def test_a_page_goes_on_behind_it(self):
        [job] = self.objects("ls", "--order", "asc", "--after", SECOND[:-1] + "c")
        self.assertEqual(job["id"], LATER)
        self.assertEqual(len(self.objects("ls", "--after", "0193f0a3")), 2)
        self.refuses(1, "the ids of several jobs", "ls", "--after", "0193f0a2")

    def test_one_that_several_have_names_them_and_changes_none(self):
        for command in ("show", "why", "logs", "cancel", "run", "retry", "rm"):
            with self.subTest(command):
                self.refuses(1, "the ids of several jobs begin with 0193f0a2-7c1d: "
                                f"{FIRST}, {SECOND}; give more digits", command, "0193f0a27c1d")
        for end in ("1", "2"):
            self.enqueue("x", "--id", LATER.replace("8000", "800" + end).replace("f0a3", "f0a2"))
        self.refuses(1, f"{FIRST} and others; give more digits", "cancel", "0193f0a2")
        self.assertEqual({job["state"] for job in self.jobs()}, {"ready"})

    def test_the_others_of_several_are_tried(self):
        result = self.thctl("--json", "cancel", "0193f0a2", "0193f0a3", "01930000")
        self.assertEqual(result.code, 1, result)
        self.assertEqual([(answer["id"], answer["ok"]) for answer in result.objects],
                         [("0193f0a2", False), ("01930000", False), (LATER, True)])
        result = self.thctl("show", "01930000", "0193f0a3")
        self.assertEqual(result.code, 1)
        self.assertIn(LATER, result.out)

    def test_what_can_be_no_beginning_is_refused(self):
        for wrong in ("0193f0a", "0193-f0a2", "0193f0a2--7c1d", "0193f0a2 7c1d", "0193f0ag", "-", "0" * 32,
                      FIRST + "0"):
            with self.subTest(wrong):
                self.refuses(2, "is not the id of a job: give a UUID, or at least the first 8 digits of one",
                             "show", "--", wrong)
        self.refuses(1, "no job has an id that begins with 00000000", "show", "00000000")
        self.refuses(1, "no job has an id that begins with ffffffff", "show", "ffffffff")

    def test_a_narrow_list_shows_17_digits_that_can_be_typed(self):
        def shown(columns):
            screen = self.on_terminal("ls", "--limit", "1", columns=columns, env={"NO_COLOR": "1"})[1]
            return re.match(r"[-0-9a-f]+", screen.splitlines()[1]).group()
        self.assertEqual(shown(80), LATER[:20])
        self.assertEqual(shown(120), LATER)
        self.assertEqual(self.job(shown(80))["id"], LATER)
        self.assertIn(LATER, self.ok("ls"))


if __name__ == "__main__":
    unittest.main()

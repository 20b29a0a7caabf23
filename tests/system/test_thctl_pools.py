"""thctl pools: who works here, and what each process does."""
import re
import unittest

from harness import Case

POOL_FIELDS = ["name", "host", "pid", "started_at", "beat_at", "state", "version", "processes"]
AN_ID = "0193f0a2-7c1d-7abc-8def-0123456789ab"
LONG_AGO = "2026-01-31T10:00:00.000000Z"


def process(name, pid, **members):
    return {"name": name, "pid": pid, "state": "idle", "since": LONG_AGO, "job": None,
            "type": None, "progress": None, "jobs_done": 0, **members}


PROCESSES = [
    process("dispatcher", 11, jobs_done=123456),
    process("worker 1", 12, state="running", job=AN_ID, type="email:send", jobs_done=1700,
            progress={"percent": 40, "text": "resizing"}),
    process("worker 2", 13),
]
STATUS = {"version": "0.1.0", "state": "running", "processes": PROCESSES}


class Pools(Case):
    def setUp(self):
        super().setUp()
        self.ok("migrate")

    def test_no_pool_is_said_to_people_only(self):
        result = self.thctl("pools")
        self.assertEqual((result.code, result.out), (0, ""))
        self.assertEqual(result.err,
                         "no pool has registered: start one with thd --config jobs.yaml\n")
        result = self.thctl("--json", "pools")
        self.assertEqual((result.code, result.out, result.err), (0, "", ""))

    def test_no_pool_names_the_config_in_use(self):
        self.write("my.yaml", f"backend: {self.backend}\n")
        self.assertIn("thd --config my.yaml\n", self.thctl("--config", "my.yaml", "pools").err)

    def test_a_pool_has_its_processes_beneath_it(self):
        self.make_pool("web-1", STATUS)
        self.make_pool("web-2", {**STATUS, "processes": PROCESSES[:1]})
        lines = self.ok("pools").splitlines()
        self.assertEqual(lines[0].split(),
                         ["POOL", "HOST", "PID", "STATE", "WORKERS", "UPTIME", "LAST-BEAT"])
        self.assertRegex(lines[1], r"^web-1  host\.example  4711  running +1/2 +2d +(now|\d+s ago)$")
        self.assertEqual(lines[2].split(), ["PROCESS", "PID", "STATE", "SINCE", "JOB", "TYPE",
                                            "PROGRESS", "DONE"])
        self.assertRegex(lines[3], r"^  dispatcher  +11  idle +\d+d ago *$")
        self.assertRegex(lines[4], r"^  worker 1  +12  running +\d+d ago  "
                                   + AN_ID + r"  email:send  40% resizing  1,700$")
        self.assertRegex(lines[5], r"^  worker 2  +13  idle +\d+d ago +0$")
        self.assertEqual(lines[6], "")
        self.assertRegex(lines[7], r"^web-2  host\.example  4711  running +0/0 ")
        self.assertEqual([line.split()[0] for line in lines[8:]], ["PROCESS", "dispatcher"])

    def test_what_is_wanted_of_a_pool_is_kept_and_shown_with_who_wants_it(self):
        self.make_pool("mail.8af3", STATUS)
        self.make_pool("web.7", STATUS)
        self.assertEqual(self.ok("pools", "quiet", "mail"), "mail.8af3 is asked to take no more jobs")
        mail, web = self.objects("pools")
        self.assertEqual(mail["want"], "quiet")
        self.assertIn("@", mail["wanted_by"])
        self.assertNotIn("want", web)
        lines = self.ok("pools").splitlines()
        self.assertRegex(lines[2], r"^  wanted: quiet  (now|\d+s ago), by .+@.+$")
        [told] = self.objects("pools", "terminate", "mail.8")
        self.assertEqual(told, {"name": "mail.8af3", "want": "terminate"})
        self.assertEqual(self.objects("pools")[0]["want"], "terminate")
        self.assertEqual(self.ok("pools", "resume", "mail.8af3"), "mail.8af3 is asked to go on")
        self.assertEqual(self.objects("pools")[0]["want"], "nothing")
        self.assertNotIn("wanted:", self.ok("pools"))

    def test_a_pool_that_nobody_can_mean_is_refused(self):
        self.make_pool("mail.1", STATUS)
        self.make_pool("mail.2", STATUS)
        result = self.thctl("pools", "quiet", "mial")
        self.assertEqual((result.code, result.err),
                         (1, "thctl: pool 'mial' is not there; there are: mail.1, mail.2\n"))
        result = self.thctl("pools", "quiet", "mail")
        self.assertEqual((result.code, result.err),
                         (1, "thctl: pool 'mail' may be each of: mail.1, mail.2\n"))
        for words in (["quite", "mail.1"], ["quiet"], ["mail.1"]):
            result = self.thctl("pools", *words)
            self.assertEqual(result.code, 2)
            self.assertIn("pools takes nothing, or quiet, terminate or resume and a NAME", result.err)

    def test_a_try_whose_time_has_come_is_not_called_the_next_one_of_the_past(self):
        self.make_pool("web-1", {**STATUS, "start_failures": [
            {"pattern": "x", "error": "exec x: No such file", "since": LONG_AGO, "next_try": LONG_AGO}]})
        self.assertRegex(self.ok("pools"), r"cannot start  x, failing since \d+d ago, next try now: exec x")

    def test_a_pool_says_what_it_serves_and_handles(self):
        queues = [{"name": "default", "weight": 1, "max_running": None, "rate": None},
                  {"name": "mail", "weight": 3, "max_running": 10, "rate": "100/s"}]
        handlers = [{"pattern": pattern, "kind": "command", "max_attempts": 4,
                     "timeout_ms": 300000} for pattern in ("email:send", "webhook:*")]
        self.make_pool("web-1", {**STATUS, "queues": queues, "handlers": handlers})
        self.make_pool("web-2", {**STATUS, "queues": [], "handlers": [], "processes": []})
        lines = self.ok("pools").splitlines()
        self.assertEqual(lines[2:4], [
            "  queues   default, mail (weight 3, max_running 10, rate 100/s)",
            "  handles  email:send, webhook:*"])
        self.assertEqual(lines[-2:], ["  queues   -", "  handles  -"])
        self.assertEqual(self.objects("pools")[0]["queues"], queues)
        self.assertEqual(self.objects("pools")[0]["handlers"], handlers)

    def test_a_terminal_of_80_columns_wraps_what_a_pool_handles(self):
        handlers = [{"pattern": f"type-number-{number}"} for number in range(20)]
        self.make_pool("web-1", {**STATUS, "handlers": handlers})
        screen = self.on_terminal("pools", env={"NO_COLOR": "1"})[1]
        self.assertTrue(all(len(line) <= 80 for line in screen.splitlines()), screen)
        self.assertRegex(screen, r"\n  handles  type-number-0, .*,\r?\n           type-number-")

    def test_a_pool_that_was_not_heard_of_for_a_minute_is_silent(self):
        self.make_pool("a", STATUS, silent_for=40)
        self.make_pool("b", STATUS, silent_for=70)
        self.assertEqual([pool["state"] for pool in self.objects("pools")], ["running", "silent"])
        self.assertRegex(self.ok("pools"), r"\nb +host\.example  4711  silent +1/2 .* 1m ago\n")

    def test_json_has_a_line_per_pool_with_all_it_said(self):
        self.make_pool("web-1", {"started_at": "never", **STATUS, "load": [0.5, {"a": 1}]})
        [pool] = self.objects("pools")
        self.assertEqual(list(pool), [*POOL_FIELDS, "load"])
        self.assertEqual((pool["name"], pool["host"], pool["pid"]), ("web-1", "host.example", 4711))
        self.assertRegex(pool["started_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
        self.assertRegex(pool["beat_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
        self.assertEqual({name: pool[name] for name in STATUS}, STATUS)
        self.assertEqual(pool["load"], [0.5, {"a": 1}])

    def test_a_pool_that_said_nothing_understandable_is_listed(self):
        odd = [None, b"", b"[1", b"\xff\x00", b"[]", {}, {"processes": {"a": 1}, "state": 7},
               {"processes": []}]
        for number, status in enumerate(odd):
            self.make_pool(f"pool-{number}", status)
        lines = self.ok("pools").splitlines()
        self.assertEqual([line.split()[0] for line in lines[1:]],
                         [f"pool-{number}" for number in range(len(odd))])
        for pool in self.objects("pools"):
            self.assertEqual(list(pool), POOL_FIELDS)
            self.assertEqual((pool["state"], pool["version"], pool["processes"]), (None, None, []))

    def test_processes_of_another_version_are_shown_as_far_as_they_are_understood(self):
        self.make_pool("a", {"processes": [
            7, None, {"name": "worker 1", "since": "yesterday", "pid": "x", "mood": "good"},
            {"name": "thinker", "state": "dreaming", "progress": {"percent": 4.5}}]})
        screen = self.ok("pools")
        self.assertIn("  worker 1", screen)
        self.assertRegex(screen, r"  thinker +dreaming")
        self.assertRegex(screen, r"0/1")

    def test_nothing_a_pool_said_can_steer_a_terminal(self):
        evil = "\033[2J\u202e\n"
        self.make_pool("a", {"state": evil, "version": evil, "processes": [
            process(evil, 1, state=evil, job=evil, type=evil,
                    progress={"percent": 1, "text": evil})]})
        for shown in (self.ok("pools"),
                      self.on_terminal("pools", env={"NO_COLOR": "1"}, columns=300)[1]):
            self.assertNotRegex(shown, r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
            self.assertIn(r"\x1b[2J\u202e\n", shown)

    def test_a_terminal_of_80_columns_shows_jobs_and_their_types(self):
        self.make_pool("web-1", STATUS)
        screen = self.on_terminal("pools", env={"NO_COLOR": "1"})[1]
        self.assertTrue(all(len(line) <= 80 for line in screen.splitlines()), screen)
        self.assertIn(f"{AN_ID}  email:send", screen)

    def test_silence_is_red_on_terminals_that_want_colour(self):
        self.make_pool("a", STATUS, silent_for=70)
        self.assertIn("\033[31msilent\033[0m", self.on_terminal("pools")[1])
        self.assertNotIn("\033", self.ok("pools"))

    def test_a_clock_that_is_behind_puts_nothing_into_the_future(self):
        self.make_pool("a", {**STATUS, "processes": [
            process("worker 1", 1, since="2999-01-01T00:00:00Z")]}, silent_for=-500000)
        self.assertNotRegex(self.ok("pools"), r"\bin \d|-\d")

    def test_thousands_of_processes_are_listed(self):
        many = [process(f"worker {number}", number) for number in range(1, 3001)]
        self.make_pool("a", {**STATUS, "processes": many})
        self.assertEqual(len(re.findall(r"^  worker", self.ok("pools"), re.MULTILINE)), 3000)
        [pool] = self.objects("pools")
        self.assertEqual(pool["processes"], many)

    def test_a_full_disk_is_noticed(self):
        self.make_pool("a", STATUS)
        for arguments in (["pools"], ["--json", "pools"]):
            with open("/dev/full", "wb") as full:
                result = self.thctl(*arguments, stdout=full)
            self.assertEqual(result.code, 1, result)
            self.assertEqual(result.err, "thctl: cannot write to stdout: No space left on device\n")


if __name__ == "__main__":
    unittest.main()

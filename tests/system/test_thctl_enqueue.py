"""thctl enqueue, one job at a time."""
import base64
import os
import re
import signal
import subprocess
import unittest
from datetime import datetime, timedelta, timezone

from harness import DEADLINE, THCTL, Case, limit_file_size

ID = re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
MIB = 1 << 20


def moment(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


class OneJob(Case):
    def test_enqueue_prints_the_id_alone(self):
        self.assertRegex(self.enqueue("email:send", '{"to":"a@b.c"}'), ID)

    def test_a_job_has_what_was_given_and_the_defaults(self):
        job = self.job(self.enqueue("email:send", '{"to": "a@b.c", "n": 1e400}'))
        self.assertEqual(job["type"], "email:send")
        self.assertEqual(job["queue"], "default")
        self.assertEqual(job["state"], "ready")
        self.assertEqual(job["encoding"], "json")
        self.assertEqual(job["payload"]["to"], "a@b.c")
        self.assertEqual(job["priority"], 5)
        for name in ("run_at", "timeout_ms", "max_attempts", "max_stalls", "key",
                     "idempotency_key", "started_at", "ended_at", "last_error", "reason"):
            self.assertIsNone(job[name], name)

    def test_every_option_arrives(self):
        job = self.job(self.enqueue(
            "t", "[1]", "--queue=mail", "--run-at", "2030-01-31T10:00:00Z", "--priority", "0",
            "--timeout", "90s", "--max-attempts", "7", "--max-stalls", "8", "--key", "schlüssel",
            "--update-payload=false", "--update-run-at=if_later", "--update-retry", "false",
            "--reset-counts", "--idempotency-key", "once", "--header", "a=1", "--header=b=x=\"y\"",
            "--tag", "mail", "--tag=customer:42",
            "--id", "0193f0a2-7c1d-7abc-8def-0123456789ab"))
        self.assertEqual(job["id"], "0193f0a2-7c1d-7abc-8def-0123456789ab")
        self.assertEqual(job["state"], "scheduled")
        self.assertEqual((job["queue"], job["priority"], job["timeout_ms"]), ("mail", 0, 90000))
        self.assertEqual((job["max_attempts"], job["max_stalls"]), (7, 8))
        self.assertEqual((job["key"], job["idempotency_key"]), ("schlüssel", "once"))
        self.assertEqual(job["run_at"], "2030-01-31T10:00:00.000000Z")
        self.assertEqual(job["headers"], {"a": "1", "b": 'x="y"'})
        self.assertEqual(job["tags"], ["mail", "customer:42"])

    def test_headers_and_tags_that_are_none_are_refused(self):
        for says, *arguments in (
                ("--header 'a' is not NAME=VALUE", "--header", "a"),
                ("--header '=1' is not NAME=VALUE", "--header", "=1"),
                ("--header a is given twice", "--header", "a=1", "--header", "a=2"),
                ("--header a is not UTF-8", "--header", b"a=\xff"),
                ("headers are 8193 bytes long: use a JSON object", "--header", "a=" + "x" * 8185),
                ("--tag: 'a b' is not a name", "--tag", "a b"),
                ("tag 'a' stands there twice", "--tag", "a", "--tag", "a")):
            self.refuses(2, says, "enqueue", "x", *arguments)
        self.assert_nothing_stored()

    def test_a_job_is_shown_and_listed_by_its_tags(self):
        job_id = self.enqueue("x", "--tag", "mail", "--tag", "urgent", "--header", "a=1")
        self.enqueue("x")
        self.assertEqual([job["id"] for job in self.jobs("--tag", "urgent")], [job_id])
        self.assertEqual([job["id"] for job in self.jobs("--tag", "urgent", "--state", "ready")],
                         [job_id])
        self.assertEqual(self.jobs("--tag", "urgent", "--state", "dead"), [])
        self.refuses(2, "--tag: 'a b' is not a name", "ls", "--tag", "a b")
        shown = self.ok("show", job_id)
        self.assertRegex(shown, r"(?m)^tags +mail urgent$")
        self.assertRegex(shown, r'(?m)^headers +\{"a":"1"\}$')

    def test_jobs_are_cancelled_by_their_tag(self):
        first, second = self.enqueue("x", "--tag", "mail"), self.enqueue("x")
        self.ok("cancel", "--all", "--tag", "mail", "--yes")
        self.assertEqual((self.job(first)["state"], self.job(second)["state"]),
                         ("cancelled", "ready"))

    def test_json_answer_has_id_state_existed_updated(self):
        [answer] = self.objects("enqueue", "x")
        self.assertEqual(list(answer), ["id", "state", "existed", "updated"])
        self.assertRegex(answer["id"], ID)
        self.assertEqual((answer["state"], answer["existed"], answer["updated"]),
                         ("ready", False, False))

    def test_global_options_may_stand_behind_the_command(self):
        self.assertEqual(len(self.thctl("enqueue", "--json", "x").objects), 1)
        self.assertEqual(len(self.thctl("enqueue", "x", "--json").objects), 1)

    def test_quiet_prints_nothing(self):
        self.assertEqual(self.enqueue("x", "--quiet"), "")
        self.assertEqual(len(self.jobs()), 1)


class Payloads(Case):
    def payload(self, *arguments, **options):
        return self.job(self.enqueue("x", *arguments, **options))

    def test_none_is_null(self):
        self.assertIsNone(self.payload()["payload"])

    def test_from_the_argument_a_file_and_stdin(self):
        file = self.write("p.json", '{"a": [1, 2]}\n')
        for arguments, stdin in ((['{"a":[1,2]}'], None), (["--file", file], None),
                                 (["--file=-"], '{"a":[1,2]}'), (["-"], '{"a":[1,2]}')):
            self.assertEqual(self.payload(*arguments, stdin=stdin)["payload"], {"a": [1, 2]})

    def test_a_payload_that_starts_with_a_dash_stands_behind_two_dashes(self):
        self.assertEqual(self.payload("--", "-5")["payload"], -5)

    def test_raw_takes_any_bytes(self):
        data = bytes(range(256)) * 10
        for arguments, stdin in ((["--file", self.write("raw", data)], None), (["-"], data)):
            job = self.payload("--raw", *arguments, stdin=stdin)
            self.assertEqual(job["encoding"], "raw")
            self.assertEqual(base64.b64decode(job["payload_base64"]), data)
        self.assertEqual(base64.b64decode(self.payload("--raw", "")["payload_base64"]), b"")
        self.assertEqual(base64.b64decode(self.payload("--raw")["payload_base64"]), b"")

    def test_a_payload_of_exactly_the_limit_is_stored(self):
        data = b'"' + b"x" * (MIB - 2) + b'"'
        self.assertEqual(len(self.payload("-", stdin=data)["payload"]), MIB - 2)

    def test_more_than_one_source_is_refused(self):
        file = self.write("p.json", "1")
        self.refuses(2, "exclude each other", "enqueue", "x", "1", "--file", file)
        self.refuses(2, "exclude each other", "enqueue", "x", "-", "--file", file)
        self.refuses(2, "too many arguments", "enqueue", "x", "1", "2")
        self.assert_nothing_stored()

    def test_bad_payloads_are_refused_and_nothing_is_stored(self):
        for arguments, stdin, says in (
                (["{"], None, "payload is not JSON"), ([""], None, "payload is not JSON"),
                (["{'a':1}"], None, "payload is not JSON"), (["1 2"], None, "payload is not JSON"),
                (["nan"], None, "payload is not JSON"), (['"\udcff"'], None, "payload is not JSON"),
                (["-"], "", "payload is not JSON"), (["-"], '"\0"', "payload is not JSON"),
                (["-"], b'"' + b"x" * MIB + b'"', "larger than 1048576 bytes: max_payload"),
                (["--raw", "-"], b"x" * (MIB + 1), "larger than 1048576 bytes"),
                (["--file", self.path("missing")], None, "missing"),
                (["--file", self.folder], None, self.folder)):
            with self.subTest(arguments):
                self.refuses(2, says, "enqueue", "x", *arguments, stdin=stdin)
                self.assertFalse(os.path.exists(self.database))


    def test_text_without_quotes_is_told_of_both_ways(self):
        self.refuses(2, "expected a value (text has quotes: '\"text\"'; --raw takes any bytes)\n",
                     "enqueue", "hello", "Ada")


class BadInput(Case):
    def test_bad_values_are_refused_and_nothing_is_stored(self):
        for arguments in (
                ["a b"], [""], ["x" * 129], ["ü"], ["x", "--queue", "a/b"], ["x", "--queue", ""],
                ["x", "--priority", "10"], ["x", "--priority", "-1"], ["x", "--priority", "high"],
                ["x", "--timeout", "5"], ["x", "--timeout", "0"], ["x", "--timeout", "-5s"],
                ["x", "--timeout", "500d"], ["x", "--max-attempts", "0"],
                ["x", "--max-attempts", "1000001"], ["x", "--max-stalls", "0"],
                ["x", "--key", ""], ["x", "--key", "k" * 257], ["x", "--key", "\udcff"],
                ["x", "--idempotency-key", "k" * 257], ["x", "--id", "1"],
                ["x", "--update-payload", "maybe"], ["x", "--update-run-at", "sometimes"],
                ["x", "--update-retry", "1"], ["x", "--run-at", "soon"], ["x", "--run-at", ""],
                ["x", "--skip-bad"]):
            with self.subTest(arguments):
                result = self.thctl("enqueue", *arguments)
                self.assertEqual((result.code, result.out), (2, ""), result)
                self.assertRegex(result.err, r"^thctl: [^\n]+\n$")
                self.assertFalse(os.path.exists(self.database))

    def test_a_full_disk_stores_nothing_and_harms_nothing(self):
        first = self.enqueue("x")
        payload = b'"' + b"x" * 900000 + b'"'
        result = self.thctl("enqueue", "x", "-", stdin=payload, preexec=limit_file_size(200000))
        self.assertIn(result.code, (1, 69), result)
        self.assertEqual(result.out, "")
        self.assertRegex(result.err, r"^thctl: [^\n]+\n$")
        self.assertEqual([job["id"] for job in self.jobs()], [first])
        self.enqueue("x", "-", stdin=payload)
        self.assertEqual(self.sql("PRAGMA integrity_check"), [("ok",)])

    def test_a_full_disk_on_stdout_is_noticed(self):
        with open("/dev/full", "wb") as full:
            result = self.thctl("enqueue", "x", stdout=full)
        self.assertEqual(result.code, 1, result)
        self.assertIn("thctl: cannot write to stdout: No space left on device", result.err)

    def test_a_closed_stdout_is_noticed_and_writes_into_no_file(self):
        result = self.thctl("enqueue", "x", preexec=lambda: os.close(1))
        self.assertEqual(result.code, 1, result)
        self.assertIn("cannot write to stdout", result.err)
        self.assertEqual(len(self.jobs()), 1)
        self.assertEqual(self.sql("PRAGMA integrity_check"), [("ok",)])


class RunAt(Case):
    def run_at(self, text, **env):
        job = self.job(self.enqueue("x", "--run-at", text, env=env))
        return moment(job["run_at"]), job["state"]

    def test_absolute_times(self):
        for text, expected in (("2031-01-31T10:00:00Z", "2031-01-31T10:00:00+00:00"),
                               ("2031-01-31T10:00:00.5+01:00", "2031-01-31T09:00:00.5+00:00"),
                               ("2031-01-31 10:00", "2031-01-31T09:00:00+00:00"),
                               ("2031-07-31 10:00", "2031-07-31T08:00:00+00:00")):
            self.assertEqual(self.run_at(text, TZ="Europe/Berlin"),
                             (datetime.fromisoformat(expected.replace(".5+", ".500000+")),
                              "scheduled"))

    def test_relative_times(self):
        before = datetime.now(timezone.utc)
        run_at, state = self.run_at("+5m")
        after = datetime.now(timezone.utc)
        self.assertEqual(state, "scheduled")
        self.assertTrue(before <= run_at - timedelta(minutes=5) <= after)

    def test_a_time_of_the_day_is_its_next_one(self):
        now = datetime.now(timezone.utc)
        for distance in (timedelta(minutes=-2), timedelta(minutes=2)):
            wanted = (now + distance).replace(second=0, microsecond=0)
            run_at, _ = self.run_at(wanted.strftime("%H:%M"))
            self.assertEqual(run_at, wanted if distance > timedelta() else
                             wanted + timedelta(days=1))

    def test_tomorrow(self):
        today = datetime.now(timezone.utc).date()
        run_at, _ = self.run_at("tomorrow 09:00")
        self.assertIn(run_at.date() - today, (timedelta(days=1), timedelta(days=2)))
        self.assertEqual((run_at.hour, run_at.minute), (9, 0))

    def test_a_time_in_the_past_is_ready_now(self):
        self.assertEqual(self.run_at("2020-01-01T00:00:00Z")[1], "ready")

    def test_times_that_do_not_exist_are_refused(self):
        for text, says in (("2031-02-30T10:00:00Z", "--run-at"),
                           ("2031-02-30 10:00", "there is no day 2031-02-30"),
                           ("2031-03-30 02:30", "does not exist here"),
                           ("25:00", "is not a time"), ("yesterday", "is not a time")):
            self.refuses(2, says, "enqueue", "x", "--run-at", text, env={"TZ": "Europe/Berlin"})
        self.assertFalse(os.path.exists(self.database))


class KeysAndDuplicates(Case):
    def test_a_duplicate_by_idempotency_key_has_the_first_id(self):
        [first] = self.objects("enqueue", "x", "1", "--idempotency-key", "k")
        [second] = self.objects("enqueue", "x", "2", "--idempotency-key", "k")
        self.assertEqual(second, {"id": first["id"], "state": "ready", "existed": True,
                                  "updated": False})
        self.assertEqual([job["payload"] for job in self.jobs()], [1])

    def test_the_same_id_again_existed(self):
        job = self.enqueue("x")
        [again] = self.objects("enqueue", "x", "--id", job)
        self.assertEqual((again["id"], again["existed"]), (job, True))

    def test_a_waiting_job_with_the_key_is_updated_as_the_flags_say(self):
        first = self.enqueue("x", "1", "--key", "k", "--priority", "3")
        [second] = self.objects("enqueue", "x", "2", "--key", "k", "--update-payload=false",
                                "--max-attempts", "9")
        self.assertEqual((second["id"], second["updated"]), (first, True))
        job = self.job(first)
        self.assertEqual((job["payload"], job["priority"], job["max_attempts"]), (1, 3, 9))

    def test_a_key_that_another_type_has_is_refused(self):
        self.enqueue("x", "1", "--key", "k")
        before = self.jobs()
        result = self.thctl("enqueue", "y", "--key", "k")
        self.assertEqual((result.code, result.out), (1, ""), result)
        self.assertEqual(self.jobs(), before)


class Wait(Case):
    def setUp(self):
        super().setUp()
        self.ok("migrate")
        self.make_pool("any.1")

    def wait(self, *arguments):
        process = subprocess.Popen(
            [THCTL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
            env=self.environment_with(None, True))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process, process.stdout.readline().decode().strip()

    def test_done_exits_0(self):
        process, job = self.wait("enqueue", "x", "--wait")
        self.assertEqual(process.stderr.readline().decode(), f"{job} ready\n")
        self.make_ended(job, "done")
        out, err = process.communicate(timeout=DEADLINE)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(out, b"")
        self.assertIn(f"{job} done\n", err.decode())

    def test_dead_exits_1_with_the_reason(self):
        process, job = self.wait("enqueue", "x", "--wait")
        self.make_ended(job, "dead", "no such\naddress\033[2J", 2)
        err = process.communicate(timeout=DEADLINE)[1].decode()
        self.assertEqual(process.returncode, 1, err)
        self.assertIn(f"thctl: job {job} is dead (permanent): address\\x1b[2J ("
                      f"'thctl show {job}' has all of its error)\n", err)

    def test_cancelled_exits_1_and_json_prints_the_job_as_second_line(self):
        process, line = self.wait("--json", "enqueue", "x", "--wait")
        self.assertIn('"existed":false', line)
        job = self.jobs()[0]["id"]
        self.ok("cancel", job)
        out, err = process.communicate(timeout=DEADLINE)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn(f'"id":"{job}"'.encode(), out)
        self.assertIn(b'"state":"cancelled"', out)
        self.assertIn(b"was cancelled", err)

    def test_deleted_meanwhile_exits_1_and_says_so(self):
        process, job = self.wait("enqueue", "x", "--wait")
        self.sql("DELETE FROM job")
        err = process.communicate(timeout=DEADLINE)[1].decode()
        self.assertEqual(process.returncode, 1, err)
        self.assertIn(f"thctl: job {job} was deleted before its end was seen\n", err)

    def test_a_wait_that_is_over_exits_124_and_says_how_to_go_on(self):
        for arguments, state in ((["--run-at", "+1h"], "scheduled"), ([], "ready")):
            result = self.thctl("enqueue", "x", "--wait=20ms", *arguments)
            self.assertEqual(result.code, 124, result)
            job = result.out.strip()
            self.assertIn(f"thctl: job {job} still waits after 20ms ({state}): 'thctl logs -f {job}' "
                          f"waits on, 'thctl cancel {job}' ends it\n", result.err)
            self.assertEqual(self.job(job)["state"], state)

    def test_a_wait_for_a_running_job_that_is_over_says_so_and_json_has_the_job(self):
        self.enqueue("x", "--idempotency-key", "k", "--id", "0193f0a2-7c1d-7abc-8def-0123456789ab")
        self.make_running("0193f0a2-7c1d-7abc-8def-0123456789ab")
        result = self.thctl("--json", "enqueue", "x", "--idempotency-key", "k", "--wait=20ms")
        self.assertEqual(result.code, 124, result)
        self.assertEqual(result.objects[1]["state"], "running")
        self.assertIn("still runs after 20ms (running)", result.err)

    def test_a_job_that_ends_in_time_is_not_late(self):
        process, job = self.wait("enqueue", "x", "--wait=10m")
        self.make_ended(job, "done")
        process.communicate(timeout=DEADLINE)
        self.assertEqual(process.returncode, 0)

    def test_the_time_to_wait_stands_behind_an_equals_sign(self):
        self.refuses(2, "'30s' would be the payload (did you mean '--wait=30s'?)",
                     "enqueue", "x", "--wait", "30s")
        self.refuses(2, "--wait: '30' is not a duration", "enqueue", "x", "--wait=30")
        self.assertEqual(self.jobs(), [])
        self.assertEqual(self.thctl("enqueue", "x", "--raw", "--wait=1ms", "30s").code, 124)

    def test_whoever_stops_waiting_is_told_that_the_job_goes_on(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process, job = self.wait("enqueue", "x", "--wait")
            process.stderr.readline()
            process.send_signal(number)
            err = process.communicate(timeout=DEADLINE)[1].decode()
            self.assertEqual(process.returncode, -number, err)
            self.assertEqual(err, f"thctl: no longer waiting; job {job} goes on: 'thctl logs -f "
                                  f"{job}' waits on, 'thctl cancel {job}' ends it\n")
            self.assertEqual(self.job(job)["state"], "ready")

    def test_a_terminal_sees_one_line_that_changes(self):
        self.enqueue("x", "--idempotency-key", "k", "--id", "0193f0a2-7c1d-7abc-8def-0123456789ab")
        self.make_ended("0193f0a2-7c1d-7abc-8def-0123456789ab", "done")
        code, screen = self.on_terminal("enqueue", "x", "--idempotency-key", "k", "--wait")
        self.assertEqual(code, 0, screen)
        self.assertIn("\r\033[K0193f0a2-7c1d-7abc-8def-0123456789ab done", screen)
        self.assertTrue(screen.endswith("\r\033[K"), repr(screen))


if __name__ == "__main__":
    unittest.main()

"""thctl ls, show, stats and queues: looking, on terminals and elsewhere."""
import json
import os
import re
import time
import unittest
import uuid

from harness import Case

JOB_FIELDS = [
    "id", "type", "queue", "state", "why", "encoding", "payload", "headers", "tags", "priority", "run_at",
    "timeout_ms",
    "attempts", "max_attempts", "executions", "stalls", "max_stalls", "key", "idempotency_key",
    "created_at", "started_at", "ended_at", "failed_at", "last_error", "reason", "exit_code",
    "signal", "pool", "worker", "progress", "result", "cancel_requested_at", "merged_into",
    "output", "runs"]
STATS_FIELDS = [
    "queue", "paused", "scheduled", "ready", "blocked", "running", "retry", "done", "dead",
    "cancelled", "no_handler", "cannot_start", "oldest_ready_ms", "done_total", "failed_total"]
AN_ID = "0193f0a2-7c1d-7abc-8def-0123456789ab"


class Ls(Case):
    def test_a_table_has_a_line_per_job_the_newest_first(self):
        ids = [self.enqueue("email:send", "--max-attempts", "4"),
               self.enqueue("b", "--run-at", "+2h", "--queue", "q")]
        lines = self.ok("ls").splitlines()
        self.assertEqual(lines[0].split(),
                         ["ID", "STATE", "TYPE", "QUEUE", "PRI", "ATTEMPTS", "WHEN"])
        self.assertRegex(lines[1], rf"^{ids[1]}  scheduled  b           q          5       0/4  in 2h$")
        self.assertRegex(lines[2], rf"^{ids[0]}  ready      email:send  default    5       0/4  ")
        oldest_first = self.ok("ls", "--order", "asc").splitlines()[1:]
        self.assertEqual([line.split()[0] for line in oldest_first], ids)

    def test_errors_show_in_full_where_nobody_looks(self):
        [job] = self.dead_jobs(1)
        self.sql("UPDATE detail SET last_error = ?", "e" * 500)
        self.assertIn("e" * 500, self.ok("ls"))
        self.assertRegex(self.ok("ls"), rf"{job}  dead .* (now|\d+s ago)")

    def test_json_has_all_fields_of_a_job(self):
        self.enqueue("x")
        [job] = self.objects("ls")
        self.assertEqual(list(job), JOB_FIELDS)

    def test_filters(self):
        self.enqueue("a")
        self.enqueue("b", "--queue", "q")
        self.enqueue("b", "--run-at", "+1h")
        self.assertEqual([job["type"] for job in self.jobs("--queue", "q")], ["b"])
        self.assertEqual([job["queue"] for job in self.jobs("--type", "b")], ["q", "default"])
        self.assertEqual([job["type"] for job in self.jobs("--state", "scheduled")], ["b"])
        self.assertEqual(self.jobs("--state", "dead"), [])
        self.assertEqual(self.jobs("--type", "b", "--queue", "q", "--state", "scheduled"), [])

    def test_filters_by_key_error_and_time(self):
        keyed = self.enqueue("a", "--key", "k")
        self.enqueue("a", "--key", "other")
        soon, later = self.enqueue("s", "--run-at", "+10m"), self.enqueue("s", "--run-at", "+3h")
        [broken] = self.dead_jobs(1)
        self.sql("UPDATE detail SET last_error = ?", "no route to host")

        def found(*arguments):
            return [job["id"] for job in self.jobs(*arguments)]

        self.assertEqual(found("--key", "k"), [keyed])
        self.assertEqual(found("--error", "route"), [broken])
        self.assertEqual(found("--error", "nothing like it"), [])
        self.assertEqual(found("--state", "scheduled"), [soon, later])
        self.assertEqual(found("--state", "scheduled", "--order", "desc"), [later, soon])
        self.assertEqual(found("--state", "scheduled", "--until", "+1h"), [soon])
        self.assertEqual(found("--state", "scheduled", "--since", "+1h"), [later])
        self.assertEqual(found("--state", "dead", "--since", "-1h"), [broken])
        self.assertEqual(found("--state", "dead", "--until", "-1h"), [])
        self.assertEqual(found("--until", "-1h"), [])
        self.assertEqual(len(found("--since", "-1h")), 5)
        self.refuses(2, "--since: 'soon' is not a time", "ls", "--since", "soon")

    def test_fifty_are_shown_and_the_next_page_is_one_command_away(self):
        ids = [line for line in self.ok("enqueue", "--bulk", "-",
                                        stdin='{"type":"t","queue":"q"}\n' * 120).splitlines()]
        arguments, seen = ["ls", "--queue", "q"], []
        for expected in (50, 50, 20):
            result = self.thctl(*arguments)
            page = [line.split()[0] for line in result.lines[1:]]
            self.assertEqual(len(page), expected)
            seen += page
            if expected == 50:
                hint = f"more: thctl ls --queue q --after {page[-1]}\n"
                self.assertEqual(result.err, hint)
                arguments = hint.split()[2:]
        self.assertEqual(result.err, "")
        self.assertEqual(seen, ids[::-1])

    def test_pages_of_a_state_go_by_its_time(self):
        ids = self.dead_jobs(7)
        for i, job in enumerate(ids):
            self.sql("UPDATE ended SET ended_at = ended_at + ? WHERE seq = "
                     "(SELECT seq FROM job WHERE id = ?)", [4, 1, 6, 3, 7, 2, 5][i] * 1000000,
                     uuid.UUID(job).bytes)
        expected = [ids[i] for i in (4, 2, 6, 0, 3, 5, 1)]
        arguments, seen = ["ls", "--state", "dead", "--limit", "3"], []
        while arguments:
            result = self.thctl(*arguments)
            seen += [line.split()[0] for line in result.lines[1:]]
            arguments = result.err.split()[2:]
        self.assertEqual(seen, expected)

    def test_the_hint_has_the_backend_if_it_was_typed_and_quotes_it(self):
        backend = "sqlite:./my jobs.db"
        self.ok("--backend", backend, "enqueue", "--bulk", "-", stdin='{"type":"t"}\n' * 3)
        result = self.thctl("ls", "--limit", "2", "--backend", backend)
        self.assertRegex(result.err,
                         r"^more: thctl --backend 'sqlite:\./my jobs\.db' ls --limit 2 --after \S+\n$")

    def test_json_has_no_hint(self):
        self.ok("enqueue", "--bulk", "-", stdin='{"type":"t"}\n' * 60)
        result = self.thctl("--json", "ls")
        self.assertEqual((result.err, len(result.lines)), ("", 50))

    def test_a_limit_may_be_larger_than_a_page_of_the_store(self):
        self.ok("enqueue", "--bulk", "-", stdin='{"type":"t"}\n' * 2500)
        self.assertEqual(len(self.objects("ls", "--limit", "2200")), 2200)
        self.assertEqual(len(self.objects("ls", "--limit", "5000")), 2500)

    def test_pages_that_the_store_cuts_short_are_put_together(self):
        payload = '{"type":"t","payload":"' + "x" * 1000000 + '"}\n'
        self.ok("enqueue", "--bulk", "-", stdin=payload * 40)
        self.assertEqual(len(self.thctl("ls", "--limit", "40").lines), 41)

    def test_a_page_goes_on_after_a_job_that_is_gone(self):
        ids = [self.enqueue("x") for _ in range(3)]
        self.ok("cancel", ids[1])
        self.ok("rm", ids[1])
        self.assertEqual([job["id"] for job in self.objects("ls", "--after", ids[1])], [ids[0]])

    def test_a_place_that_nobody_knows_any_more_is_told_with_what_to_do(self):
        ids = self.dead_jobs(2)
        sentence = f"job {ids[0]} is not dead any more, so its place in the list is not known: "
        self.ok("retry", ids[0])
        self.refuses(1, sentence + "instead of --after give --until with", "ls", "--state", "dead",
                     "--after", ids[0])
        self.refuses(1, "instead of --after give --since with", "ls", "--state", "dead",
                     "--order", "asc", "--after", ids[0])
        self.refuses(1, f"job {AN_ID} is not dead any more", "ls", "--state", "dead", "--after", AN_ID)

    def test_no_jobs_is_said_to_people_only(self):
        self.ok("migrate")
        self.assertEqual(self.thctl("ls").err, "no jobs\n")
        self.assertEqual(self.thctl("ls", "--state", "dead").err, "no jobs like that\n")
        result = self.thctl("--json", "ls")
        self.assertEqual((result.code, result.out, result.err), (0, "", ""))

    def test_a_mistyped_queue_is_asked_about(self):
        self.enqueue("x", "--queue", "mail")
        question = "jobs like that (did you mean '--queue mail'?)\n"
        self.assertEqual(self.thctl("ls", "--queue", "mial").err, "no " + question)
        self.assertEqual(self.thctl("retry", "--all", "--queue", "mial").err, "no dead " + question)
        self.assertEqual(self.thctl("retry", "--all", "--queue", "mail").err, "no dead jobs like that\n")


class Show(Case):
    def test_a_sheet_has_every_field_with_a_value(self):
        job = self.enqueue("email:send", '{"to": "a@b.c"}', "--key", "k", "--timeout", "90s",
                           "--max-attempts", "4")
        self.make_ended(job, "dead", "first line\nsecond line", 1)
        sheet = self.ok("show", job)
        fields = dict(re.findall(r"^(\w+) +(.+)$", sheet, re.MULTILINE))
        self.assertEqual(fields["id"], job)
        self.assertEqual(fields["state"], "dead")
        self.assertEqual(fields["attempts"], "1 of 4")
        self.assertEqual(fields["timeout"], "1m 30s")
        self.assertEqual(fields["reason"], "exhausted")
        self.assertEqual(fields["payload"], '{"to": "a@b.c"}')
        self.assertRegex(fields["created_at"], r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 \(.*\)$")
        self.assertIn("first line\n                     second line\n", sheet)
        self.assertRegex(sheet, r"EXECUTION +OUTCOME +STARTED +WALL +CPU +MEMORY +WORKER +EXIT +ERROR")
        self.assertRegex(sheet, r"1 +dead +\d+s ago +1\.5s +21ms +2\.0 MiB +pool-1/3 +1 +second line")
        self.assertNotIn("progress", fields)

    def test_limits_that_the_job_does_not_say_are_the_handlers(self):
        job = self.enqueue("email:send")
        self.make_ended(job, "dead", "bad", 1)

        def shown():
            fields = dict(re.findall(r"^(\w+) +(.+)$", self.ok("show", job), re.MULTILINE))
            tables = {re.search(rf"{job} .* (\d+/\d+) ", self.ok(*command))[1]
                      for command in (["ls"], ["top", "--once"])}
            return fields["attempts"], fields["stalls"], fields["timeout"], *tables
        self.assertEqual(shown(), ("1 of 4", "0 of 3", "5m", "1/4"))
        self.make_pool("web.1", {"queues": [{"name": "default"}], "handlers": [
            {"pattern": "email:*", "max_attempts": 10, "timeout_ms": 30000}]})
        self.assertEqual(shown(), ("1 of 10", "0 of 3", "30s", "1/10"))
        for name in ("max_attempts", "max_stalls", "timeout_ms"):
            self.assertIsNone(self.job(job)[name], name)

    def test_raw_payloads_that_are_text_are_shown_as_such(self):
        for payload in ("photos/Zürich 1.jpg", "two\nlines"):
            sheet = self.ok("show", self.enqueue("x", "--raw", payload))
            self.assertIn("\nencoding             raw\npayload              " +
                          payload.replace("\n", "\n" + 21 * " ") + "\n", sheet + "\n")
        self.assertIn("00 01 ", self.ok("show", self.enqueue("x", "--raw", "-", stdin=b"\0\1")))

    def test_raw_payloads_are_dumped_and_cut(self):
        job = self.enqueue("x", "--raw", "-", stdin=bytes(range(256)) * 8)
        sheet = self.ok("show", job)
        self.assertIn("raw, 2.0 KiB, the first 1024 bytes\n", sheet)
        self.assertIn("40 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f  @ABCDEFGHIJKLMNO\n", sheet)
        self.assertEqual(len(re.findall(r"^  ([0-9a-f]{2} ){16} .{16}$", sheet, re.MULTILINE)), 64)

    def test_names_are_those_of_the_json(self):
        job = self.enqueue("x", "--key", "k", "--idempotency-key", "i", "--run-at", "+1h")
        self.ok("cancel", job)
        running = self.enqueue("x")
        self.make_running(running)
        self.ok("cancel", running)
        for line in self.ok("show", job, running).splitlines():
            self.assertIn(line.split(" ")[0], [*self.job(job), "timeout", ""])

    def test_several_are_shown_and_one_that_is_missing_makes_it_1(self):
        first, second = self.enqueue("a"), self.enqueue("b")
        result = self.thctl("show", first, AN_ID, second)
        self.assertEqual(result.code, 1)
        self.assertEqual(result.err, f"thctl: job {AN_ID} does not exist\n")
        self.assertIn(first, result.out)
        self.assertIn(second, result.out)
        result = self.thctl("--json", "show", first, AN_ID, second)
        self.assertEqual((result.code, [job["id"] for job in result.objects]), (1, [first, second]))

    def test_a_long_payload_is_cut_on_a_terminal_only(self):
        job = self.enqueue("x", "-", stdin='"' + "x" * 9000 + '"')
        self.assertIn("x" * 9000, self.ok("show", job))
        screen = self.on_terminal("show", job)[1]
        self.assertIn("(the first 4 KiB of 8.7 KiB; --json has it all)", screen)
        for padding in ("", "x", "xx", "xxx"):
            job = self.enqueue("x", f'"{padding}{"😀" * 2000}"')
            self.assertNotIn("\\x", self.on_terminal("show", job)[1])


class Terminals(Case):
    def evil_job(self):
        job = self.enqueue("x", '{"a":"\u202e\u009b2J"}', "--key", "\033]0;owned\007")
        self.make_ended(job, "dead", "\033[2J\033[H\r\n\u202eevil\u009b1m\x7f", 1)
        self.sql("UPDATE detail SET output = ?", b"out\033[31m\tput\n\xff\xfe\x00end")
        return job

    def test_a_terminal_that_does_not_tell_its_width_has_that_of_columns(self):
        self.dead_jobs(1)
        for columns, env, width in ((0, {"COLUMNS": "60"}, 60), (0, {"COLUMNS": "x"}, 80),
                                    (70, {"COLUMNS": "200"}, 70)):
            screen = self.on_terminal("ls", columns=columns, env={**env, "NO_COLOR": "1"})[1]
            longest = max(map(len, screen.splitlines()))
            self.assertTrue(width - 12 < longest <= width, (longest, width, screen))

    def test_nothing_from_the_store_can_steer_a_terminal(self):
        job = self.evil_job()
        for arguments in (["ls"], ["show", job]):
            shown = self.ok(*arguments) + self.on_terminal(*arguments, env={"NO_COLOR": "1"},
                                                           columns=500)[1]
            self.assertNotRegex(shown, r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
            self.assertIn(r"\u202eevil\u009b1m\x7f", shown)
        shown = self.ok("show", job)
        self.assertIn(r"\x1b[2J\x1b[H\r", shown)
        self.assertIn(r"\x1b]0;owned\x07", shown)
        self.assertIn("out\\x1b[31m\tput\n                     \\xff\\xfe\\x00end\n", shown)

    def test_json_cannot_steer_a_terminal_and_says_the_same(self):
        job = self.evil_job()
        for arguments in (["ls"], ["show", job]):
            shown = self.ok("--json", *arguments)
            self.assertNotRegex(
                shown, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
            record = json.loads(shown)
            self.assertEqual(record["payload"], {"a": "\u202e\u009b2J"})
            self.assertEqual(record["last_error"], "\033[2J\033[H\r\n\u202eevil\u009b1m\x7f")

    def test_wait_and_repair_are_harmless_too(self):
        job = self.evil_job()
        for arguments in (["cancel", job], ["retry", job], ["rm", job]):
            result = self.thctl(*arguments)
            self.assertNotRegex(result.out + result.err, r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

    def test_columns_are_aligned_by_what_a_terminal_shows(self):
        jobs = self.dead_jobs(3)
        for job, error in zip(jobs, ("日本語", "ascii", "e\u0301te\u0301")):
            self.sql("UPDATE detail SET last_error = ? WHERE seq = (SELECT seq FROM job WHERE id = ?)",
                     error, bytes.fromhex(job.replace("-", "")))
        lines = self.ok("ls", "--order", "asc").splitlines()
        self.assertEqual(len({line.index(error) for line, error in
                              zip(lines[1:], ("日本語", "ascii", "e\u0301te\u0301"))}), 1)

    def test_wide_characters_are_cut_at_the_edge(self):
        self.dead_jobs(1)
        self.sql("UPDATE detail SET last_error = ?", "日本語" * 50)
        for columns in range(100, 108):
            screen = self.on_terminal("ls", columns=columns, env={"NO_COLOR": "1"})[1]
            line = screen.splitlines()[1]
            width = sum(2 if ord(c) > 0x2fff else 1 for c in line)
            self.assertLessEqual(width, columns, line)
            self.assertGreaterEqual(width, columns - 1, line)
            self.assertTrue(line.endswith("…"))

    def test_a_narrow_terminal_gets_fewer_columns_and_the_first_digits_of_ids(self):
        [job] = self.dead_jobs(1)
        for columns in (40, 60, 80, 100, 120):
            screen = self.on_terminal("ls", columns=columns, env={"NO_COLOR": "1"})[1]
            self.assertIn(job if columns >= 100 else job[:20] + "  ", screen)
            self.assertTrue(columns < 60 or all(len(line) <= columns for line in
                                                screen.splitlines()), screen)
        self.assertNotIn("PRI", self.on_terminal("ls", columns=80)[1])
        self.assertIn("PRI", self.on_terminal("ls", columns=160)[1])

    def test_colour_is_for_terminals_that_want_it(self):
        self.dead_jobs(1)
        self.assertIn("\033[31mdead\033[0m", self.on_terminal("ls")[1])
        self.assertNotIn("\033", self.on_terminal("ls", env={"NO_COLOR": "1"})[1])
        self.assertNotIn("\033", self.on_terminal("ls", env={"TERM": "dumb"})[1])
        self.assertNotIn("\033", self.on_terminal("ls", env={"TERM": None})[1])
        self.assertNotIn("\033", self.ok("ls"))

    def test_names_are_right_in_any_locale(self):
        job = self.enqueue("x", '"grüße"', "--key", "schlüssel")
        for locale in ("C", "C.UTF-8", "xx_XX", "de_DE.ISO-8859-1"):
            sheet = self.ok("show", job, env={"LANG": locale, "LC_ALL": None})
            self.assertIn("schlüssel", sheet)
            self.assertIn('"grüße"', sheet)

    def test_a_reader_that_goes_away_is_no_error(self):
        self.ok("enqueue", "--bulk", "-", stdin='{"type":"t"}\n' * 5000)
        for arguments in (["ls", "--limit", "5000"], ["--json", "ls", "--limit", "5000"]):
            reader, writer = os.pipe()
            os.close(reader)
            result = self.thctl(*arguments, stdout=writer)
            os.close(writer)
            self.assertEqual((result.code, result.err), (0, ""), result)

    def test_a_full_disk_is_noticed(self):
        self.enqueue("x")
        for arguments in (["ls"], ["--json", "ls"], ["stats"], ["--help"], ["queues"]):
            with open("/dev/full", "wb") as full:
                result = self.thctl(*arguments, stdout=full)
            self.assertEqual(result.code, 1, result)
            self.assertEqual(result.err, "thctl: cannot write to stdout: No space left on device\n")


class Stats(Case):
    def test_an_empty_store_is_said_to_people_only(self):
        self.ok("migrate")
        for command in ("stats", "queues"):
            result = self.thctl(command)
            self.assertEqual((result.code, result.out), (0, ""))
            self.assertIn("no queues yet", result.err)
            result = self.thctl("--json", command)
            self.assertEqual((result.code, result.out, result.err), (0, "", ""))

    def fill(self):
        self.enqueue("x", "--queue", "a")
        self.enqueue("x", "--queue", "a", "--run-at", "+1h")
        self.make_running(self.enqueue("x", "--queue", "a", "--key", "k"))
        self.enqueue("x", "--queue", "a", "--key", "k")
        self.ok("cancel", self.enqueue("x", "--queue", "a"))
        self.make_ended(self.enqueue("x", "--queue", "b"), "dead", "bad", 1)
        self.make_ended(self.enqueue("x", "--queue", "b"), "done")
        self.ok("pause", "b")

    def test_stats_as_json(self):
        self.fill()
        a, b = self.objects("stats")
        self.assertEqual(list(a), STATS_FIELDS)
        self.assertEqual({name: a[name] for name in STATS_FIELDS[:10]},
                         {"queue": "a", "paused": False, "scheduled": 1, "ready": 1, "blocked": 1,
                          "running": 1, "retry": 0, "done": 0, "dead": 0, "cancelled": 1})
        self.assertTrue(0 <= a["oldest_ready_ms"] < 60000)
        self.assertEqual((b["paused"], b["dead"], b["done"], b["oldest_ready_ms"]),
                         (True, 1, 1, None))

    def test_stats_as_a_table(self):
        self.fill()
        lines = self.ok("stats").splitlines()
        self.assertEqual(lines[0].split(),
                         ["QUEUE", "PAUSED", "SCHEDULED", "READY", "BLOCKED", "RUNNING", "RETRY",
                          "DONE", "DEAD", "CANCELLED", "OLDEST", "DONE-TOTAL", "FAILED-TOTAL"])
        self.assertEqual(len({len(line) for line in lines}), 1, lines)
        screen = self.on_terminal("stats", env={"NO_COLOR": "1"})[1]
        self.assertTrue(all(len(line) <= 80 for line in screen.splitlines()), screen)
        self.assertIn("DEAD", screen)

    def test_queues_as_json_and_as_a_table(self):
        self.fill()
        a, b = self.objects("queues")
        self.assertEqual(list(a), ["queue", "paused", "paused_at", "waiting", "running",
                                   "oldest_ready_ms", "paused_by"])
        self.assertEqual((a["paused"], a["paused_at"], a["waiting"], a["running"]),
                         (False, None, 3, 1))
        self.assertTrue(b["paused"])
        self.assertRegex(b["paused_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
        self.assertEqual(self.ok("queues").split()[:5],
                         ["QUEUE", "PAUSED", "WAITING", "RUNNING", "OLDEST"])

    def test_a_clock_that_is_behind_makes_no_negative_age(self):
        self.enqueue("x")
        ahead = int(time.time() * 1e6) + 10**9
        self.sql("UPDATE ready SET due = ?", ahead)
        self.sql("UPDATE job SET due = ?", ahead)
        [stats] = self.objects("stats")
        self.assertEqual(stats["oldest_ready_ms"], 0)


class Steer(Case):
    def test_pause_and_resume(self):
        self.assertEqual(self.ok("pause", "--create", "mail", "import"),
                         "paused mail\npaused import")
        self.assertEqual([queue["paused"] for queue in self.objects("queues")], [True, True])
        self.assertEqual(self.ok("resume", "mail"), "resumed mail")
        self.assertEqual({queue["queue"]: queue["paused"] for queue in self.objects("queues")},
                         {"import": True, "mail": False})

    def test_a_queue_that_nobody_uses_is_an_error_that_names_the_one_that_was_meant(self):
        self.enqueue("x", "--queue", "mail")
        for command, more in (("pause", "; --create pauses it anyway"), ("resume", "")):
            self.refuses(1, f"there is no queue 'mial' (did you mean 'mail'?){more}\n",
                         command, "mial")
            self.refuses(1, f"there is no queue 'nosuch': 'thctl queues' lists them{more}\n",
                         command, "nosuch")
        result = self.thctl("pause", "mial", "mail")
        self.assertEqual((result.code, result.out), (1, "paused mail\n"), result)
        self.assertEqual([queue["queue"] for queue in self.objects("queues")], ["mail"])

    def test_queues_of_the_config_and_of_pools_are_known_before_their_first_job(self):
        self.ok("migrate")
        self.make_pool("web.1", {"state": "running", "queues": [{"name": "served"}]})
        self.assertEqual(self.ok("pause", "served", "default"), "paused served\npaused default")
        config = self.write("jobs.yaml", f"backend: sqlite:{self.path('other.db')}\n"
                                         "queues: {configured: {}}\n")
        self.assertEqual(self.ok("--config", config, "pause", "configured", backend=False),
                         "paused configured")

    def test_repeating_it_is_fine(self):
        self.enqueue("x", "--queue", "mail")
        for command in ("pause", "pause", "resume", "resume"):
            self.ok(command, "mail")

    def test_json(self):
        self.assertEqual(self.objects("pause", "--create", "mail"), [{"queue": "mail", "paused": True}])
        self.assertEqual(self.objects("resume", "mail"), [{"queue": "mail", "paused": False}])

    def test_a_pause_says_who_it_was(self):
        self.ok("pause", "--create", "mail")
        [queue] = self.objects("queues")
        self.assertRegex(queue["paused_by"], r"^\S+@\S+$")
        self.assertRegex(self.ok("queues"), r"mail +(now|\d+s ago) .*@")
        self.ok("resume", "mail")
        [queue] = self.objects("queues")
        self.assertIsNone(queue["paused_by"])

    def test_an_empty_queue_is_hidden_until_its_next_job(self):
        self.ok("pause", "--create", "mail")
        self.assertEqual(self.ok("queues", "rm", "mail"), "removed mail")
        self.assertEqual(self.objects("queues"), [])
        job = self.ok("enqueue", "x", "--queue", "mail")
        self.assertEqual([(queue["queue"], queue["paused"]) for queue in self.objects("queues")],
                         [("mail", False)])
        self.refuses(1, "queue 'mail' still has jobs (1 ready)", "queues", "rm", "mail")
        self.ok("cancel", job)
        self.refuses(1, "queue 'mail' still has jobs (1 cancelled)", "queues", "rm", "mail")
        [answer] = [json.loads(line) for line in
                    self.thctl("--json", "queues", "rm", "mail").out.splitlines()]
        self.assertEqual((answer["queue"], answer["ok"]), ("mail", False))
        self.ok("rm", job)
        self.assertEqual(self.objects("queues", "rm", "mail"),
                         [{"queue": "mail", "ok": True, "error": None}])
        self.assertEqual(self.objects("stats"), [])
        self.refuses(1, "there is no queue 'nosuch': 'thctl queues' lists them", "queues", "rm", "nosuch")
        self.refuses(1, "there is no queue 'defualt' (did you mean 'default'?)", "queues", "rm", "defualt")
        self.refuses(1, "there is no queue 'default'\n", "queues", "rm", "default")
        self.refuses(2, "queues takes nothing, or rm", "queues", "mail")
        self.refuses(2, "queues takes nothing, or rm", "queues", "rm")

    def test_a_bad_name_pauses_nothing(self):
        self.ok("migrate")
        self.refuses(2, "queue: 'a b' is not a name", "pause", "mail", "a b")
        self.refuses(2, "queue: '' is not a name", "resume", "")
        self.assertEqual(self.objects("queues"), [])


if __name__ == "__main__":
    unittest.main()

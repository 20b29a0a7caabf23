"""Help, wrong command lines, backends that are not there."""
import os
import re
import shutil
import sqlite3
import unittest

from harness import THCTL, Case

COMMANDS = ["enqueue", "ls", "show", "why", "logs", "cancel", "run", "retry", "rm", "stats", "queues", "pools",
            "top", "cron", "pause", "resume", "init", "migrate", "completion", "help"]
SCHEMA = os.path.join(os.environ.get("TH_SOURCE_DIR", "../.."), "src/store/sqlite/schema")
NEWEST = len(os.listdir(SCHEMA))
AN_ID = "0193f0a2-7c1d-7abc-8def-0123456789ab"


class Help(Case):
    def test_help_lists_every_command_once(self):
        help_text = self.ok("--help", backend=False)
        listed = re.findall(r"^  ([a-z]+)  +\S", help_text.split("commands:")[1], re.MULTILINE)
        self.assertEqual(listed[:len(COMMANDS)], COMMANDS)
        self.assertEqual(self.ok("help", backend=False), help_text)
        self.assertEqual(self.ok("-h", backend=False), help_text)

    def test_every_command_has_help_with_usage_options_and_examples(self):
        for command in COMMANDS:
            with self.subTest(command):
                by_option = self.ok(command, "--help", backend=False)
                self.assertEqual(self.ok("help", command, backend=False), by_option)
                self.assertEqual(self.ok("--help", command, backend=False), by_option)
                self.assertIn(f"usage: thctl {command}", by_option)
                self.assertIn("--backend URL", by_option)
                self.assertRegex(by_option, rf"examples:\n  thctl .*{command}")

    def test_help_lines_fit_a_terminal_of_80_columns(self):
        for command in COMMANDS:
            for line in self.ok(command, "--help", backend=False).splitlines():
                self.assertLessEqual(len(line), 80, line)
        for line in self.ok("--help", backend=False).splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_plain_thctl_prints_the_overview_to_stderr_and_exits_2(self):
        result = self.thctl(backend=False)
        self.assertEqual((result.code, result.out), (2, ""))
        self.assertIn("commands:", result.err)

    def test_version_is_one_line(self):
        self.assertRegex(self.ok("--version", backend=False), r"^thctl \d+\.\d+\.\d+$")
        self.assertRegex(self.ok("ls", "--version", backend=False), r"^thctl \d+\.\d+\.\d+$")

    def test_help_for_an_unknown_command_is_refused(self):
        self.refuses(2, "unknown command 'enqeue' (did you mean 'enqueue'?)", "help", "enqeue")


class WrongUsage(Case):
    def test_an_unknown_command_names_the_closest(self):
        self.refuses(2, "unknown command 'enqeue' (did you mean 'enqueue'?)", "enqeue", "x")
        self.refuses(2, "unknown command 'qqqqqq' (see 'thctl help')", "qqqqqq")

    def test_an_unknown_option_names_the_closest(self):
        self.refuses(2, "unknown option '--quue' (did you mean '--queue'?)", "ls", "--quue", "x")
        self.refuses(2, "unknown option '--jsn' (did you mean '--json'?)", "--jsn", "ls")
        self.refuses(2, "unknown option '--bakend' (did you mean '--backend'?)", "ls", "--bakend=x")

    def test_too_few_and_too_many_arguments_say_how_to_get_help(self):
        for arguments in (["show"], ["pause"], ["resume"], ["ls", "x"], ["stats", "x"],
                          ["queues", "x"], ["migrate", "x"], ["enqueue", "a", "1", "2"],
                          ["help", "ls", "show"], ["enqueue"], ["pools", "x"], ["top", "x"], ["logs"],
                          ["logs", AN_ID, AN_ID]):
            with self.subTest(arguments):
                self.refuses(2, f"(see 'thctl {arguments[0]} --help')", *arguments)

    def test_what_changes_jobs_needs_ids_or_all(self):
        for command in ("cancel", "run", "retry", "rm"):
            self.refuses(2, "give the ids of jobs, or --all", command)
            self.refuses(2, "exclude each other", command, "--all", AN_ID)
            self.refuses(2, "--type goes with --all", command, "--type", "x", AN_ID)
            self.refuses(2, "--dry-run goes with --all", command, "--dry-run", AN_ID)
        self.refuses(2, "--state goes with --all", "rm", "--state", "done", AN_ID)

    def test_a_value_given_twice_is_refused_and_a_flag_is_not(self):
        self.refuses(2, "--queue is given twice", "ls", "--queue", "a", "--queue", "b")
        self.refuses(2, "--backend is given twice", "--backend", self.backend, "ls", "--backend",
                     self.backend)
        self.enqueue("x")
        self.ok("--json", "ls", "--json")

    def test_values_are_checked_by_their_kind(self):
        for arguments, says in (
                (["ls", "--limit", "0"], "from 1 to 1000000"),
                (["ls", "--limit", "-1"], "from 1 to 1000000"),
                (["ls", "--limit", "1e3"], "from 1 to 1000000"),
                (["ls", "--state", "runing"], "did you mean 'running'?"),
                (["ls", "--queue", "a b"], "is not a name"),
                (["ls", "--type", ""], "is not a name"),
                (["ls", "--after", "123"], "is not the id of a job"),
                (["rm", "--all", "--state", "ready"], "--state cannot be 'ready'"),
                (["cancel", "--all", "--state", "done"], "--state cannot be 'done'"),
                (["run", "--all", "--state", "ready"], "--state cannot be 'ready'"),
                (["retry", "--all", "--state", "retry"], "--state cannot be 'retry'"),
                (["ls", "--limit"], "needs a value"),
                (["ls", "--json=yes"], "takes no value")):
            with self.subTest(arguments):
                self.refuses(2, says, *arguments)

    def test_ids_that_are_no_ids_are_refused_before_anything_is_done(self):
        job = self.enqueue("x")
        for command in ("show", "cancel", "retry", "rm"):
            for wrong in ("123", "", AN_ID + "0", AN_ID.replace("0", "g"),
                          "00000000-0000-0000-0000-000000000000"):
                with self.subTest(command=command, wrong=wrong):
                    self.refuses(2, "is not the id of a job", command, job, wrong)
        self.assertEqual(self.job(job)["state"], "ready")

    def test_what_was_typed_cannot_steer_the_terminal(self):
        for arguments in (["\033[2J"], ["ls", "--\033[2J"], ["show", "\033[2J"],
                          ["pause", "\033[2J\n"], ["enqueue", "\033[2J"],
                          ["enqueue", "x", "--file", "\033[2J\n"]):
            result = self.thctl(*arguments)
            self.assertEqual(result.code, 2, result)
            self.assertNotIn("\033", result.err)
            self.assertEqual(len(result.err.splitlines()), 1, result)


class Backends(Case):
    def test_without_a_backend_the_error_says_what_to_do(self):
        self.refuses(2, "no backend: give --backend sqlite:./jobs.db or set TASKHARBOR_BACKEND",
                     "ls", backend=False)
        self.refuses(2, "no backend", "enqueue", "x", env={"TASKHARBOR_BACKEND": ""}, backend=False)
        self.refuses(2, "no backend", "migrate", backend=False)

    def test_the_option_comes_before_the_environment(self):
        other = "sqlite:" + self.path("other.db")
        self.ok("enqueue", "here", "--backend", other)
        self.assertFalse(os.path.exists(self.database))
        [job] = self.objects("--backend", other, "ls", env={"TASKHARBOR_BACKEND": "nonsense:"})
        self.assertEqual(job["type"], "here")

    def test_a_relative_path_is_relative_to_the_current_folder(self):
        self.ok("--backend", "sqlite:./here.db", "enqueue", "x")
        self.assertTrue(os.path.exists(self.path("here.db")))

    def test_a_malformed_url_is_wrong_usage(self):
        for url in ("", "jobs.db", "nonsense:x", "sqlite:", "mysql://x/y", "sqlite:a?x=%zz"):
            with self.subTest(url):
                self.refuses(2, "", "--backend", url, "ls")
                self.refuses(2, "", "--backend", url, "enqueue", "x")

    def test_looking_commands_do_not_create_a_missing_file(self):
        for arguments in (["ls"], ["show", AN_ID], ["stats"], ["queues"], ["cancel", AN_ID],
                          ["logs", AN_ID], ["logs", "-f", AN_ID], ["pools"],
                          ["retry", AN_ID], ["rm", AN_ID], ["rm", "--all", "--yes"],
                          ["retry", "--all", "--yes"]):
            with self.subTest(arguments):
                self.refuses(69, "jobs.db", *arguments)
                self.assertEqual(os.listdir(self.folder), [])

    def test_a_file_is_named_as_a_person_would(self):
        for path in ("none.db", "./none.db", "././none.db"):
            self.refuses(69, "thctl: sqlite: ./none.db: no database", "--backend", f"sqlite:{path}", "ls")

    def test_enqueue_pause_with_create_and_migrate_create_it(self):
        for arguments in (["enqueue", "x"], ["pause", "q", "--create"], ["migrate"]):
            with self.subTest(arguments):
                self.ok("--backend", f"sqlite:./{arguments[0]}.db", *arguments)
                self.assertTrue(os.path.exists(self.path(arguments[0] + ".db")))

    def test_a_folder_that_does_not_exist_is_unreachable(self):
        for arguments in (["ls"], ["enqueue", "x"], ["migrate"]):
            self.refuses(69, "nowhere", "--backend", "sqlite:./nowhere/jobs.db", *arguments)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_folder_is_no_database(self):
        for arguments in (["ls"], ["enqueue", "x"]):
            self.refuses(69, self.folder, "--backend", "sqlite:" + self.folder, *arguments)

    def test_a_file_that_is_no_database_is_left_alone(self):
        content = b"these are my notes, not a database\n" * 100
        self.write("jobs.db", content)
        for arguments in (["ls"], ["enqueue", "x"], ["migrate"], ["stats"], ["pause", "q"]):
            self.refuses(69, "not a SQLite database", *arguments)
        with open(self.database, "rb") as file:
            self.assertEqual(file.read(), content)

    def test_a_database_of_another_program_is_left_alone(self):
        self.sql("CREATE TABLE mine (x)")
        for arguments in (["ls"], ["enqueue", "x"], ["migrate"]):
            self.refuses(1, "another program", *arguments)
        self.assertEqual(self.sql("SELECT name FROM sqlite_schema"), [("mine",)])

    def test_a_schema_of_the_future_is_refused(self):
        self.enqueue("x")
        self.sql("UPDATE meta SET usable_from = 999, version = 999")
        for arguments in (["ls"], ["enqueue", "x"], ["migrate"], ["stats"]):
            self.refuses(1, "version 999", *arguments)
        self.assertEqual(self.sql("SELECT count(*) FROM job"), [(1,)])

    def test_a_folder_one_may_not_write_is_unreachable(self):
        self.enqueue("x")
        before = self.sql("SELECT count(*) FROM job")
        # Root may write everywhere, so it becomes somebody else, who may not look into the build.
        stranger = {"user": "nobody", "group": "nogroup"} if os.getuid() == 0 else {}
        self.program = shutil.copy(THCTL, self.path("thctl"))
        os.chmod(self.database, 0o444)
        os.chmod(self.folder, 0o555)
        self.addCleanup(os.chmod, self.folder, 0o755)
        self.refuses(69, "jobs.db", "enqueue", "x", **stranger)
        self.refuses(69, "new.db: cannot be opened: Permission denied", "--backend",
                     "sqlite:./new.db", "enqueue", "x", **stranger)
        os.chmod(self.folder, 0o755)
        self.assertEqual(self.sql("SELECT count(*) FROM job"), before)

    def test_a_store_that_another_program_holds_is_unreachable(self):
        self.enqueue("x")
        connection = sqlite3.connect(self.database, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        self.refuses(69, "another program holds the database", "enqueue", "x")
        self.assertEqual(len(self.jobs()), 1)
        connection.close()
        self.enqueue("x")

    def test_passwords_do_not_show(self):
        for url in ("postgres://me:sesame@localhost:1/db", "redis://:sesame@localhost:1/0",
                    "nonsense://me:sesame@host/db?password=sesame"):
            for arguments in (["ls"], ["enqueue", "x"], ["migrate"]):
                result = self.thctl("--backend", url, *arguments)
                self.assertIn(result.code, (2, 69), result)
                self.assertNotIn("sesame", result.err)


class Migrate(Case):
    def test_migrate_creates_and_then_has_nothing_to_do(self):
        self.assertEqual(self.ok("migrate"), f"schema is at version {NEWEST} (created)")
        self.assertEqual(self.ok("migrate"), f"schema is at version {NEWEST} (nothing to do)")

    def test_migrate_as_json(self):
        self.assertEqual(self.objects("migrate"),
                         [{"version": NEWEST, "usable_from": 4, "created": True, "from": None}])
        self.assertEqual(self.objects("migrate"),
                         [{"version": NEWEST, "usable_from": 4, "created": False, "from": NEWEST}])

    def test_a_file_of_the_first_version_is_upgraded_with_all_that_it_holds(self):
        schema = os.path.join(os.environ["TH_SOURCE_DIR"], "src/store/sqlite/schema")
        with open(os.path.join(schema, "001_initial.sql"), encoding="utf-8") as first:
            connection = sqlite3.connect(self.database)
            connection.executescript(first.read())
        connection.executescript("INSERT INTO meta VALUES (1, 1); PRAGMA journal_mode = WAL;"
                                 "PRAGMA application_id = 0x54484172;"
                                 "INSERT INTO queue (name, paused_at) VALUES ('old', 1)")
        connection.close()
        self.refuses(1, "run 'thctl migrate'", "stats")
        self.assertEqual(self.ok("migrate"), f"schema is at version {NEWEST} (upgraded from 1)")
        [queue] = self.objects("stats")
        self.assertEqual((queue["queue"], queue["paused"]), ("old", True))

    def test_a_newer_schema_that_we_may_use_stays(self):
        self.ok("migrate")
        self.sql("UPDATE meta SET version = 99")
        self.assertEqual(self.ok("migrate"), "schema is at version 99 (nothing to do)")
        self.enqueue("x")


if __name__ == "__main__":
    unittest.main()

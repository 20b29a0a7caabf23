"""What thd is told: its options, the config that it finds, and --check."""
import os
import re
import subprocess
import unittest
from pathlib import Path

from daemon import THD, DaemonCase
from harness import DEADLINE, Result

SOURCE = Path(os.environ.get("TH_SOURCE_DIR", Path(__file__).parents[2]))
HANDLER = "handlers:\n  x: {command: [\"true\"]}\n"
SECRET = "sesame"
BACKENDS = "(it has sqlite:, memory:, postgres:, postgresql:, redis:, redis+sentinel:)"
URL = f"mysql://me:{SECRET}@host/db"


class ThdCase(DaemonCase):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("etc"))

    def thd(self, *arguments, env=None, folder="."):
        """Runs what ends by itself."""
        done = subprocess.run(
            [THD, *arguments], cwd=self.path(folder), stdin=subprocess.DEVNULL, check=False,
            env=self.environment_with(env, False), capture_output=True, timeout=DEADLINE)
        result = Result(done.returncode, done.stdout.decode(), done.stderr.decode())
        for text in ("Sanitizer", "runtime error", SECRET):
            self.assertNotIn(text, result.out + result.err)
        return result

    def check(self, *arguments, **options):
        """--check of what is fine; returns the line that describes it."""
        result = self.thd("--check", *arguments, **options)
        self.assertEqual((result.code, result.err), (0, ""), result)
        return result.lines[1]

    def refuses(self, code, *lines, arguments=("--check",), text=None, **options):
        """Ends with this code and these lines, and nothing is created."""
        if text is not None:
            self.write("jobs.yaml", text)
        before = sorted(os.listdir(self.folder))
        result = self.thd(*arguments, **options)
        self.assertEqual((result.code, result.out), (code, ""), result)
        self.assertEqual(result.err.splitlines(), list(lines))
        self.assertEqual(sorted(os.listdir(self.folder)), before)


class Options(ThdCase):
    def test_help_names_every_option_and_signal(self):
        for option in ("--help", "-h"):
            result = self.thd(option)
            self.assertEqual((result.code, result.err), (0, ""), result)
            for word in ("--config", "--backend", "--check", "--num-workers", "--once", "--help",
                         "--version", "TERM", "QUIT", "USR1", "TSTP", "78"):
                self.assertIn(word, result.out)
            self.assertLessEqual(max(map(len, result.lines)), 80)

    def test_the_manual_has_every_option_of_help(self):
        page = (SOURCE / "man/thd.8").read_text().replace("\\-", "-")
        for short, name in re.findall(r"(?m)^  (?:-(\w), |    )--([a-z-]+)", self.thd("--help").out):
            written = f"\n.It Fl {short + ' , ' if short else ''}-{name}"
            self.assertIn(written, page)

    def test_version(self):
        result = self.thd("--version")
        self.assertEqual(result.code, 0)
        self.assertRegex(result.out, r"^thd \d+\.\d+\.\d+\n$")

    def test_what_is_typed_wrong_is_refused(self):
        self.write("jobs.yaml", HANDLER)
        for arguments, sentence in (
                (["--confg", "x"], "unknown option '--confg' (did you mean '--config'?)"),
                (["--config"], "--config needs a value: --config F"),
                (["-c"], "-c needs a value: -c F"),
                (["--check=yes"], "--check takes no value"),
                (["jobs.yaml"], "takes no arguments, and 'jobs.yaml' is one"),
                (["-n", "0"], "-n takes a whole number from 1 to 1024"),
                (["--num-workers", "many"], "--num-workers takes a whole number from 1 to 1024"),
                (["--num-workers=1025"], "--num-workers takes a whole number from 1 to 1024"),
                (["-b", URL], f"mysql://me:***@host/db: this build has no backend 'mysql' {BACKENDS}"),
                (["-b", "sqlite:x.db?fast=1"],
                 f"sqlite:{self.path('x.db')}?fast=1: unknown option 'fast'")):
            with self.subTest(arguments):
                self.refuses(2, "thd: " + sentence, "thd: see 'thd --help'", arguments=arguments)

    def test_a_variable_that_names_no_backend_is_refused_without_its_secret(self):
        self.write("jobs.yaml", HANDLER)
        self.refuses(2, f"thd: mysql://me:***@host/db: this build has no backend 'mysql' {BACKENDS}",
                     "thd: see 'thd --help'",
                     env={"TASKHARBOR_BACKEND": URL})

    def test_num_workers_comes_before_the_config(self):
        self.write("jobs.yaml", "pool: {num_workers: 7}\n" + HANDLER)
        self.assertTrue(self.check().startswith("7 workers,"))
        self.assertTrue(self.check("-n", "1").startswith("1 worker,"))
        pool = self.start_pool({"x": {"command": ["true"]}}, arguments=["--num-workers", "3"])
        self.assertEqual(sum(name.startswith("worker") for name in pool.processes()), 3)


class Finding(ThdCase):
    def test_the_config_of_the_current_folder_is_found(self):
        self.write("jobs.yaml", "backend: sqlite:./here.db\n")
        self.assertIn(self.path("here.db"), self.check())

    def test_config_comes_before_the_one_that_would_be_found(self):
        self.write("jobs.yaml", "nonsense\n")
        self.write("etc/mine.yaml", "backend: sqlite:./there.db\n")
        self.assertIn(self.path("etc/there.db"), self.check("-c", "etc/mine.yaml"))

    @unittest.skipIf(os.path.exists("/etc/taskharbor/jobs.yaml"), "this machine has a config")
    def test_without_any_config_it_says_how_to_get_one(self):
        for arguments in ([], ["--check"]):
            self.refuses(78, "thd: no config: give --config jobs.yaml ('thctl init' writes one)",
                         arguments=arguments)

    def test_the_backend_is_the_option_then_the_environment_then_the_config(self):
        self.write("etc/jobs.yaml", "backend: sqlite:./config.db\n")
        env = {"TASKHARBOR_BACKEND": "sqlite:./environment.db"}
        for arguments, variables, path in (
                (["--backend", "sqlite:./option.db"], env, "option.db"),
                ([], env, "environment.db"),
                ([], {"TASKHARBOR_BACKEND": " "}, "etc/config.db"),
                ([], {}, "etc/config.db")):
            with self.subTest(path):
                line = self.check("--config", "etc/jobs.yaml", *arguments, env=variables)
                self.assertTrue(line.endswith(f"sqlite:{self.path(path)} (will be created)"), line)

    def test_thctl_and_thd_mean_the_same_jobs(self):
        self.write("etc/jobs.yaml", "backend: sqlite:./mine.db\n" + HANDLER)
        job = self.ok("-c", "etc/jobs.yaml", "enqueue", "x", backend=False)
        self.assertEqual(self.thd("-c", "etc/jobs.yaml", "--once").code, 0)
        [found] = self.objects("-c", "etc/jobs.yaml", "show", job, backend=False)
        self.assertEqual(found["state"], "done")


class Wrong(ThdCase):
    def test_a_wrong_config_is_named_by_line_and_column(self):
        for text, *lines in (
                ("pool:\n  num_worker: 4\n  lease: 30\npool: {}\n",
                 "jobs.yaml:2:3: unknown key 'num_worker' in 'pool' (did you mean 'num_workers'?)",
                 "jobs.yaml:3:10: pool.lease: '30' is not a duration: write a number and a unit, "
                 "such as 500ms, 10s, 5m, 2h or 7d",
                 "jobs.yaml:4:1: key 'pool' stands here and at jobs.yaml:1:1"),
                ("pool: &x {}\nqueues: *x\n",
                 "jobs.yaml:1:7: anchors are not allowed: '&x'",
                 "jobs.yaml:2:9: aliases are not allowed: write out what '*x' stands for"),
                ("\x7fELF\n",
                 "jobs.yaml:1:1: this is not text (byte 0x7f): a config is YAML in UTF-8"),
                ("backend: ${DB_URL}\n",
                 "jobs.yaml:1:10: 'DB_URL' is not set in the environment (${NAME:-default} gives a "
                 "default)"),
                ("pool: {num_workers: 0}\n",
                 "jobs.yaml:1:21: pool.num_workers: 0 is too small: use 1 to 1024"),
                ("pool: {num_workers: many}\n",
                 "jobs.yaml:1:21: pool.num_workers: 'many' is not a whole number"),
                ("pool: {heartbeat_interval: 30s}\n",
                 "jobs.yaml:1:28: pool.heartbeat_interval (30s) must be shorter than lease (30s)"),
                ("pool: {kill_grace: 6s}\n",
                 "jobs.yaml:1:20: pool.kill_grace (6s) must be at most a sixth of lease (30s)"),
                ("queues: [a]\n", "jobs.yaml:1:9: queues: expected a map, not a list"),
                ("handlers:\n  x: {}\n",
                 "jobs.yaml:2:3: handlers.x: needs one of command, plugin and resident"),
                (f"backend: {URL}\n",
                 f"jobs.yaml: mysql://me:***@host/db: this build has no backend 'mysql' {BACKENDS}"),
                ("backend: 'sqlite:'\n",
                 "jobs.yaml: sqlite:: names no file: write sqlite:./jobs.db")):
            for arguments in ([], ["--check"]):
                with self.subTest(text, arguments=arguments):
                    self.refuses(78, *lines, text=text, arguments=arguments)

    def test_a_config_that_is_not_there(self):
        self.refuses(78, "none.yaml: cannot be opened: No such file or directory",
                     arguments=["--config", "none.yaml"])

    def test_an_alias_bomb_is_refused_at_once(self):
        lines = ["a0: &a0 [x, x]"]
        lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 50)]
        self.write("jobs.yaml", "\n".join(lines) + "\n")
        result = self.thd()
        self.assertEqual(result.code, 78)
        self.assertEqual(len(result.err.splitlines()), 51)

    def test_a_user_who_does_not_exist_keeps_the_pool_from_starting(self):
        self.refuses(78, "jobs.yaml: handler 'x': there is no user nobody-at-all", arguments=[],
                     text="handlers:\n  x: {command: [\"true\"], user: nobody-at-all}\n")


class Check(ThdCase):
    def test_what_is_fine_is_described(self):
        self.write("jobs.yaml", "queues: {a: {}, b: {}}\n" + HANDLER)
        result = self.thd("--check")
        self.assertEqual((result.code, result.out.splitlines()),
                         (0, ["jobs.yaml: ok", f"4 workers, 2 queues, 1 handler, {self.backend} "
                                               "(will be created)"]))
        self.assertEqual(sorted(os.listdir(self.folder)), ["etc", "jobs.yaml"])

    def test_a_backend_that_is_there_is_opened(self):
        self.write("jobs.yaml", HANDLER)
        self.enqueue("x")
        self.assertTrue(self.check().endswith(self.backend))

    def test_all_that_only_a_start_would_show_is_named(self):
        self.write("plain", "no program")
        self.write("jobs.yaml", """
handlers:
  user: {command: ["true"], user: nobody-at-all}
  missing: {command: [./no]}
  file: {command: [./plain]}
  folder: {command: [./etc]}
  path: {command: [no-such-program], env: {PATH: "/nowhere:/bin"}}
  cwd: {command: ["true"], cwd: ./none}
  cwd-file: {command: "true", cwd: ./plain}
  fine: {command: [sh], env: {PATH: "/nowhere:/bin"}}
""")
        self.refuses(78, *(f"jobs.yaml: handler '{handler}': {problem}" for handler, problem in (
            ("user", "there is no user nobody-at-all"),
            ("missing", f"command: {self.path('no')}: No such file or directory"),
            ("file", f"command: {self.path('plain')}: not an executable file"),
            ("folder", f"command: {self.path('etc')}: not an executable file"),
            ("path", "command: no program 'no-such-program' in /nowhere:/bin"),
            ("cwd", f"cwd: {self.path('none')}: No such file or directory"),
            ("cwd-file", f"cwd: {self.path('plain')}: not a folder"))))

    @unittest.skipUnless(os.getuid() == 0, "only root can become somebody else")
    def test_what_a_user_cannot_enter_or_run_is_found(self):
        os.mkdir(self.path("mine"), 0o700)
        os.mkdir(self.path("ours"), 0o755)
        os.chmod(self.folder, 0o755)
        for folder in ("mine", "ours"):
            os.chmod(self.write(f"{folder}/run", "#!/bin/sh\n"), 0o755)
        self.write("jobs.yaml", """
handlers:
  folder: {command: ["true"], cwd: ./mine, user: nobody}
  program: {command: [./mine/run], cwd: ./ours, user: nobody}
  fine: {command: [./ours/run], cwd: ./ours, user: nobody}
  root: {command: [./mine/run], cwd: ./mine}
""")
        self.refuses(78, *(f"jobs.yaml: handler '{handler}': {problem}" for handler, problem in (
            ("folder", f"cwd: user nobody cannot enter {self.path('mine')}: Permission denied"),
            ("program", f"command: {self.path('mine/run')}: user nobody cannot run it"))))

    def test_a_backend_that_does_not_answer_is_69(self):
        self.write("plain", "no database, but long enough to be taken for one\n" * 100)
        for url, problem in (
                ("none/x.db", "none/x.db: cannot be created in {}/none: No such file or directory"),
                ("etc", "etc: cannot be opened: Is a directory"),
                ("plain", "plain: this file is not a SQLite database")):
            with self.subTest(url):
                problem = problem.format(self.folder)
                self.refuses(69, f"jobs.yaml: backend: sqlite: {self.folder}/{problem}",
                             text=f"backend: sqlite:./{url}\n{HANDLER}")
                self.refuses(69, f"thd: backend: sqlite: {self.folder}/{problem}", text=HANDLER,
                             arguments=["--check", "--backend", f"sqlite:{url}"])

    def test_a_wrong_config_weighs_more_than_a_backend_that_is_away(self):
        self.refuses(78, f"jobs.yaml: handler 'x': command: {self.path('no')}: No such file or "
                         "directory",
                     f"jobs.yaml: backend: sqlite: {self.path('none/x.db')}: cannot be created in "
                     f"{self.path('none')}: No such file or directory",
                     text="backend: sqlite:none/x.db\nhandlers:\n  x: {command: [./no]}\n")


if __name__ == "__main__":
    unittest.main()

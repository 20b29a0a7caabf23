"""What thd is told: its options, the config that it finds, and --check."""
import json
import os
import re
import subprocess
import unittest
from pathlib import Path

from daemon import THD, DaemonCase, wait_for
from harness import DEADLINE, Result

SOURCE = Path(os.environ.get("TH_SOURCE_DIR", Path(__file__).parents[2]))
HANDLER = "handlers:\n  x: {command: [\"true\"]}\n"
SECRET = "sesame"
BACKENDS = ("(it has sqlite:, memory:, postgres:, postgresql:, redis:, redis+sentinel:, rediss:, "
            "rediss+sentinel:)")
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
        """Ends with this code and these lines, a check with their number; nothing is created."""
        if text is not None:
            self.write("jobs.yaml", text)
        before = sorted(os.listdir(self.folder))
        result = self.thd(*arguments, **options)
        self.assertEqual((result.code, result.out), (code, ""), result)
        faults = [line for line in lines if not line.startswith("thd: ")]
        if faults and "--check" in arguments:
            path = faults[0].split(":")[0]
            lines = (*lines, f"{path}: {len(faults)} error{'s' if len(faults) > 1 else ''}")
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
        self.write("jobs.yaml", "backend: sqlite:./here.db\n" + HANDLER)
        self.assertIn(self.path("here.db"), self.check())

    def test_config_comes_before_the_one_that_would_be_found(self):
        self.write("jobs.yaml", "nonsense\n")
        self.write("etc/mine.yaml", "backend: sqlite:./there.db\n" + HANDLER)
        self.assertIn(self.path("etc/there.db"), self.check("-c", "etc/mine.yaml"))

    @unittest.skipIf(os.path.exists("/etc/taskharbor/jobs.yaml"), "this machine has a config")
    def test_without_any_config_it_says_how_to_get_one(self):
        for arguments in ([], ["--check"]):
            self.refuses(78, "thd: no config: give --config jobs.yaml ('thctl init' writes one)",
                         arguments=arguments)

    def test_the_most_explicit_backend_counts_and_those_that_differ_are_told(self):
        self.write("etc/jobs.yaml", "backend: sqlite:./config.db\n" + HANDLER)
        self.write("etc/none.yaml", HANDLER)
        self.write("jobs.yaml", "backend: sqlite:./found.db\n" + HANDLER)
        env = {"TASKHARBOR_BACKEND": "sqlite:./environment.db"}
        named, option = ["--config", "etc/jobs.yaml"], ["--backend", "sqlite:./option.db"]
        environment = ("environment.db", "TASKHARBOR_BACKEND")
        for arguments, variables, path, source, *others in (
                (named + option, env, "option.db", "--backend", ("etc/config.db", "etc/jobs.yaml"),
                 environment),
                (named, env, "etc/config.db", "etc/jobs.yaml", environment),
                (["-c", "etc/none.yaml"], env, *environment),
                ([], env, *environment, ("found.db", "jobs.yaml")),
                (named, {"TASKHARBOR_BACKEND": " "}, "etc/config.db", ""),
                (named, {"TASKHARBOR_BACKEND": "sqlite:etc/config.db"}, "etc/config.db", ""),
                (["-b", "memory:"], {"TASKHARBOR_BACKEND": "memory:"}, None, "--backend",
                 ("found.db", "jobs.yaml")),
                (named, {}, "etc/config.db", ""),
                ([], {}, "found.db", "")):
            with self.subTest(arguments=arguments, variables=variables):
                result = self.thd("--check", *arguments, env=variables)
                self.assertEqual(result.code, 0, result)
                if path:
                    self.assertTrue(result.lines[-1].endswith(
                        f"sqlite:{self.path(path)} (will be created)"), result)
                self.assertEqual(result.err.count("\n"), bool(others), result)
                if others:
                    self.assertRegex(result.err, f"^thd: the backend is .* of {source}, not ")
                    self.assertTrue(result.err.endswith(", not " + ", ".join(
                        f"sqlite:{self.path(other)} of {whose}" for other, whose in others) + "\n"))

    def test_the_log_says_at_the_start_which_backend_was_taken(self):
        self.configure({"x": {"command": "true"}}, backend="sqlite:./mine.db")
        for given, said in ((self.backend, 1), ("sqlite:mine.db", 0)):
            pool = self.start(env={"TASKHARBOR_BACKEND": given}, backend=False).wait_ready()
            events = pool.events("backend_chosen")
            self.assertEqual(len(events), said, events)
            for event in events:
                self.assertEqual((event["level"], event["backend"], event["not_used"]), (
                    "warning", f"sqlite:{self.path('mine.db')}",
                    f"{self.backend} of TASKHARBOR_BACKEND"))
            pool.stop()

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
                 "jobs.yaml:4:1: key 'pool' is here and at jobs.yaml:1:1"),
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
                 f"jobs.yaml:1:10: backend: mysql://me:***@host/db: this build has no backend 'mysql' "
                 f"{BACKENDS}"),
                ("backend: 'sqlite:'\n",
                 "jobs.yaml:1:10: backend: sqlite:: names no file: write sqlite:./jobs.db"),
                ("queues: [a]\nbackend: 'sqlite:'\nworkers: 4\n",
                 "jobs.yaml:1:9: queues: expected a map, not a list",
                 "jobs.yaml:2:10: backend: sqlite:: names no file: write sqlite:./jobs.db",
                 "jobs.yaml:3:1: unknown key 'workers'")):
            for arguments in ([], ["--check"]):
                with self.subTest(text, arguments=arguments):
                    self.refuses(78, *lines, text=text if "handlers" in text else text + HANDLER,
                                 arguments=arguments)

    def test_a_wrong_backend_that_nobody_uses_is_not_told(self):
        text = f"backend: {URL}\nqueues: [a]\n{HANDLER}"
        line = "jobs.yaml:2:9: queues: expected a map, not a list"
        self.refuses(78, line, text=text, arguments=["--backend", "memory:"])
        self.refuses(78, line, text=text, arguments=[], env={"TASKHARBOR_BACKEND": "memory:"})

    def test_a_config_without_handlers_is_refused(self):
        line = ("jobs.yaml: there are no handlers, so no job could run: add one under 'handlers:', "
                "such as hello: {command: cat}")
        for arguments in ([], ["--check"], ["--once"]):
            self.refuses(78, line, text="queues: {a: {}}\n", arguments=arguments)

    def test_where_the_log_is_json_so_is_what_is_wrong_with_a_config(self):
        for text, faults in (
                ("pool: {lease: 3}\nqueue: {}\n" + HANDLER, [(1, 15), (2, 1)]),
                (f"backend: {URL}\nqueue: {{}}\n" + HANDLER, [(1, 10), (2, 1)]),
                ("", [(None, None)]),
                ("handlers:\n  x: {command: x, user: nobody-at-all}\n", [(None, None)])):
            with self.subTest(text):
                self.write("jobs.yaml", text + "log: {format: json}\n")
                result = self.thd()
                self.assertEqual((result.code, result.out), (78, ""))
                events = [json.loads(line) for line in result.err.splitlines()]
                self.assertEqual({event["event"] for event in events}, {"config_rejected"})
                self.assertEqual([(event.get("line"), event.get("column")) for event in events[:-1]],
                                 faults)
                self.assertEqual({event["file"] for event in events[:-1]}, {"jobs.yaml"})
                self.assertEqual(events[-1]["hint"], "nothing was started")
                self.assertTrue(self.thd("--check").err.startswith("jobs.yaml:"), "for people")

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
        self.refuses(78, *(f"jobs.yaml:{place}: handlers.{problem}" for place, problem in (
            ("3:35", "user.user: there is no user nobody-at-all"),
            ("4:22", f"missing.command: {self.path('no')}: No such file or directory"),
            ("5:19", f"file.command: {self.path('plain')}: not an executable file"),
            ("6:21", f"folder.command: {self.path('etc')}: not an executable file"),
            ("7:19", "path.command: there is no program 'no-such-program' in /nowhere:/bin"),
            ("8:33", f"cwd.cwd: {self.path('none')}: No such file or directory"),
            ("9:36", f"cwd-file.cwd: {self.path('plain')}: not a folder"))))

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
        self.refuses(
            78, f"jobs.yaml:3:36: handlers.folder.cwd: user nobody cannot enter {self.path('mine')}: "
                "Permission denied",
            f"jobs.yaml:4:22: handlers.program.command: {self.path('mine/run')}: user nobody cannot "
            "run it")

    def test_a_backend_that_does_not_answer_is_69(self):
        self.write("plain", "no database, but long enough to be taken for one\n" * 100)
        for url, problem in (
                ("none/x.db", "none/x.db: cannot be created in {}/none: No such file or directory"),
                ("etc", "etc: cannot be opened: Is a directory"),
                ("plain", "plain: this file is not a SQLite database")):
            with self.subTest(url):
                problem = problem.format(self.folder)
                self.refuses(69, f"jobs.yaml:1:10: backend: sqlite: {self.folder}/{problem}",
                             text=f"backend: sqlite:./{url}\n{HANDLER}")
                self.refuses(69, f"thd: backend of --backend: sqlite: {self.folder}/{problem}",
                             text=HANDLER,
                             arguments=["--check", "--backend", f"sqlite:{url}"])

    def test_a_wrong_config_weighs_more_than_a_backend_that_is_away(self):
        self.refuses(78, f"jobs.yaml:1:10: backend: sqlite: {self.path('none/x.db')}: cannot be "
                         f"created in {self.path('none')}: No such file or directory",
                     f"jobs.yaml:3:16: handlers.x.command: {self.path('no')}: No such file or "
                     "directory",
                     text="backend: sqlite:none/x.db\nhandlers:\n  x: {command: [./no]}\n")


class Findings(ThdCase):
    """What may work, but hardly as it was meant: warnings, or errors with --strict."""

    def finds(self, text, *findings):
        """These findings, as (place, sentence), in both ways."""
        self.write("jobs.yaml", text)
        count = f"{len(findings)} {{}}{'s' if len(findings) != 1 else ''}"
        result = self.thd("--check")
        self.assertEqual((result.code, result.err.splitlines()), (
            0, [f"jobs.yaml:{place}: warning: {text}" for place, text in findings]))
        self.assertEqual(result.lines[0], "jobs.yaml: ok" + (
            ", with " + count.format("warning") if findings else ""))
        result = self.thd("--check", "--strict")
        if not findings:
            self.assertEqual((result.code, result.err), (0, ""))
            return
        self.assertEqual((result.code, result.out), (78, ""))
        self.assertEqual(result.err.splitlines(), [
            *(f"jobs.yaml:{place}: {text}" for place, text in findings),
            "jobs.yaml: " + count.format("error")])

    def executable(self, name, text):
        os.chmod(self.write(name, text), 0o755)

    def test_a_program_that_the_shell_would_not_find(self):
        self.executable("here.sh", "#!/bin/sh\n")
        self.finds("""handlers:
  missing: {command: ./nothere.sh --now}
  path: {command: "nosuchprogram | cat", env: {PATH: "/nowhere:/bin"}}
  exec: {command: exec nosuchprogram}
  here: {command: ./here.sh --now}
  own: {command: "cd /nowhere && nosuchprogram"}
  quoted: {command: "'no such program' $1"}
  set: {command: "A=1 nosuchprogram"}
""", ("2:22", f"handlers.missing.command: {self.path('nothere.sh')}: No such file or directory"),
                   ("3:19", "handlers.path.command: there is no program 'nosuchprogram' in "
                            "/nowhere:/bin"),
                   ("4:19", "handlers.exec.command: there is no program 'nosuchprogram' in "
                            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"))

    def test_a_script_that_an_interpreter_would_not_find(self):
        self.write("etc/here.py", "")
        self.finds("""handlers:
  list: {command: [python3, missing.py]}
  option: {command: [sh, -x, lib/missing.sh]}
  text: {command: "python3 -u missing.py | cat"}
  env: {command: [/usr/bin/env, perl, missing.pl]}
  cwd: {command: [python3, here.py], cwd: etc}
  code: {command: [python3, -c, missing.py]}
  module: {command: [python3, -m, missing]}
  value: {command: [sh, -o, errexit, -c, "true"]}
  other: {command: [cat, missing.py]}
""", *((place, f"handlers.{name}.command: there is no {self.path(script)} for {program} to run "
                       "(relative files start at cwd)")
                     for place, name, script, program in (
                         ("2:19", "list", "missing.py", "python3"),
                         ("3:21", "option", "lib/missing.sh", "sh"),
                         ("4:19", "text", "missing.py", "python3"),
                         ("5:18", "env", "missing.pl", "perl"))))

    def test_an_interpreter_that_a_script_asks_for(self):
        self.executable("missing", "#!/nowhere/python\n")
        self.executable("windows", "#!/bin/sh\r\n")
        self.executable("env", "#! /usr/bin/env nosuchprogram\n")
        self.executable("fine", "#!/usr/bin/env sh\n")
        self.finds("""handlers:
  missing: {command: [./missing]}
  windows: {command: ./windows}
  env: {command: [./env], env: {PATH: /bin}}
  fine: {command: [./fine]}
""", ("2:22", f"handlers.missing.command: {self.path('missing')}: its first line asks for "
                            "/nowhere/python: No such file or directory"),
                   ("3:22", f"handlers.windows.command: {self.path('windows')}: its first line ends "
                            "in a carriage return: save it with Unix line ends"),
                   ("4:18", f"handlers.env.command: {self.path('env')}: its first line asks for "
                            "nosuchprogram, which is not in /bin"))

    def test_a_resident_that_does_not_come_as_far_as_to_read(self):
        self.write("crash.py", "import sys\nsys.exit('Error: no config')\n")
        self.write("fine.py", "import sys\nopen('started', 'a').write('x')\n"
                              "for line in sys.stdin:\n    raise SystemExit('not a job')\n")
        self.finds("""handlers:
  crash: {resident: [python3, crash.py]}
  short: {resident: "true"}
  killed: {resident: "kill -KILL $$"}
  fine: {resident: [python3, fine.py]}
  shared: {resident: [python3, fine.py]}
  deaf: {resident: "exec sleep 1000"}
""", ("2:21", "handlers.crash.resident: it ended with exit code 1 before it read a job: Error: no "
                            "config"),
                   ("3:21", "handlers.short.resident: it ended before it read a job: a resident "
                            "stays and reads line by line"),
                   ("4:22", "handlers.killed.resident: it was killed by SIGKILL before it read a "
                            "job"))
        with open(self.path("started"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "xx", "it is tried once a check, however many share it")

    def test_jobs_that_nobody_would_run(self):
        lost = "here or in a live pool of its queue: its jobs would wait for one"
        unserved = "neither this config nor a live pool: its jobs would wait"
        text = """queues: {default: {}, mail: {}, far: {remote: true}}
handlers:
  alert: {command: cat}
  x: {command: cat, on_dead: {type: alrt}}
  y: {command: cat, on_dead: {type: alert, queue: none}}
  z: {command: cat, on_dead: {type: theirs, queue: far}}
cron:
  type: {schedule: "@daily", type: report}
  queue: {schedule: "@daily", type: x, queue: mial}
  off: {schedule: "@daily", type: report, enabled: false}
  fine: {schedule: "@daily", type: x, queue: mail}
"""
        dead = ("5:51", f"handlers.y.on_dead.queue: nobody serves 'none', {unserved}")
        self.finds(text, ("4:37", f"handlers.x.on_dead.type: no handler is for 'alrt', {lost} (did "
                                  "you mean 'alert'?)"), dead,
                   ("8:36", f"cron.type.type: no handler is for 'report', {lost}"),
                   ("9:47", f"cron.queue.queue: nobody serves 'mial', {unserved} (did you mean "
                            "'mail'?)"))
        other = self.configure({"alr*": {"command": "true"}, "report": {"command": "true"},
                                "x": {"command": "true"}}, name="other.yaml",
                               queues={"default": {}, "mial": {}})
        self.start(other).wait_ready()
        self.wait_for_pool()
        self.finds(text, dead)

    def wait_for_pool(self):
        """Until a pool has said what it serves."""
        wait_for(lambda: any(pool.get("queues") for pool in self.objects("pools")),
                 lambda: "no pool tells of its queues")

    def test_sections_that_do_nothing_yet(self):
        self.finds(HANDLER + "faktory:\n  allow_flush: true\n",
                   ("3:1", "faktory: this section does nothing yet: thd does not speak Faktory's "
                           "protocol"))

    def test_doors_that_open_less_than_they_seem_to(self):
        for name in ("token", "reader"):
            os.chmod(self.write(name, name), 0o600)
        self.finds(HANDLER + "http:\n  listen: 0.0.0.0:7460\n  token_file: token\n",
                   ("4:11", "http.listen: only this machine has a name for it: list under http.hosts by which names "
                            "others reach it"))
        self.finds(HANDLER + "http:\n  read_token_file: reader\n",
                   ("4:20", "http.read_token_file: nobody may change anything over HTTP: there is no token_file"))
        self.finds(HANDLER + "http: {listen: '[::]:7460', token_file: token, hosts: [jobs.example.org]}\n")

    def test_a_config_that_init_wrote_has_none(self):
        self.ok("init", backend=False)
        result = self.thd("--check", "--strict")
        self.assertEqual((result.code, result.err), (0, ""), result)

    def test_errors_and_warnings_are_counted_apart(self):
        self.write("jobs.yaml", "handlers:\n  a: {command: [./no]}\n  b: {command: ./no}\n")
        self.assertEqual(self.thd("--check").err.splitlines()[-1], "jobs.yaml: 1 error, 1 warning")
        self.assertEqual(self.thd("--check", "--strict").err.splitlines()[-1], "jobs.yaml: 2 errors")

    def test_strict_goes_with_check(self):
        self.write("jobs.yaml", HANDLER)
        self.refuses(2, "thd: --strict goes with --check", "thd: see 'thd --help'",
                     arguments=["--strict"])


if __name__ == "__main__":
    unittest.main()

"""--config, the files that are found without it, and `thctl init`."""
import os
import stat
import subprocess
import unittest

from harness import THCTL, Case

HANDLER = "handlers:\n  x: {command: [\"true\"]}\n"


class Config(Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("etc"))

    def config(self, text, name="jobs.yaml"):
        return self.write(name, text)

    def stored(self, *arguments, **options):
        return len(self.objects(*arguments, "ls", backend=False, **options))


class Finding(Config):
    def test_config_names_the_backend(self):
        self.config("backend: sqlite:./mine.db\n", "etc/jobs.yaml")
        self.ok("--config", "etc/jobs.yaml", "enqueue", "x", backend=False)
        self.ok("enqueue", "x", "-c", self.path("etc/jobs.yaml"), backend=False)
        self.assertTrue(os.path.exists(self.path("etc/mine.db")))
        self.assertFalse(os.path.exists(self.path("mine.db")))
        self.assertEqual(self.stored("--config", "etc/jobs.yaml"), 2)

    def test_the_config_of_the_current_folder_is_found(self):
        self.config("backend: sqlite:./here.db\n")
        self.ok("enqueue", "x", backend=False)
        self.assertTrue(os.path.exists(self.path("here.db")))

    def test_config_comes_before_the_one_that_would_be_found(self):
        self.config("backend: sqlite:./here.db\n")
        self.config("backend: sqlite:./there.db\n", "etc/jobs.yaml")
        self.ok("--config", "etc/jobs.yaml", "enqueue", "x", backend=False)
        self.assertEqual(os.path.exists(self.path("here.db")), False)
        self.assertTrue(os.path.exists(self.path("etc/there.db")))

    def test_a_config_without_a_backend_has_the_default_one(self):
        self.config("", "etc/jobs.yaml")
        self.ok("--config", "etc/jobs.yaml", "enqueue", "x", backend=False)
        self.assertTrue(os.path.exists(self.path("etc/jobs.db")))

    def test_the_most_explicit_backend_counts(self):
        config = self.config("backend: sqlite:./config.db\n", "etc/jobs.yaml")
        self.config("", "etc/none.yaml")
        self.config("backend: sqlite:./found.db\n")
        env = {"TASKHARBOR_BACKEND": "sqlite:./environment.db"}
        for arguments, variables, path in (
                (["--config", config, "--backend", "sqlite:./option.db"], env, "option.db"),
                (["--config", config], env, "etc/config.db"),
                (["--config", "etc/none.yaml"], env, "environment.db"),
                ([], env, "environment.db"),
                ([], {"TASKHARBOR_BACKEND": ""}, "found.db")):
            with self.subTest(arguments=arguments, variables=variables):
                self.ok(*arguments, "enqueue", "x", env=variables)
                folder, name = os.path.split(path)
                self.assertIn(name, self.databases(folder or "."))
                os.unlink(self.path(path))
        self.assertEqual(self.databases(), [])

    def databases(self, folder="."):
        return [name for name in os.listdir(self.path(folder)) if name.endswith(".db")]

    def test_whoever_types_a_backend_is_not_bothered_by_a_config_that_lies_around(self):
        self.config("this: is somebody else's\n")
        self.ok("--backend", "sqlite:./x.db", "enqueue", "x", backend=False)
        self.assertEqual(self.thctl("ls", backend=False).code, 78)

    def test_an_absolute_path_stays(self):
        self.config(f"backend: sqlite:{self.path('abs.db')}\n", "etc/jobs.yaml")
        self.ok("--config", "etc/jobs.yaml", "enqueue", "x", backend=False)
        self.assertTrue(os.path.exists(self.path("abs.db")))

    def test_the_environment_is_read(self):
        config = self.config("backend: sqlite:./${NAME:-default}.db\n")
        self.ok("enqueue", "x", backend=False, env={"NAME": "mine"})
        self.assertTrue(os.path.exists(self.path("mine.db")))
        self.ok("--config", config, "enqueue", "x", backend=False)
        self.assertTrue(os.path.exists(self.path("default.db")))

    def test_without_a_config_the_error_names_all_ways(self):
        result = self.refuses(2, "no backend", "ls", backend=False)
        for word in ("--backend", "TASKHARBOR_BACKEND", "--config", "thctl init"):
            self.assertIn(word, result.err)

    def test_help_needs_no_config(self):
        self.config("nonsense\n")
        self.ok("help", backend=False)
        self.ok("ls", "--help", backend=False)

    def test_the_next_page_has_the_config_too(self):
        self.config("", "etc/jobs.yaml")
        for _ in range(2):
            self.ok("-c", "etc/jobs.yaml", "enqueue", "x", backend=False)
        result = self.thctl("-c", "etc/jobs.yaml", "ls", "-n", "1", backend=False)
        self.assertIn("more: thctl --config etc/jobs.yaml ls", result.err)


class Applying(Config):
    def test_max_payload_applies_to_enqueue(self):
        self.config("max_payload: 10\n")
        self.ok("enqueue", "x", '"12345678"', backend=False)
        self.refuses(2, "longer than 10 bytes", "enqueue", "x", '"123456789"',
                     backend=False)
        self.refuses(2, "", "enqueue", "x", "-", stdin='"123456789"', backend=False)
        result = self.thctl("enqueue", "--bulk", "-", backend=False,
                            stdin='{"type":"x","payload":"123456789"}\n')
        self.assertEqual(result.code, 2, result)
        self.assertEqual(self.stored(), 1)

    def test_max_payload_may_be_larger_than_the_default(self):
        self.config("max_payload: 4M\n")
        payload = '"' + "x" * 3000000 + '"'
        self.ok("enqueue", "x", "-", stdin=payload, backend=False)
        self.ok("enqueue", "--bulk", "-", "--quiet", backend=False,
                stdin='{"type":"x","payload":' + payload + '}\n')
        self.assertEqual(self.stored(), 2)

    def test_idempotency_window_applies_to_enqueue(self):
        self.config("idempotency_window: 0\n")
        first = self.ok("enqueue", "x", "-i", "once", backend=False)
        second = self.ok("enqueue", "x", "-i", "once", backend=False)
        self.assertNotEqual(first, second)
        self.config("idempotency_window: 1h\n")
        third = self.ok("enqueue", "x", "-i", "twice", backend=False)
        self.assertEqual(self.ok("enqueue", "x", "-i", "twice", backend=False), third)


class Wrong(Config):
    def wrong(self, *lines, text=None, arguments=("ls",), **options):
        """78, these lines and nothing else; no command may touch the backend."""
        if text is not None:
            self.config(text)
        result = self.thctl(*arguments, backend=False, **options)
        self.assertEqual(result.code, 78, result)
        self.assertEqual(result.err.splitlines(), list(lines))
        self.assertEqual(result.out, "")
        self.assertFalse(os.path.exists(self.database))

    def test_all_errors_are_shown_at_once_and_it_exits_78(self):
        for arguments in (["ls"], ["enqueue", "x"], ["migrate"], ["--json", "stats"]):
            self.wrong(
                "jobs.yaml:2:3: unknown key 'num_worker' in 'pool' (did you mean 'num_workers'?)",
                "jobs.yaml:3:10: pool.lease: '30' is not a duration: write a number and a unit, such"
                " as 500ms, 10s, 5m, 2h or 7d",
                "jobs.yaml:4:1: key 'pool' is here and at jobs.yaml:1:1",
                text="pool:\n  num_worker: 4\n  lease: 30\npool: {}\n", arguments=arguments)

    def test_a_missing_file(self):
        self.wrong("none.yaml: cannot be opened: No such file or directory",
                   arguments=("--config", "none.yaml", "ls"))

    def test_a_missing_variable(self):
        self.wrong("jobs.yaml:1:10: 'DB_URL' is not set in the environment (${NAME:-default} gives a"
                   " default)", text="backend: ${DB_URL}\n")

    def test_binary_junk(self):
        with open(THCTL, "rb") as program:
            junk = program.read(100000)
        self.wrong("jobs.yaml:1:1: this is not text (byte 0x7f): a config is YAML in UTF-8",
                   text=junk)

    def test_a_backend_that_nobody_knows(self):
        self.config("backend: nonsense:x\n")
        result = self.thctl("ls", backend=False)
        self.assertEqual(result.code, 78, result)
        self.assertTrue(result.err.startswith("jobs.yaml:1:10: backend: nonsense:x: "), result)

    def test_a_wrong_backend_is_told_with_all_else_where_it_counts(self):
        queues = "jobs.yaml:2:9: queues: expected a map, not a list"
        text = "backend: 'sqlite:'\nqueues: [a]\n"
        self.wrong("jobs.yaml:1:10: backend: sqlite:: names no file: write sqlite:./jobs.db", queues,
                   text=text)
        self.wrong(queues, text=text, env={"TASKHARBOR_BACKEND": "sqlite:./other.db"})
        self.wrong(queues, text=text,
                   arguments=("--config", "jobs.yaml", "--backend", "sqlite:./other.db", "ls"))

    def test_passwords_do_not_show(self):
        for text in ("backend: [postgres://me:sesame@host/db]\n",
                     "backend: postgres://me:sesame@host/db?x\n",
                     "pool: {lease: 3}\nbackend: nonsense://me:sesame@host/db\n",
                     "backend: 'nonsense://me:sesame@host/db'\n"):
            self.config(text)
            result = self.thctl("ls", backend=False)
            self.assertEqual(result.code, 78, result)
            self.assertNotIn("sesame", result.err)
            code, screen = self.on_terminal("ls", env={"TASKHARBOR_BACKEND": None})
            self.assertEqual(code, 78)
            self.assertNotIn("sesame", screen)

    def test_people_see_the_line_and_a_caret(self):
        self.config("pool:\n  num_worker: 4\n")
        code, screen = self.on_terminal("ls", env={"TASKHARBOR_BACKEND": None})
        self.assertEqual(code, 78)
        self.assertEqual(screen, "jobs.yaml:2:3: unknown key 'num_worker' in 'pool' (did you mean "
                                 "'num_workers'?)\n    2 |   num_worker: 4\n      |   ^\n")

    def test_at_most_fifty_are_shown(self):
        self.config("".join(f"key{number}: 1\n" for number in range(1000)))
        result = self.thctl("ls", backend=False)
        lines = result.err.splitlines()
        self.assertEqual(len(lines), 51)
        self.assertEqual(lines[-1], "and 950 more errors")


class Init(Config):
    def test_init_writes_a_config_that_works_and_says_what_to_type_next(self):
        out = self.ok("init", backend=False)
        self.assertEqual(out.splitlines()[0], "wrote jobs.yaml")
        [command] = [line[7:] for line in out.splitlines() if line.startswith("next:  ")]
        self.assertTrue(command.startswith("thctl "), command)
        self.assertEqual(out.splitlines()[-1], "then:  thd --config jobs.yaml")
        environment = dict(self.environment, PATH=os.path.dirname(os.path.abspath(THCTL)) + ":"
                           + self.environment["PATH"])
        subprocess.run(["sh", "-c", command], cwd=self.folder, env=environment, check=True,
                       stdout=subprocess.DEVNULL)
        [job] = self.objects("ls", backend=False)
        self.assertEqual((job["type"], job["payload"]), ("hello", {"name": "Ada"}))
        self.assertTrue(os.path.exists(self.database))

    def test_init_names_the_file_it_was_given(self):
        out = self.ok("init", "etc/my jobs.yaml", backend=False)
        self.assertIn("thctl --config 'etc/my jobs.yaml' enqueue", out)
        self.assertEqual(out.splitlines()[-1], "then:  thd --config 'etc/my jobs.yaml'")
        self.ok("--config", "etc/my jobs.yaml", "migrate", backend=False)
        self.assertEqual(self.objects("init", "other.yaml", backend=False),
                         [{"path": "other.yaml", "backend": "sqlite:./jobs.db"}])

    def test_init_does_not_overwrite(self):
        self.config("mine\n")
        self.refuses(1, "jobs.yaml is there already", "init", backend=False)
        with open(self.path("jobs.yaml"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine\n")
        os.symlink("nowhere", self.path("link.yaml"))
        self.refuses(1, "link.yaml is there already", "init", "link.yaml", backend=False)

    def test_init_is_for_the_backend_asked_for(self):
        for url in ("sqlite:./a b's $x.db", "sqlite:/tmp/x.db?synchronous=normal", "memory:",
                    "postgres://jobs@db/jobs", "redis://host:6379/0", "sqlite:#x"):
            with self.subTest(url):
                for arguments in ([], ["--all"]):
                    name = f"{len(os.listdir(self.folder))}.yaml"
                    self.ok("--backend", url, "init", name, *arguments, backend=False)
                    result = self.thctl("--config", name, "ls", backend=False)
                    self.assertNotIn(f"{name}:", result.err)

    def test_a_path_with_a_dollar_comes_back_as_it_was(self):
        self.ok("--backend", "sqlite:./a b's ${x}.db", "init", backend=False)
        self.ok("enqueue", "x", backend=False)
        self.assertTrue(os.path.exists(self.path("a b's ${x}.db")))

    def test_a_config_with_a_password_is_for_its_owner_only(self):
        result = self.ok("--json", "--backend", "redis://:sesame@host/0", "init", backend=False)
        self.assertNotIn("sesame", result)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("jobs.yaml")).st_mode), 0o600)

    def test_init_refuses_what_is_no_url(self):
        self.refuses(2, "backend URL", "--backend", "jobs.db", "init", backend=False)
        self.assertFalse(os.path.exists(self.path("jobs.yaml")))

    def test_init_says_when_it_cannot_write(self):
        self.refuses(1, "nowhere/jobs.yaml", "init", "nowhere/jobs.yaml", backend=False)

    def test_the_reference_config_is_what_the_tables_give(self):
        self.ok("init", "--all", backend=False)
        reference = os.path.join(os.environ["TH_SOURCE_DIR"], "conf", "jobs.yaml")
        with open(self.path("jobs.yaml"), encoding="utf-8") as made, \
                open(reference, encoding="utf-8") as kept:
            self.assertEqual(kept.read(), made.read(),
                             "make it anew: thctl init --all conf/jobs.yaml")
        self.ok("migrate", backend=False)

    def test_the_reference_config_is_right_when_all_of_it_counts(self):
        self.ok("init", "--all", "all.yaml", backend=False)
        with open(self.path("all.yaml"), encoding="utf-8") as file:
            head, body = file.read().split("\n\n", 1)
        lines = [line.replace("# ", "", 1) if line.lstrip().startswith("# ") else line
                 for line in body.splitlines()
                 if not line.lstrip().startswith(("# plugin:", "# resident:"))]
        self.assertTrue(head.startswith("# jobs.yaml"))
        self.config("\n".join(lines) + "\n")
        self.ok("migrate", backend=False)


if __name__ == "__main__":
    unittest.main()

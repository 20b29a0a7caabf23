#!/usr/bin/python3
"""
test_library.py - libtaskharbor as a user meets it: installed, found by pkg-config, linked.

Needs TH_BUILD_DIR and TH_SOURCE_DIR; TH_SANITIZE is set when the build is sanitized, because a
program that links a sanitized library has to be sanitized itself.
"""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILD = Path(os.environ["TH_BUILD_DIR"])
SOURCE = Path(os.environ["TH_SOURCE_DIR"])
EXAMPLE = SOURCE / "tests/fixtures/client_example.c"
PLUGINS = [SOURCE / "examples/thumbnail.c", SOURCE / "examples/audit.c"]
SANITIZE = ["-fsanitize=address,undefined"] if os.environ.get("TH_SANITIZE") else []
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"

USES_EVERY_INITIALISER = """
#include <taskharbor/client.h>
#include <taskharbor/version.h>
struct th_new_job job = TH_NEW_JOB("email:send");
struct th_options options = TH_OPTIONS;
struct th_filter filter = TH_FILTER;
struct th_receipt receipt;
struct th_failure failure;
const char *version = TH_VERSION;
"""

IS_A_PLUGIN = """
#include <taskharbor/client.h>
#include <taskharbor/plugin.h>
static enum th_outcome handle(const struct th_job *job, struct th_context *ctx)
{
    th_error(ctx, "%s", job->id);
    th_log(ctx, "%d", job->attempt);
    th_progress(ctx, 1, NULL);
    th_result(ctx, job->payload, job->payload_size);
    th_snooze(ctx, 0.5);
    return th_cancelled(ctx) ? th_next(ctx, job) : TH_DONE;
}
TH_PLUGIN_WITH("name", NULL, NULL, handle, {"a", handle}, {"b:*", handle})
"""


def shown_in(page, mark):
    """An example as the manual page shows it."""
    text = (SOURCE / "man" / page).read_text()
    shown = re.search(rf"\.\\\" {mark} begins\n\.Bd[^\n]*\n(.*?)\.Ed\n", text, re.DOTALL).group(1)
    text = re.sub(r"^\\&", "", shown, flags=re.MULTILINE).replace("\\-", "-")
    return text.replace("\\e", "\\")


def run(*command, **options):
    """Runs a command and gives back its output; a failure shows all of it."""
    done = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


class InstalledLibrary(unittest.TestCase):
    """What `cmake --install` puts into an empty prefix."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="th-library-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        installed = cls.folder / "first"
        run("cmake", "--install", BUILD, "--prefix", installed)
        # Moved, so that nothing may remember where it was installed.
        cls.prefix = installed.rename(cls.folder / "moved here")
        cls.pkgconfig = next(cls.prefix.rglob("taskharbor.pc")).parent
        cls.library = next(cls.prefix.rglob("libtaskharbor.so"))

    def pkg_config(self, *asked):
        found = dict(os.environ, PKG_CONFIG_PATH=str(self.pkgconfig))
        words = run("pkg-config", *asked, "taskharbor", env=found)
        # As make and a shell see it: a space in a path arrives escaped.
        return [word.replace("\\ ", " ") for word in re.split(r"(?<!\\)\s+", words.strip())]

    def compile_text(self, compiler, language, standard, text):
        source = self.folder / f"alone.{language}"
        source.write_text(text)
        run(compiler, f"-std={standard}", *STRICT, *self.pkg_config("--cflags"), "-c", source,
            "-o", self.folder / "alone.o")

    def build_example(self):
        program = self.folder / "client_example"
        run("cc", "-std=c99", *STRICT, *SANITIZE, EXAMPLE, *self.pkg_config("--cflags", "--libs"),
            "-o", program)
        return program

    def run_example(self, *arguments, **environment):
        found = dict(os.environ, LD_LIBRARY_PATH=str(self.library.parent), **environment)
        return run(self.build_example(), *arguments, env=found, cwd=self.folder, timeout=60)

    def test_the_headers_are_exactly_the_public_ones(self):
        headers = sorted(path.name for path in (self.prefix / "include/taskharbor").iterdir())
        self.assertEqual(headers, ["client.h", "error.h", "plugin.h", "version.h"])

    def test_the_header_compiles_alone_as_c_and_as_cpp(self):
        languages = [("cc", "c", "c99"), ("cc", "c", "c11"), ("cc", "c", "c17")]
        if shutil.which("c++"):
            languages += [("c++", "cc", "c++11"), ("c++", "cc", "c++17")]
        for compiler, language, standard in languages:
            with self.subTest(standard):
                self.compile_text(compiler, language, standard, USES_EVERY_INITIALISER)
                self.compile_text(compiler, language, standard, IS_A_PLUGIN)

    def test_only_public_functions_are_exported(self):
        lines = run("nm", "-D", "--defined-only", self.library).splitlines()
        names = {line.split()[-1].split("@")[0] for line in lines if " A " not in line}
        self.assertEqual({name for name in names if not name.startswith("th_")}, set())
        header = (SOURCE / "include/taskharbor/client.h").read_text()
        declared = set(re.findall(r"^TH_API[^;(]*?\b(th_\w+)\(", header, re.MULTILINE))
        self.assertGreater(len(declared), 15)
        self.assertEqual(names, declared)

    def test_the_example_of_the_readme_stores_a_job(self):
        shown = re.search(r"```c\n(.*?)```", (SOURCE / "README.md").read_text(), re.DOTALL).group(1)
        header, body = shown.split("\n", 1)
        source = self.folder / "readme.c"
        source.write_text(f"#include <stdio.h>\n{header}\nint main(void)\n{{{body}}}\n")
        program = self.folder / "readme"
        run("cc", *STRICT, *SANITIZE, source, *self.pkg_config("--cflags", "--libs"), "-o", program)
        found = dict(os.environ, LD_LIBRARY_PATH=str(self.library.parent))
        self.assertEqual(run(program, env=found, cwd=self.folder, timeout=60), "")
        self.assertTrue((self.folder / "jobs.db").exists())

    def test_bash_finds_the_completion_of_thctl(self):
        path = self.prefix / "share/bash-completion/completions/thctl"
        self.assertIn("complete -o default -F _thctl thctl\n", path.read_text())

    def test_the_soname_carries_the_abi_version(self):
        self.assertIn("[libtaskharbor.so.0]", run("readelf", "-d", self.library))
        self.assertTrue((self.library.parent / "libtaskharbor.so.0").exists())

    def test_pkg_config_follows_the_prefix_and_knows_the_version(self):
        (include,) = self.pkg_config("--cflags")
        self.assertEqual(os.path.normpath(include[len("-I"):]), str(self.prefix / "include"))
        version = re.search(r'TH_VERSION +"(.*)"',
                            (self.prefix / "include/taskharbor/version.h").read_text()).group(1)
        self.assertEqual(self.pkg_config("--modversion"), [version])

    def test_the_example_enqueues_lists_waits_and_cancels(self):
        database = self.folder / "first.db"
        lines = self.run_example(f"sqlite:{database}").splitlines()
        self.assertRegex(lines[0], f"^{UUID} scheduled$")
        self.assertRegex(lines[1], f"^{UUID} report:build, 19 bytes$")
        self.assertRegex(lines[2], f"^{UUID} thumbnail, 5 bytes$")
        self.assertEqual(lines[3:], [
            'email:send: scheduled, attempt 1, payload {"to":"ada@example.org"}',
            "not yet: scheduled",
            "ended: cancelled",
            "queue default: 2 ready, 0 cancelled",
            "queue mail: 0 ready, 1 cancelled",
        ])
        self.assertTrue(database.exists())

    def test_the_environment_names_the_backend_when_the_program_does_not(self):
        self.run_example(TASKHARBOR_BACKEND=f"sqlite:{self.folder}/second.db")
        self.assertTrue((self.folder / "second.db").exists())

    def test_a_plugin_needs_the_header_and_nothing_to_link(self):
        for source in PLUGINS:
            plugin = self.folder / f"lib{source.stem}.so"
            run("cc", "-std=c11", *STRICT, *self.pkg_config("--cflags"), "-shared", "-fPIC",
                "-Wl,--no-undefined", source, "-o", plugin)
            exported = run("nm", "-D", "--defined-only", plugin).split()
            self.assertEqual([name for name in exported if name.startswith("th_")], ["th_plugin"])

    def test_the_manuals_show_the_examples_as_they_are(self):
        for page, mark, source in (("taskharbor-client.3", "example", EXAMPLE),
                                   ("taskharbor-plugin.3", "example", PLUGINS[0]),
                                   ("taskharbor-plugin.3", "middleware", PLUGINS[1])):
            with self.subTest(source.name):
                self.assertEqual(shown_in(page, mark), source.read_text())

    def test_every_function_is_in_the_manual(self):
        header = (SOURCE / "include/taskharbor/client.h").read_text()
        page = (SOURCE / "man/taskharbor-client.3").read_text()
        for name in re.findall(r"^TH_API[^;(]*?\b(th_\w+)\(", header, re.MULTILINE):
            with self.subTest(name):
                self.assertRegex(page, rf'\.Fo {name}\n|\.Fn {name}\b')

    def test_everything_a_plugin_may_use_is_in_the_manual(self):
        header = (SOURCE / "include/taskharbor/plugin.h").read_text()
        page = (SOURCE / "man/taskharbor-plugin.3").read_text()
        functions = re.findall(r"^static inline [^;(]*?\b(th_\w+)\(", header, re.MULTILINE)
        self.assertEqual(len(functions), 7)
        for name in functions + ["TH_PLUGIN", "TH_PLUGIN_WITH", "TH_MIDDLEWARE"]:
            self.assertRegex(page, rf'\.Fn {name} ')
        members = re.search(r"struct th_job {(.*?)};", header, re.DOTALL).group(1)
        for name in re.findall(r"(\w+);", members) + re.findall(r"(TH_\w+) = \d", header):
            self.assertRegex(page, rf'\b{name}\b')

    def test_the_manual_of_thctl_has_its_commands_and_options_and_no_others(self):
        thctl = self.prefix / "bin/thctl"
        page = (SOURCE / "man/thctl.1").read_text().replace("\\-", "-")
        commands = re.findall(r"^  (\w+)  ", run(thctl, "help"), re.MULTILINE)
        self.assertGreater(len(commands), 10)
        described = re.findall(r"^\.(?:It )?Cm (\w+)", page.split(".Sh TIMES")[0], re.MULTILINE)
        self.assertLessEqual(set(commands), set(described))
        helps = [run(thctl, "help", command) for command in commands]
        options = re.findall(r"^  (?:-\w, |    )--([\w-]+)", "\n".join(helps), re.MULTILINE)
        described = re.findall(r"\bFl (?:\w , )?-([\w-]+)", page)
        self.assertEqual(set(options), set(described) - {"name"})

    def test_the_manual_pages_are_installed(self):
        for page in ("man1/thctl.1", "man3/taskharbor-client.3", "man3/taskharbor-plugin.3",
                     "man5/jobs.yaml.5", "man8/thd.8"):
            self.assertTrue((self.prefix / "share/man" / page).exists(), page)

    def test_the_service_is_installed_and_starts_thd(self):
        unit = (self.prefix / "lib/systemd/system/taskharbor.service").read_text()
        self.assertIn("\nStateDirectoryMode=0700\n", unit)
        self.assertIn("\nUMask=0077\n", unit)
        self.assertRegex(unit, r"(?m)^ExecStart=/\S+/bin/thd --config /etc/taskharbor/jobs\.yaml$")
        self.assertTrue((self.prefix / "bin/thd").exists())
        self.assertTrue((self.prefix / "lib/sysusers.d/taskharbor.conf").exists())


if __name__ == "__main__":
    unittest.main()

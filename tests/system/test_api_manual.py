"""
test_api_manual.py - taskharbor-http(7): each endpoint is there, and its example does what the page shows.
"""
import os
import pathlib
import re
import subprocess
import unittest

from api import ApiCase

PAGE = pathlib.Path(os.environ["TH_SOURCE_DIR"]) / "man/taskharbor-http.7"
TOKEN = "a-token-of-the-manual"
NIGHTLY = {"nightly": {"schedule": "0 3 * * *", "type": "noop"}}


def plain(text):
    """Literal text as a reader sees it."""
    return text.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")


def examples():
    """Commands and what they print: "$ " begins one, a backslash at the end continues it, "..." is anything."""
    for block in re.findall(r"\.Bd -literal.*?\n(\$ curl.*?)\.Ed", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        for part in re.split(r"^\$ ", plain(block), flags=re.MULTILINE)[1:]:
            command, printed = re.fullmatch(r"((?:[^\n]*\\\n)*[^\n]*\n)(.*)", part, re.DOTALL).groups()
            yield command.strip(), printed


def without_space(text):
    return re.sub(r"\s", "", text)


class ManualTest(ApiCase):
    @staticmethod
    def shown_command(command, address):
        """What somebody would type, but for its end: streams have none."""
        return command.replace("127.0.0.1:7460", address).replace("curl -N", "curl -N --max-time 2")

    def test_every_endpoint_is_there(self):
        described = set(re.findall(r'^\.It Li "?([A-Z]+ /[^\s"]*)', PAGE.read_text(encoding="utf-8"), re.MULTILINE))
        document = self.serve().document.content
        promised = {f"{method.upper()} {path}" for path, operations in document["paths"].items()
                    for method in operations}
        self.assertEqual(sorted(promised - described), [])
        self.assertEqual(sorted(described - promised), [])

    def test_every_example_does_what_it_shows(self):
        os.chmod(self.write("token", TOKEN), 0o600)
        self.write(".curlrc", f'header = "Authorization: Bearer {TOKEN}"\nsilent\nshow-error\n')
        address = self.serve(http={"token_file": "token"}, token=TOKEN, cron=NIGHTLY).address
        self.ok("pause", "old", "--create")
        environment = {**self.environment, "id": self.enqueue("noop", "--run-at", "+1h")}
        shown = list(examples())
        self.assertGreater(len(shown), 5)
        for command, printed in shown:
            run = subprocess.run(["sh", "-c", self.shown_command(command, address)], cwd=self.folder,
                                 env=environment, capture_output=True, text=True, check=False)
            wanted = re.escape(without_space(printed)).replace(re.escape("..."), ".*")
            self.assertRegex(without_space(run.stdout), f"^{wanted}$", f"{command}\n{run.stderr}")


if __name__ == "__main__":
    unittest.main()

"""
test_api_openapi.py - the OpenAPI document, and what it says of every path alike.
"""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import unittest

import jsonschema

from api import AN_ID, ApiCase
from daemon import go_on, wait_for

SOURCE = os.environ.get("TH_SOURCE_DIR", os.path.join(os.path.dirname(__file__), "..", ".."))
TOKENS = {"token": "may-all", "read_token": "may-look"}


def streams(operation):
    """Whether its answer has no end."""
    return "text/event-stream" in operation["responses"].get("200", {}).get("content", {})


class DocumentTest(ApiCase):
    def test_it_is_whole(self):
        document = self.serve().document
        content = document.content
        self.assertEqual(content["openapi"], "3.1.0")
        for schema in content["components"]["schemas"].values():
            jsonschema.Draft202012Validator.check_schema(schema)
        self.refer(document, content)
        names = [operation["operationId"] for _, _, operation in document.operations()]
        self.assertEqual(sorted(set(names)), sorted(names))

    def refer(self, document, part):
        """Every reference leads somewhere."""
        if isinstance(part, dict) and "$ref" in part:
            self.assertTrue(document.resolve(part))
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else []:
            self.refer(document, inner)

    def test_it_obeys_the_rules_of_redocly(self):
        if not shutil.which("npm"):
            self.skipTest("npm is not installed")
        path = self.write("openapi.json", json.dumps(self.serve().document.content, indent=1))
        lint = subprocess.run([os.path.join(SOURCE, "scripts", "openapi-lint"), path], capture_output=True, text=True,
                              check=False)
        if "npm ERR! network" in lint.stderr or "npm error network" in lint.stderr:
            self.skipTest("the registry of npm is out of reach")
        self.assertEqual(lint.returncode, 0, lint.stdout + lint.stderr)


def go_on(pid):
    """What was stopped for so long that the master has killed it needs no more."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


class EveryPathTest(ApiCase):
    """What is refused before a path is asked is refused by each of them."""

    def setUp(self):
        super().setUp()
        for name, token in TOKENS.items():
            os.chmod(self.write(name, token), 0o600)
        api = self.serve(http={f"{name}_file": self.path(name) for name in TOKENS}, token=TOKENS["token"])
        self.operations = list(api.document.operations())

    def refused_by(self, status, body=False, **headers):
        """Each that may answer so does, with these headers."""
        for method, path, operation in self.operations:
            refusal = operation["responses"].get(str(status), {})
            if "$ref" not in refusal and status != 429:
                continue
            content = b"{}" if body else None
            self.assert_problem(self.api.call(method, path, content, headers), status)

    def test_a_parameter_that_there_is_not(self):
        for method, path, operation in self.operations:
            answer = self.api.call(method, f"{path}?no_such_parameter=1", self.api.document.body(operation))
            self.assert_problem(answer, 400, "invalid")
            self.assertIn("no_such_parameter", [place["field"] for place in answer.json.get("errors", [answer.json])])

    def test_no_token(self):
        self.refused_by(401, Authorization=None)

    def test_a_page_of_another_site(self):
        for method, path, _ in self.operations:
            if method != "GET":
                self.assert_problem(self.api.call(method, path, headers={"Sec-Fetch-Site": "cross-site"}), 403)

    def test_a_body_without_end(self):
        self.refused_by(413, body=True, **{"Content-Length": str(1 << 40), "Expect": "100-continue"})

    def test_a_body_that_is_no_json(self):
        self.refused_by(415, body=True, **{"Content-Type": "text/plain"})

    def test_a_name_that_is_not_ours(self):
        self.refused_by(421, Host="evil.example")

    def test_too_many_guesses(self):
        for method, path, operation in self.operations:
            if "429" not in operation["responses"] or not operation["security"]:
                continue
            wrong = {"Authorization": "Bearer a-guess"}
            wait_for(lambda: 429 in {self.api.call(method, path, headers=wrong).status for _ in range(12)},
                     "twelve guesses within a second")

    def test_nobody_behind_the_door(self):
        """The processes with the store are stopped, and the master, which would replace them: whoever needs them says so,
        all at once."""
        for pid in (self.pool.pid, self.pool.pid_of("gate"), self.pool.pid_of("browse")):
            os.kill(pid, signal.SIGSTOP)
            self.addCleanup(go_on, pid)
        self.answers = {}
        threads = [threading.Thread(target=self.ask, args=operation) for operation in self.operations]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for (method, path), status in self.answers.items():
            self.assertNotEqual(status, 500, (method, path))
        self.assertEqual(self.answers["GET", "/ready"], 503)
        self.assertEqual(self.answers["GET", f"/api/jobs/{AN_ID}/events"], 503)
        self.assertEqual(self.answers["GET", "/health"], 200)

    def ask(self, method, path, operation):
        if streams(operation):
            self.ask_for_stream(path)
            return
        body = self.api.document.body(operation)
        if path == "/api/bulk":
            body["filter"] = {}  # or ids, of which the document can say no more
        self.answers[method, path] = self.api.call(method, path, body).status

    def ask_for_stream(self, path):
        """Only how it begins."""
        response = self.api.stream(path)
        response.connection.close()
        response.close()
        self.answers["GET", path] = response.status


if __name__ == "__main__":
    unittest.main()

"""
handlers.X.schema: a payload that does not fit is dead at once.
"""
import json
import os
import subprocess
import unittest

from daemon import THD, DaemonCase

SCHEMA = {
    "type": "object",
    "required": ["to"],
    "properties": {
        "to": {"type": "string", "pattern": "^[^@ ]+@[^@ ]+$"},
        "items": {"items": {"required": ["price"], "properties": {"price": {"minimum": 0}}}},
    },
}


class Schema(DaemonCase):

    def setUp(self):
        super().setUp()
        self.write("mail.json", json.dumps(SCHEMA))
        self.script("send", 'cat >>sent; echo >>sent')
        self.script("alert", 'cat >>alerts; echo >>alerts')

    def read(self, name):
        try:
            with open(self.path(name), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def handlers(self, schema="./mail.json"):
        return {"mail": {"command": ["./send"], "schema": schema, "on_dead": {"type": "alert"}},
                "alert": {"command": ["./alert"]},
                "other": {"command": ["./send"]}}

    def assert_invalid(self, job, fault):
        self.assertEqual(job["state"], "dead")
        self.assertEqual(job["reason"], "invalid_payload")
        self.assertEqual(job["attempts"], 0)
        self.assertEqual(job["last_error"], "payload does not fit the schema: " + fault)

    def test_a_payload_that_does_not_fit_is_dead_at_once_and_its_handler_never_ran(self):
        pool = self.start_pool(self.handlers())
        job = self.run_job("mail", '{"to": 5}', state="dead")
        self.assert_invalid(job, "/to: is not a string")
        self.assertEqual(job.get("runs", []), [])
        pool.wait_event("job_done", type="alert")
        self.assertEqual(pool.events("config_ignored"), [])
        self.assertEqual(pool.stop(), 0)

        self.assertEqual(self.read("sent"), "")
        self.assertEqual(json.loads(self.read("alerts")),
                         [job["id"], {"to": 5}, job["last_error"]])

    def test_one_that_fits_arrives_as_it_was_written(self):
        self.start_pool(self.handlers())
        payload = '{"to": "a@b", "items": [{"price": 12345678901234567890123456789.50}]}'
        self.run_job("mail", payload)
        self.assertEqual(self.read("sent").strip(), payload)

    def test_every_kind_of_payload_is_checked(self):
        self.start_pool(self.handlers())
        for arguments, fault in [
                (["mail", "[]"], "is not an object"),
                (["mail"], "is not an object"),
                (["mail", '{"to": "nobody"}'], "/to: does not match '^[^@ ]+@[^@ ]+$'"),
                (["mail", '{"to": "a@b", "items": [{"price": 1}, {}]}'],
                 "/items/1: 'price' is missing"),
                (["mail", '{"to": "a@b", "items": [{"price": -1e-400}]}'],
                 "/items/0/price: is less than 0"),
                (["mail", '{"to": "a@b", "to": "c@d"}'], "the name 'to' appears twice")]:
            self.assert_invalid(self.run_job(*arguments, state="dead"), fault)
        self.run_job("other", '{"to": 5}')

    def test_bytes_that_are_no_json_fit_no_schema(self):
        self.start_pool(self.handlers())
        self.write("raw", b"\xff\x00")
        job = self.run_job("mail", "--raw", "--file", "raw", state="dead")
        self.assert_invalid(job, "not JSON: line 1, column 1: expected a value")

    def test_a_dead_one_runs_after_the_schema_was_changed(self):
        pool = self.start_pool(self.handlers())
        job = self.run_job("mail", '{"to": 5}', state="dead")
        self.assertEqual(pool.stop(), 0)
        self.write("mail.json", "true")
        self.start_pool()
        self.ok("retry", job["id"])
        self.wait_state(job["id"], "done")
        self.assertEqual(self.read("sent").strip(), '{"to": 5}')

    def thd(self, *arguments):
        done = subprocess.run(
            [THD, "--config", self.path("jobs.yaml"), *arguments], cwd=self.folder,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60,
            env=self.environment_with(None, True))
        self.assertNotIn("Sanitizer", done.stderr)
        return done

    def test_a_schema_that_does_not_load_is_an_error_of_the_config(self):
        for name, text, fault in [
                ("absent.json", None, "No such file or directory"),
                ("half.json", '{"type":', "not JSON: line 1, column 9: expected a value"),
                ("typo.json", '{"properties": {"to": {"patern": "a"}}}',
                 "/properties/to/patern: unknown keyword 'patern' (did you mean 'pattern'?)")]:
            if text is not None:
                self.write(name, text)
            self.configure(self.handlers("./" + name))
            for arguments in (["--check"], []):
                done = self.thd(*arguments)
                self.assertEqual(done.returncode, 78, done)
                self.assertIn("handlers.mail.schema: " if arguments else "handler 'mail': schema: ",
                              done.stderr)
                self.assertIn(name, done.stderr)
                self.assertIn(fault, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 2, done.stderr)
        self.assertFalse(os.path.exists(self.path("alerts")))


if __name__ == "__main__":
    unittest.main()

"""The workers of examples/http, each in its language, against a real thd."""
import os
import shutil
import signal
import subprocess
import unittest

from daemon import wait_for
from running import RunningCase

FOLDER = os.path.join(os.environ.get("TH_SOURCE_DIR", ""), "examples", "http")
TOKEN = "a-token-that-nobody-guesses"
PATIENCE = 60


class Examples(RunningCase):

    def setUp(self):
        super().setUp()
        self.write("token", TOKEN)
        os.chmod(self.path("token"), 0o600)
        self.configure({}, queues={"default": {"remote": True}}, defaults={"retry": {"base_delay": "1h"}},
                       http={"listen": "127.0.0.1:0", "token_file": "./token"})
        self.pool = self.start().wait_ready()
        self.address = self.pool.wait_event("listening", door="http")["address"]

    def start_worker(self, name):
        environment = {**self.environment, "TASKHARBOR_URL": f"http://{self.address}", "TASKHARBOR_TOKEN": TOKEN}
        with open(self.path("worker.log"), "wb") as log:
            worker = subprocess.Popen([os.path.join(FOLDER, name)], cwd=self.folder, env=environment,
                                      stdout=log, stderr=log)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        return worker

    def ended(self, job_id, state):
        def look():
            job = self.job(job_id)
            return job if job["state"] == state else None
        return wait_for(look, lambda: f"{state}: {self.job(job_id)}\n{self.read('worker.log')}", PATIENCE)

    def works(self, name, interpreter):
        self.assertIsNotNone(shutil.which(interpreter), f"scripts/setup installs {interpreter}")
        worker = self.start_worker(name)
        good = self.enqueue("hello", '{"name": "Ada"}')
        bad = self.enqueue("hello", "[1]")
        other = self.enqueue("other")
        job = self.ended(good, "done")
        self.assertEqual(job["result"], {"greeting": "hello Ada"})
        self.assertTrue(job["pool"].startswith("http."), job["pool"])
        self.assertTrue(self.ended(bad, "retry")["last_error"])
        self.assertEqual(self.job(other)["state"], "ready")
        worker.send_signal(signal.SIGTERM)
        self.enqueue("hello", '{"name": "the last one"}')  # ends the long poll
        wait_for(lambda: worker.poll() is not None, lambda: f"the end of the worker\n{self.read('worker.log')}", PATIENCE)

    def test_python(self):
        self.works("worker.py", "python3")

    def test_node(self):
        self.works("worker.js", "node")

    def test_ruby(self):
        self.works("worker.rb", "ruby")

    def test_shell(self):
        self.works("worker.sh", "jq")


if __name__ == "__main__":
    unittest.main()

"""
test_api_seen.py - whether the tests of the API have seen all that its OpenAPI document promises.

It runs after them (tests/CMakeLists.txt), and reads what api.py wrote down for each.
"""
import os
import unittest

from api import SEEN, ApiCase
from harness import BACKEND

TESTS = os.environ.get("TH_API_TESTS", "").split()


class SeenTest(ApiCase):
    def seen(self):
        lines = set()
        for name in os.listdir(SEEN):
            with open(os.path.join(SEEN, name), encoding="utf-8") as file:
                lines.update(file.read().splitlines())
        return lines

    def test_all_that_is_promised_was_seen(self):
        missing = [name for name in TESTS if not os.path.exists(f"{SEEN}/test_{name}.{BACKEND}")]
        if not SEEN or missing:
            self.skipTest(f"these have to run before: {' '.join(missing)}")
        api = self.serve()
        promised = {f"{method.upper()} {template} {status}"
                    for template, operations in api.document.content["paths"].items()
                    for method, operation in operations.items() for status in operation["responses"]}
        self.assertEqual(sorted(promised - self.seen()), [])


if __name__ == "__main__":
    unittest.main()

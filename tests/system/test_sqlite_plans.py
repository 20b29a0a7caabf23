"""
How SQLite carries out the driver's statements: by an index, whatever else is stored. A plan tells that
of a file of any size, and on a machine of any speed.
"""
import glob
import os
import re
import sqlite3
import unittest

STORE = os.path.join(os.environ["TH_SOURCE_DIR"], "src/store/sqlite")

# What grows with the number of jobs. Queues and pools are few, and so is what runs.
LARGE = {"ready", "waiting", "ended", "job", "detail", "run", "keyed", "idempotency", "tag"}

# Statements that sort or go through something large, and why they may.
MAY_SORT = {
    "held": "what runs is few",
    "list_running_up": "what runs is few",
    "list_running_down": "what runs is few",
    "list_queue_up": "only of queues that have few jobs",
    "list_queue_down": "only of queues that have few jobs",
    "failures": "a page, after its limit",
    "promote_count": "a batch, after its limit",
    "runs": "at most ten of one job",
}


def statements():
    with open(os.path.join(STORE, "statements.sql")) as file:
        for part in file.read().split("-- name: ")[1:]:
            name, text = part.split("\n", 1)
            yield name.strip(), re.sub(r"^--.*\n", "", text, flags=re.MULTILINE)


class Plans(unittest.TestCase):
    def setUp(self):
        self.database = sqlite3.connect(":memory:")
        self.addCleanup(self.database.close)
        for path in sorted(glob.glob(os.path.join(STORE, "schema/*.sql"))):
            with open(path) as file:
                self.database.executescript(file.read())

    def plan(self, text):
        numbers = [int(number) for number in re.findall(r"\?(\d+)", text)]
        count = max(numbers) if numbers else text.count("?")
        return [row[3] for row in self.database.execute("EXPLAIN QUERY PLAN " + text, [1] * count)]

    def steps(self, pattern):
        for name, text in statements():
            if re.match(r"(BEGIN|COMMIT|ROLLBACK)", text):
                continue
            for step in self.plan(text):
                if re.search(pattern, step):
                    yield name, step

    def alias_of(self, name, table):
        text = dict(statements())[name]
        found = re.search(rf"(?:FROM|JOIN) (\w+) (?:AS )?{table}\b", text)
        return found.group(1) if found else table

    def test_nothing_goes_through_all_jobs(self):
        for name, step in self.steps(r"^SCAN \w+"):
            table = self.alias_of(name, re.match(r"SCAN (\w+)", step).group(1))
            self.assertNotIn(table, LARGE, f"{name}: {step}")

    def test_nothing_sorts_what_is_many(self):
        for name, step in self.steps(r"USE TEMP B-TREE"):
            self.assertIn(name, MAY_SORT, f"{name}: {step}")

    def test_the_streams_of_a_list_are_read_from_the_place_where_they_go_on(self):
        streams = {"ready": 2, "waiting": 1, "waiting_queue": 2, "ended": 2, "id": 0}
        for name, equal in streams.items():
            for way in ("up", "down"):
                [step] = self.plan(dict(statements())[f"list_{name}_{way}"])
                self.assertRegex(step, r"^SEARCH \w+ USING")
                self.assertEqual(step.count("=?"), equal, step)
                self.assertTrue(">" in step and "<" in step, step)


if __name__ == "__main__":
    unittest.main()

"""
test_api_metrics.py - GET /metrics and GET /api/types: they count exactly what was done, whatever dies meanwhile.
"""
import json
import os
import signal
import unittest

from api import Api, ApiCase
from daemon import go_on, wait_for
from harness import only_sqlite
from prometheus import TYPE, Metrics

ATTEMPTS = "taskharbor_attempts_total"
REQUESTS = "taskharbor_http_requests_total"
RESTARTS = "taskharbor_process_restarts_total"


class MetricsCase(ApiCase):
    def metrics(self, api=None):
        answer = (api or self.api).get("/metrics")
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.headers["Content-Type"], TYPE)
        return Metrics(answer.body.decode())

    def wait_attempts(self, job_type, outcome, count):
        wait_for(lambda: self.metrics().get(ATTEMPTS, type=job_type, outcome=outcome) == count,
                 lambda: f"{count} {outcome} of {job_type}")

    def wait_replaced(self, name):
        pid = self.pool.pid_of(name)
        os.kill(pid, signal.SIGKILL)
        self.pool.wait_replaced(name, pid)
        wait_for(lambda: self.api.get("/ready").status == 200, "a pool that is ready")

    def enqueue_many(self, *types):
        lines = "".join(json.dumps({"type": each}) + "\n" for each in types)
        self.ok("enqueue", "--bulk", self.write("many.jsonl", lines))


class MetricsTest(MetricsCase):
    def test_what_was_done_is_counted_exactly_and_outlives_what_counted_it(self):
        self.serve({"noop": {"command": "true"}, "bad": {"command": "false"}}, queues={"default": {}, "slow": {}})
        self.enqueue_many(*["noop"] * 7)
        self.enqueue("bad", "--max-attempts", "1", "--queue", "slow")
        self.wait_attempts("noop", "done", 7)
        self.wait_attempts("bad", "dead", 1)
        before = self.metrics()
        self.assertEqual(before.get("taskharbor_run_seconds_count", type="noop"), 7)
        self.assertEqual(before.get("taskharbor_wait_seconds_count", queue="slow"), 1)
        self.assertEqual(before.get("taskharbor_queue_jobs", queue="default", state="done"), 7)
        self.assertEqual(before.get("taskharbor_queue_jobs", queue="slow", state="dead"), 1)
        self.assertEqual(sum(before.get("taskharbor_workers", state=state)
                             for state in before.labels("taskharbor_workers", "state")), 2)
        for name in ("http", "dispatcher", "heartbeater", "browse"):
            self.wait_replaced(name)
        self.pool.signal(signal.SIGHUP)
        self.pool.wait_event("config_reloaded")
        self.enqueue("noop")
        self.wait_attempts("noop", "done", 8)
        after = self.metrics()
        self.assertEqual(after.get(ATTEMPTS, type="bad", outcome="dead"), 1)
        for name in ("http", "dispatcher", "heartbeater", "browse"):
            self.assertEqual(after.get(RESTARTS, process=name), 1, name)
        for series, value in before.values.items():
            if before.types.get(series[0]) == "counter":
                self.assertGreaterEqual(after.values[series], value, series)

    def test_without_the_store_the_counters_are_served(self):
        self.serve()
        self.enqueue("noop")
        self.wait_attempts("noop", "done", 1)
        pid = self.pool.pid_of("browse")
        os.kill(pid, signal.SIGSTOP)
        self.addCleanup(go_on, pid)
        metrics = self.metrics()
        self.assertEqual(metrics.get(ATTEMPTS, type="noop", outcome="done"), 1)
        self.assertNotIn("taskharbor_queue_jobs", metrics.types)
        go_on(pid)
        wait_for(lambda: "taskharbor_queue_jobs" in self.metrics().types, "the queues")

    def test_pools_are_added_up(self):
        """Two of them, each with another type beside the one that both run."""
        self.serve({"noop": {"command": "true"}, "one": {"command": "true"}, "never": {"command": "true"}},
                   {"pool_id": "one", "heartbeat_interval": "1s"})
        self.configure({"noop": {"command": "true"}, "two:*": {"command": "exit 3"}},
                       {"pool_id": "two", "heartbeat_interval": "1s"}, "two.yaml", http={"listen": "127.0.0.1:0"})
        other = self.start(self.path("two.yaml")).wait_ready()
        self.enqueue_many(*["noop"] * 20, "one")
        self.enqueue("two:x", "--max-attempts", "1")

        def types():
            answer = self.api.get("/api/types")
            self.assertEqual(answer.status, 200, answer)
            return {each["type"]: each for each in answer.json["types"]}
        wait_for(lambda: types().get("noop", {}).get("done") == 20 and "one" in types() and "two:x" in types() and
                 types()["one"]["done"] == 1 and types()["two:x"]["failed"] == 1, types)
        seen = types()
        self.assertEqual(sorted(name.split(".")[0] for name in seen["noop"]["pools"]), ["one", "two"])
        self.assertEqual([name.split(".")[0] for name in seen["two:x"]["pools"]], ["two"])
        self.assertEqual(list(seen), sorted(seen))
        noop = seen["noop"]
        self.assertGreater(noop["run_ms"]["p50"], 0)
        self.assertLessEqual(noop["run_ms"]["p50"], noop["run_ms"]["p95"])
        self.assertLessEqual(noop["wait_ms"]["p95"], noop["wait_ms"]["p99"])
        self.assertGreater(noop["done_per_minute"], 0)
        self.assertEqual(seen["never"]["run_ms"], {"p50": None, "p95": None, "p99": None})
        self.assertEqual(sum(self.metrics(Api(self.address_of(pool))).get(ATTEMPTS, type="noop", outcome="done")
                             for pool in (self.pool, other)), 20)


@only_sqlite("it is the same memory, whatever the store is")
class LabelsTest(MetricsCase):
    def test_more_than_200_types_are_counted_together(self):
        self.serve({"*": {"command": "true"}}, {"num_workers": 4})
        self.enqueue_many(*(f"type-{i}" for i in range(250)))
        wait_for(lambda: sum(value for (name, *labels), value in self.metrics().values.items()
                             if name == ATTEMPTS and ("outcome", "done") in labels) == 250, "250 runs")
        metrics = self.metrics()
        self.assertEqual(len(metrics.labels(ATTEMPTS, "type")), 201)
        self.assertEqual(metrics.get(ATTEMPTS, type="other", outcome="done"), 50)

    def test_more_than_200_queues_are_shown_together(self):
        self.serve({"noop": {"command": "true"}}, queues={"default": {}})
        for queue in ["other", *(f"queue-{i:03}" for i in range(204))]:
            self.enqueue("noop", "--queue", queue)
        metrics = self.metrics()
        self.assertEqual(len(metrics.labels("taskharbor_queue_jobs", "queue")), 201)
        self.assertEqual(metrics.get("taskharbor_queue_jobs", queue="other", state="ready"), 5)

    def test_all_characters_of_a_name_are_fine(self):
        name = "A.z_0:-" * 18 + "xx"
        self.serve({"*": {"command": "true"}}, queues={name[::-1]: {}})
        self.enqueue(name, "--queue", name[::-1])
        self.wait_attempts(name, "done", 1)
        self.assertEqual(self.metrics().get("taskharbor_queue_jobs", queue=name[::-1], state="done"), 1)

    def test_requests_are_counted_by_route_and_status(self):
        self.serve()
        self.metrics()  # after the first answer the client asks for the document
        before = self.metrics()
        for path, method, count in (("/health", "GET", 3), ("/health", "POST", 2), ("/api/nothing%22%0a", "GET", 4)):
            for _ in range(count):
                self.api.call(method, path)
        after = self.metrics()

        def more(series, **labels):
            return after.get(series, **labels) - before.get(series, **labels)
        self.assertEqual(more(REQUESTS, route="/health", status="200"), 3)
        self.assertEqual(more("taskharbor_http_seconds_count", route="/health"), 3)
        self.assertEqual(more(REQUESTS, route="other", status="405"), 2)
        self.assertEqual(more(REQUESTS, route="other", status="404"), 4)
        self.assertEqual(more(REQUESTS, route="/metrics", status="200"), 1)
        self.assert_problem(self.api.get("/metrics?x=1"), 400)


if __name__ == "__main__":
    unittest.main()

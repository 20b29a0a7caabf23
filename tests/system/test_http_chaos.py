"""
Chaos over HTTP: producers and workers that know nothing but the API, beside a normal pool, while the processes of the
doors, the master and the server are killed. Every job that was answered for ends once, under its lease; none is
lost, and no two runs of one meet.

    scripts/chaos http STORE KILLS SEED
"""
import fcntl
import http.client
import itertools
import json
import os
import random
import signal
import threading
import time
import unittest

from chaos_history import boot_time
from daemon import DaemonCase, descendants, is_alive, living_in, title, wait_for
from servers import Postgres, Redis, free_port, servers_folder

STORE = os.environ.get("TH_CHAOS_STORE") or os.environ.get("TH_TEST_BACKEND", "sqlite")  # on a server of its own
KILLS = int(os.environ.get("TH_CHAOS_KILLS", "15"))
SEED = int(os.environ.get("TH_CHAOS_SEED", random.SystemRandom().randrange(1 << 32)))
SERVERS = {"postgres": (Postgres, {}), "redis": (Redis, {"durable": True})}
PATIENCE = 240

PRODUCERS, WORKERS = 4, 8
LEASE = 2  # seconds
MARGIN = 0.3  # before its end a worker lets go of a job whose lease it could not extend
AT_ONCE = 5  # jobs in one request
LONG_RUN, SHORT_RUN = 2.5, 0.02  # seconds
WEIGHTS = {"http": 5, "gate": 5, "browse": 2, "master": 2, "anybody": 2, "server": 2}

# Each run of a job of the normal pool holds the job's lock.
COMMAND = """
exec 9>"locks/$TH_JOB_ID"
flock -n -E 99 9
[ $? -ne 99 ] || echo "$TH_JOB_ID execution $TH_EXECUTION" >>overlaps
sleep 0.02
"""


class Client:
    """Somebody on another machine. Whatever fails is repeated: every call of the API may be."""

    def __init__(self, address, is_over):
        self.address, self.is_over = address, is_over
        self.connection = None

    def once(self, path, body):
        """Status and answer; None where nobody answered."""
        try:
            if not self.connection:
                host, port = self.address.rsplit(":", 1)
                self.connection = http.client.HTTPConnection(host, int(port), timeout=20)
            self.connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            answer = self.connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        except (OSError, http.client.HTTPException, ValueError):
            self.close()
            return None

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def until_answered(self, path, body):
        while True:
            answer = self.once(path, body)
            if answer and answer[0] not in (429, 503):
                return answer
            if self.is_over.is_set():
                return None
            time.sleep(0.02)


class Producer(threading.Thread):

    def __init__(self, case, number):
        super().__init__(name=f"producer {number}")
        self.client = Client(case.address, case.is_over)
        self.chance = random.Random(SEED + number)
        self.number, self.is_told = number, case.is_told
        self.accepted, self.wrong = {}, []

    def wave(self, first):
        return [{"type": "work", "queue": self.chance.choice(("default", "far")), "payload": first + i,
                 "idempotency_key": f"{self.number}-{first + i}"} for i in range(self.chance.randint(1, AT_ONCE))]

    def run(self):
        for first in itertools.count(0, AT_ONCE):
            if self.is_told.is_set():
                return
            self.send(self.wave(first))
            time.sleep(self.chance.uniform(0.01, 0.1))  # the pace of what is asked for, not a wait

    def send(self, jobs):
        answer = self.client.until_answered("/api/jobs", jobs)
        if not answer:
            return
        status, receipts = answer
        if status not in (200, 201):
            self.wrong.append(answer)
            return
        for job, receipt in zip(jobs, receipts):
            self.accepted[receipt["id"]] = job


class Worker(threading.Thread):

    def __init__(self, case, number):
        super().__init__(name=f"worker {number}")
        self.client = Client(case.address, case.is_over)
        self.case, self.number = case, number
        self.wrong, self.settled = [], []

    def run(self):
        wish = {"worker": f"far-{self.number}", "queues": ["far"], "max": 2, "lease": LEASE, "wait": 1}
        while not self.case.is_over.is_set():
            asked_at = boot_time()
            answer = self.client.once("/api/claim", wish)
            if not answer or answer[0] in (204, 429, 503):
                time.sleep(0.02)
            elif answer[0] != 200:
                self.wrong.append(answer)
            else:
                for job in answer[1]["jobs"]:
                    self.work(job, asked_at + LEASE - MARGIN)

    def work(self, job, until):
        """Holds the job's lock for as long as its lease is certain."""
        if boot_time() >= until:
            return
        with open(self.case.path("locks/" + job["id"]), "w", encoding="ascii") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.wrong.append(("two runs of one job", job["id"], job["executions"]))
                return
            if not self.spend(job, until):
                return
        self.complete(job)

    def spend(self, job, until):
        """Whether the work was done while the job was ours."""
        end = boot_time() + (LONG_RUN if job["payload"] % 40 == 0 else SHORT_RUN)
        beat_at = boot_time() + LEASE / 3
        while boot_time() < end:
            if boot_time() >= until:
                return False
            if boot_time() >= beat_at:
                beat_at = boot_time() + LEASE / 3
                answer = self.client.once(f"/api/jobs/{job['id']}/heartbeat", {"lease_token": job["lease_token"]})
                if answer and answer[0] == 200:
                    until = beat_at - LEASE / 3 + LEASE - MARGIN
                elif answer and answer[0] == 409:
                    return False
            time.sleep(0.01)
        return boot_time() < until

    def complete(self, job):
        answer = self.client.until_answered(f"/api/jobs/{job['id']}/complete",
                                            {"lease_token": job["lease_token"], "result": job["payload"]})
        if answer and answer[0] == 200:
            self.settled.append((job["id"], job["lease_token"]))
        elif answer and answer[0] != 409:
            self.wrong.append(answer)


class HttpChaos(DaemonCase):

    def setUp(self):
        super().setUp()
        self.chance = random.Random(SEED)
        self.is_told, self.is_over = threading.Event(), threading.Event()
        self.address = f"127.0.0.1:{free_port()}"
        self.server = None
        if STORE in SERVERS:
            kind, settings = SERVERS[STORE]
            self.server = kind(os.path.join(self.enterContext(servers_folder()), "server"), **settings)
            self.server.start()
            self.addCleanup(self.server.stop)
            self.backend = self.server.url
        os.mkdir(self.path("locks"))
        self.script("run", COMMAND)
        self.configure(
            {"work": {"command": ["./run"]}},
            pool={"num_workers": 2, "lease": f"{LEASE}s", "heartbeat_interval": "500ms", "kill_grace": "100ms",
                  "reaper_interval": "1s", "stale_threshold": "5s"},
            queues={"default": {}, "far": {"remote": True}},
            defaults={"max_attempts": 1000000, "max_stalls": 1000000},
            retention={"done": "30d", "done_max": 10000000},
            http={"listen": self.address}, log={"level": "info", "format": "json"})

    def victim(self, name):
        """Somebody of the pool whom ps shows by that name."""
        if name == "master":
            return self.pool.pid
        pids = descendants(self.pool.pid) or [self.pool.pid]  # it has just begun
        return self.chance.choice([pid for pid in pids if name == "anybody" or title(pid) == f"thd: {name}"] or pids)

    def kill_one(self):
        [name] = self.chance.choices(list(WEIGHTS), list(WEIGHTS.values()))
        if name == "server":
            if self.server:
                self.server.kill()
                self.server.start()
            return
        victim, family = self.victim(name), descendants(self.pool.pid)
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            return
        if victim == self.pool.pid:
            self.pool.process.wait()  # and for whoever still listens at its address
            wait_for(lambda: not any(is_alive(pid) for pid in family), "the end of a pool without its master")
            self.pool = self.start()

    def test_every_job_that_was_answered_for_ends_once_under_its_lease(self):
        print(f"{STORE}, seed {SEED}, {KILLS} kills", flush=True)
        self.pool = self.start().wait_ready()
        producers = [Producer(self, number) for number in range(PRODUCERS)]
        workers = [Worker(self, number) for number in range(WORKERS)]
        threads = producers + workers
        for thread in threads:
            thread.start()
        try:
            for _ in range(KILLS):
                time.sleep(self.chance.uniform(0.05, 0.6))  # the pace of the kills, not a wait
                self.assertIsNone(self.pool.process.poll(), f"it ended by itself:\n{self.pool.log_text()[-4000:]}")
                self.kill_one()
            self.is_told.set()
            for producer in producers:
                producer.join()
            self.wait_for_all()
        finally:
            self.is_told.set()
            self.is_over.set()
            for thread in threads:
                thread.join()
        self.assertEqual([wrong for thread in threads for wrong in thread.wrong], [])
        self.assert_all_is_well(producers, workers)
        self.assertEqual(self.pool.stop(), 0, self.pool.log_text()[-4000:])
        self.assertEqual([title(pid) for pid in living_in(self.folder)], [])

    def wait_for_all(self):
        def look():
            counts = self.objects("stats")
            waiting = ("scheduled", "ready", "blocked", "running", "retry", "dead", "cancelled")
            return counts and all(stats[state] == 0 for stats in counts for state in waiting)
        wait_for(look, lambda: f"the end of all jobs: {self.objects('stats')}\n{self.pool.log_text()[-4000:]}", PATIENCE)

    def assert_all_is_well(self, producers, workers):
        accepted = {job_id: job for producer in producers for job_id, job in producer.accepted.items()}
        jobs = {job["id"]: job for job in self.objects("ls", "--limit", "1000000")}
        settled = [pair for worker in workers for pair in worker.settled]
        far = {job_id for job_id, job in jobs.items() if job["queue"] == "far"}
        print(f"{len(accepted)} jobs, {len(settled)} of them by remote workers", flush=True)
        self.assertEqual(set(accepted) - set(jobs), set(), "jobs were lost")
        self.assertEqual({job["state"] for job in jobs.values()}, {"done"})
        self.assertEqual(len({job["idempotency_key"] for job in jobs.values()}), len(jobs), "stored twice")
        self.assertEqual(len({job_id for job_id, _ in settled}), len(set(settled)), "ended under two leases")
        self.assertEqual({job_id for job_id, _ in settled} - far, set())
        self.assertFalse(os.path.exists(self.path("overlaps")))


if __name__ == "__main__":
    unittest.main()

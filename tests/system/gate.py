"""
gate.py - jobs that run until a test lets them end, and that notice when they are run twice at once.
"""
import os

from daemon import DaemonCase, wait_for

# Leases and everything that follows from them, as short as they may be: a call to the store gets a sixth of a lease, and
# on a busy machine a shorter one is lost now and then, as it should be.
BRISK = {"lease": "3s", "heartbeat_interval": "300ms", "kill_grace": "100ms",
         "reaper_interval": "500ms", "shutdown_timeout": "30s"}

# As long as any process of a run lives it holds the lock: another run of the same job would see it.
HELD = """
exec 9>"locks/$TH_JOB_ID"
flock -n 9 || echo "$TH_JOB_ID execution $TH_EXECUTION" >>overlaps
echo "$TH_JOB_ID $TH_EXECUTION $$" >>starts
until [ -e gate ]; do sleep 0.02; done
echo "$TH_JOB_ID $TH_EXECUTION" >>ends
"""


class GateCase(DaemonCase):
    """A test with the job types `held`, which waits for the gate, and `quick`."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("locks"))
        self.handlers = {"held": {"command": [self.script("held", HELD)]},
                         "quick": {"command": ["/bin/true"]}}

    def brisk_pool(self, env=None, arguments=(), **settings):
        """A pool that is ready, with the job types of this case."""
        return self.start_pool(self.handlers, {**BRISK, **settings}, env=env, arguments=arguments)

    def open_gate(self):
        self.write("gate", "")

    def close_gate(self):
        os.unlink(self.path("gate"))

    def lines(self, name):
        """The lines of a file that jobs write to, in words."""
        try:
            with open(self.path(name), encoding="utf-8") as file:
                return [line.split() for line in file]
        except FileNotFoundError:
            return []

    def starts(self, job_id):
        """The pids of its runs, in their order."""
        return [int(words[2]) for words in self.lines("starts") if words[0] == job_id]

    def wait_start(self, job_id, count=1):
        """Waits until a job has been started so often, and returns the pid of that run."""
        wait_for(lambda: len(self.starts(job_id)) >= count,
                 lambda: f"start {count} of {job_id}:\n" +
                 "\n".join(pool.log_text() for pool in self.pools))
        return self.starts(job_id)[count - 1]

    def held_job(self, *arguments):
        """Enqueues a job and waits until it runs."""
        job_id = self.enqueue("held", *arguments)
        self.wait_start(job_id)
        return job_id

    def assert_untouched(self, job_id):
        """It is done, and nothing ever went wrong with it."""
        job = self.wait_state(job_id, "done")
        self.assertEqual((job["executions"], job["attempts"], job["stalls"]), (1, 0, 0), job)

    def assert_no_overlaps(self):
        self.assertEqual(self.lines("overlaps"), [])

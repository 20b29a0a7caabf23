"""
chaos_faults.py - what can be done to two pools and their store while jobs run.

Each fault is a method; those that last are ended by a thread of their own, so that others happen meanwhile.
The same seed makes the same choices, though not the same world.
"""
import contextlib
import itertools
import os
import signal
import sqlite3
import threading

from chaos_history import boot_time
from daemon import descendants, title

KEYS = 3
STEPS = 0.5, 2, 30, 3600  # seconds
FARTHEST = 7200


def send(pid, number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


class Faults:
    """On any store; `case` is the test with its pools, `chance` its random numbers."""

    weights = {"kill": 60, "stop": 20, "stop_tree": 6, "hold": 6, "keyed": 8}

    def __init__(self, case, lease, clock_steps):
        self.case, self.lease = case, lease
        if clock_steps:
            self.weights = {**self.weights, "set_clock": 4}
        self.chance, self.history = case.random, case.history
        self.lasting = []
        self.numbers = itertools.count(1 << 20, 40)  # payloads of long jobs

    def strike(self):
        names = list(self.weights)
        [name] = self.chance.choices(names, [self.weights[name] for name in names])
        getattr(self, name)()

    def later(self, seconds, action):
        self.lasting.append(threading.Timer(seconds, action))
        self.lasting[-1].start()

    def wait_for_end(self):
        """Until nothing that was done lasts any more."""
        for timer in self.lasting:
            timer.join()

    # ---- processes ----

    def pick(self):
        """A pool that runs, and one process of it: the master, one of its own, or what they run."""
        pool = self.chance.choice(self.case.running)
        return pool, self.chance.choice([pool.pid, *descendants(pool.pid)])

    def kill(self):
        pool, victim = self.pick()
        self.history.note("kill", pids=[victim], title=title(victim), pool=pool.pid)
        send(victim, signal.SIGKILL)
        if victim == pool.pid:
            self.case.replace(pool)

    def stop(self):
        pool, victim = self.pick()
        self.freeze(pool, [victim])

    def stop_tree(self):
        pool = self.chance.choice(self.case.running)
        self.freeze(pool, [pool.pid, *descendants(pool.pid)])

    def freeze(self, pool, victims):
        fault = self.history.note("stop", pids=victims, title=title(victims[0]), pool=pool.pid)
        for pid in victims:
            send(pid, signal.SIGSTOP)
        self.later(self.chance.uniform(0.02, 1.5) * self.lease, lambda: self.thaw(fault))

    def thaw(self, fault):
        for pid in fault["pids"]:
            send(pid, signal.SIGCONT)
        fault["until"] = round(boot_time(), 3)

    # ---- clocks ----

    def set_clock(self):
        """Of the machine with the pools, or of the one with the server: a little, a lease, an hour; and back."""
        name, clock = self.chance.choice(list(self.case.clocks.items()))
        step = self.chance.choice(STEPS) * self.chance.choice((-1, 1))
        if abs(clock.seconds + step) > FARTHEST:
            step = -step
        self.history.note("clock", whose=name, step=step)
        clock.set(clock.seconds + step)

    def set_clocks_ahead(self):
        """What was put off by a clock that was ahead is due then."""
        for name, clock in self.case.clocks.items():
            if any(fault["fault"] == "clock" for fault in self.history.faults):
                self.history.note("clock", whose=name, step=FARTHEST - clock.seconds)
                clock.set(FARTHEST)

    # ---- producers ----

    def key(self):
        return f"key{self.chance.randrange(KEYS)}"

    def keyed(self):
        """One that merges with what waits under its key."""
        self.history.note("keyed")
        self.case.promise_keyed(next(self.numbers), self.key())

    def hold(self):
        raise NotImplementedError


class SqliteFaults(Faults):

    def hold(self):
        """Somebody who looks for long, or who writes without waiting for a turn."""
        writes = self.chance.random() < 0.5
        fault = self.history.note("hold", writes=writes)
        database = sqlite3.connect(self.case.database, isolation_level=None, timeout=5,
                                   check_same_thread=False)
        try:
            database.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            database.execute("SELECT count(*) FROM queue").fetchone()
        except sqlite3.OperationalError:
            writes = True  # nothing is held
        self.later(1 if writes else self.chance.uniform(0.5, 5), lambda: self.let_go(database, fault))

    def let_go(self, database, fault):
        database.close()
        fault["until"] = round(boot_time(), 3)


class ServerFaults(Faults):

    weights = {**Faults.weights, "kill_server": 3}

    def kill_server(self):
        fault = self.history.note("server")
        self.end_holds()
        self.case.server.kill()
        self.case.server.start()
        fault["until"] = round(boot_time(), 3)

    def end_holds(self):
        """What a server holds for somebody goes with it."""


class PostgresFaults(ServerFaults):

    def __init__(self, *settings):
        super().__init__(*settings)
        self.sessions = {}

    def hold(self):
        """An application that enqueues a job with a key, and does not commit for long."""
        commits = self.chance.random() < 0.7
        number, key = next(self.numbers), self.key()
        fault = self.history.note("hold", key=key, commits=commits)
        session = contextlib.ExitStack()
        try:
            go_on = session.enter_context(self.case.server.session(
                f"BEGIN; SET LOCAL lock_timeout = '2s';"
                f" SELECT taskharbor.enqueue('work', '{number}', key => '{key}') \\g /dev/null"))
        except RuntimeError as reason:  # another one holds the key
            fault["refused"] = str(reason)
            return
        self.sessions[id(session)] = session
        self.later(self.chance.uniform(0.5, 5), lambda: self.finish(session, go_on, commits, fault))

    def finish(self, session, go_on, commits, fault):
        if self.sessions.pop(id(session), None) is None:
            return
        with contextlib.suppress(BrokenPipeError), session:
            go_on("COMMIT;" if commits else "ROLLBACK;")
        fault["until"] = round(boot_time(), 3)

    def end_holds(self):
        for session in self.sessions.values():
            with contextlib.suppress(BrokenPipeError):
                session.close()
        self.sessions.clear()


class RedisFaults(ServerFaults):

    def hold(self):
        """A server that is busy with somebody else."""
        milliseconds = self.chance.randrange(100, 1500)
        self.history.note("hold", milliseconds=milliseconds)
        self.case.server.cli("CLIENT", "PAUSE", str(milliseconds), "WRITE")


KINDS = {"sqlite": SqliteFaults, "postgres": PostgresFaults, "redis": RedisFaults}

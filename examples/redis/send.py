#!/usr/bin/python3
"""
Enqueues a job in Redis, waits for its end and prints its result, with nothing but Python's own library:

    send.py 127.0.0.1:6379 mail email:send '{"to": "ada@example.org"}'

With a Redis library all of `Redis` goes: its EVAL and its SUBSCRIBE do the same.
"""
import os
import socket
import sys

SCRIPTS = os.environ.get("TASKHARBOR_SCRIPTS", "/usr/share/taskharbor/redis")
WATCH = 60  # seconds; the mark is made anew as long as the job goes on


class Redis:
    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)))
        self.stream = self.socket.makefile("rb")

    def call(self, *words):
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        return self.read()

    def read(self):
        line = self.stream.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b"$":
            return None if rest == b"-1" else self.stream.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.read() for _ in range(int(rest))]
        if not line:
            raise ConnectionError("the server has closed the connection")
        return int(rest) if kind == b":" else rest


def run_script(redis, name, queue, *words):
    with open(os.path.join(SCRIPTS, name), encoding="utf-8") as file:
        base = f"th:{{{queue}}}:"
        return redis.call("EVAL", file.read(), 2, base, base + "state", *words)


def read_job(redis, queue, job):
    """All that is known of it, by name. Whoever reads it so is told of its end."""
    found = run_script(redis, "job.lua", queue, job, WATCH)
    return {found[i].decode(): found[i + 1] for i in range(0, len(found), 2)}


def wait_for(address, queue, job):
    """First listen, then look: what ends in between is not missed."""
    redis, bell = Redis(address), Redis(address)
    bell.call("SUBSCRIBE", f"th:{{{queue}}}:end:{job}")
    bell.socket.settimeout(WATCH / 2)
    while True:
        found = read_job(redis, queue, job)
        if found.get("state") in (None, b"done", b"dead", b"cancelled"):
            return found
        try:
            bell.read()
        except TimeoutError:  # look again: a message may be lost when a server is replaced
            bell = Redis(address)
            bell.call("SUBSCRIBE", f"th:{{{queue}}}:end:{job}")
            bell.socket.settimeout(WATCH / 2)


def main(address, queue, job_type, payload):
    job, _, _ = run_script(Redis(address), "enqueue.lua", queue, "type", job_type, "payload", payload)
    ended = wait_for(address, queue, job.decode())
    state = ended.get("state", b"gone").decode()
    print(job.decode(), state, ended.get("result", ended.get("last_error", b"")).decode(errors="replace").strip())
    return 0 if state == "done" else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

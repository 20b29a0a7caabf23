#!/usr/bin/env python3
"""A worker over HTTP, with the standard library alone: worker.py [QUEUE...]

TASKHARBOR_URL says where thd listens, TASKHARBOR_TOKEN has its token if there is one.
"""
import json
import os
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request

URL = os.environ.get("TASKHARBOR_URL", "http://127.0.0.1:7460")
NAME = f"{socket.gethostname()}-{os.getpid()}"
LEASE = 30  # seconds; a third of it passes between two heartbeats
is_over = threading.Event()


def hello(job):
    return {"greeting": f"hello {job['payload']['name']}"}


HANDLERS = {"hello": hello}


def call(path, body):
    """Status and answer. Whoever does not answer is asked again: every call may be repeated."""
    headers = {"Content-Type": "application/json"}
    if "TASKHARBOR_TOKEN" in os.environ:
        headers["Authorization"] = "Bearer " + os.environ["TASKHARBOR_TOKEN"]
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer) if answer.status == 200 else None
        except urllib.error.HTTPError as refusal:
            if refusal.code not in (429, 503):
                return refusal.code, json.load(refusal)
        except OSError as error:
            print(error, file=sys.stderr)
        time.sleep(1)


def beat(job, is_done):
    """Keeps the lease until the job is done. One that is lost belongs to somebody else by now."""
    while not is_done.wait(LEASE / 3):
        status, answer = call(f"/api/jobs/{job['id']}/heartbeat", {"lease_token": job["lease_token"]})
        if status != 200 or answer["cancel_requested"]:
            os._exit(1)  # nothing less certain stops a function of Python


def run(job):
    is_done = threading.Event()
    threading.Thread(target=beat, args=(job, is_done), daemon=True).start()
    try:
        verb, words = "complete", {"result": HANDLERS[job["type"]](job)}
    except Exception as error:
        verb, words = "fail", {"error": repr(error)}
    finally:
        is_done.set()
    status, answer = call(f"/api/jobs/{job['id']}/{verb}", {"lease_token": job["lease_token"], **words})
    if status != 200:
        print(f"{job['id']}: {answer['message']}", file=sys.stderr)


def main():
    wish = {"worker": NAME, "types": list(HANDLERS), "queues": sys.argv[1:] or ["default"], "lease": LEASE, "wait": 20}
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: is_over.set())
    while not is_over.is_set():
        status, answer = call("/api/claim", wish)
        if status not in (200, 204):
            sys.exit(answer["message"])
        for job in answer["jobs"] if answer else []:
            run(job)


main()

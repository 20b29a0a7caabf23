#!/usr/bin/env python3
"""Many jobs at a time: each waits for as many seconds as its payload says, {"seconds": 2}."""
import asyncio
import json
import sys


def answer(job, **members):
    print(json.dumps({"id": job["id"], **members}), flush=True)


async def run(job):
    try:
        await asyncio.sleep(job["payload"]["seconds"])
        answer(job, ok=True, result="slept")
    except asyncio.CancelledError:
        answer(job, ok=False, error="given up")
    except Exception as error:
        answer(job, ok=False, error=repr(error))


async def main():
    lines = asyncio.StreamReader(limit=1 << 25)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    tasks = {}
    while line := await lines.readline():
        job = json.loads(line)
        if not job.get("cancel"):
            task = tasks[job["id"]] = asyncio.create_task(run(job))
            task.add_done_callback(lambda _, id=job["id"]: tasks.pop(id, None))
        elif job["id"] in tasks:
            tasks[job["id"]].cancel()


asyncio.run(main())

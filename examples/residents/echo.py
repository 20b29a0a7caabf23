#!/usr/bin/env python3
import json
import sys

for line in sys.stdin:
    job = json.loads(line)
    print(json.dumps({"id": job["id"], "ok": True, "result": job["payload"]}), flush=True)

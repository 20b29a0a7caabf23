"""
chaos_runs.py - what runs under chaos, and what it writes down.

Each run appends to runs/JOB: `start EXECUTION PID PARENT SECONDS KIND`, and `end` with the same words; seconds of
boot time, so that clocks may be set meanwhile. As long as any process of a run lives it holds locks/JOB:
another run of the same job sees it, and adds `overlap`. fixtures/plugins/chaotic.c does the same.
"""

# Some are long enough to be still there when a retry comes, if nobody has killed them.
COMMAND = """
note() { read -r now rest </proc/uptime; echo "$1 $TH_EXECUTION $$ $PPID $now command" >>"runs/$TH_JOB_ID"; }
note start
exec 9>"locks/$TH_JOB_ID"
flock -n -E 99 9
[ $? -ne 99 ] || { note overlap; echo "$TH_JOB_ID execution $TH_EXECUTION" >>overlaps; }
read -r number
if [ $((number % 40)) -eq 0 ]; then sleep 1.5; else sleep 0.0$((number % 3 + 1)); fi
note end
echo "$TH_JOB_ID" >>ends
"""

# What it waits for holds the lock as well.
RESIDENT = """
import fcntl, json, os, subprocess, sys, time
for line in sys.stdin:
    job = json.loads(line)
    def append(name, text):
        with open(name, "a") as file:
            file.write(text + "\\n")
    def note(word):
        now = time.clock_gettime(time.CLOCK_BOOTTIME)
        append("runs/" + job["id"], "%s %d %d %d %.2f resident" %
               (word, job["execution"], os.getpid(), os.getppid(), now))
    note("start")
    with open("locks/" + job["id"], "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note("overlap")
            append("overlaps", "%s execution %d" % (job["id"], job["execution"]))
        if job["payload"] % 40 == 0:
            subprocess.run(["setsid", "sleep", "1.5"], pass_fds=[lock.fileno()])
        else:
            time.sleep(job["payload"] % 3 / 100 + 0.01)
        note("end")
        append("ends", job["id"])
    print(json.dumps({"id": job["id"], "ok": True}), flush=True)
"""

"""thd: what a command finds when it starts, and what its end and its words on descriptor 3 mean."""
import grp
import hashlib
import os
import pwd
import time
import unittest
from signal import SIGKILL, SIGTERM, SIGXCPU

from daemon import descendants, read_proc, wait_for
from running import HOLD, RunningCase, moment

ONE_MIB = 1 << 20
MARK = "a-mark-of-the-payload"
NOBODY = pwd.getpwnam("nobody")

# What is open, without the folder that is open to see it.
DESCRIPTORS = """
import os
folder = "/proc/self/fd/"
print(*[fd for fd in os.listdir(folder) if os.path.islink(folder + fd)])
"""


class Payload(RunningCase):
    def test_stdin_is_the_payload_byte_by_byte(self):
        self.start_quick({"x": {"command": "sha256sum"}})
        for name, arguments, payload in (
                ("JSON", [], '{"b" : 1.50,  "a":["\u00fc", "\\u0041"]} '.encode()),
                ("nothing", ["--raw"], b""),
                ("all bytes", ["--raw"], bytes(range(256))),
                ("as much as fits into a message", ["--raw"], os.urandom(16 << 10)),
                ("one byte more", ["--raw"], os.urandom((16 << 10) + 1)),
                ("as much as may be", ["--raw"], os.urandom(ONE_MIB))):
            with self.subTest(name):
                path = self.write("payload", payload)
                job = self.run_job("x", "--file", path, *arguments)
                self.assertEqual(job["output"], hashlib.sha256(payload).hexdigest() + "  -\n")

    def test_a_text_for_the_shell_reaches_it_as_it_is_written(self):
        self.start_quick({"x": {"command": "kill -0 $$ && echo ${TH_JOB_ID} ${NONE:-none} ${TH_QUEUE%lt}"}})
        job = self.run_job("x")
        self.assertEqual(job["output"], f"{job['id']} none defau\n")

    def test_defaults_are_for_every_command_that_does_not_say_itself(self):
        os.mkdir(self.path("work"))
        config = self.configure(
            {"plain": {"command": "echo $A $B; pwd; ulimit -n"},
             "own": {"command": "echo $A $B; pwd; ulimit -n", "env": {"B": "mine"}, "cwd": ".",
                     "limits": {"files": 100}}},
            defaults={"env": {"A": "all", "B": "all"}, "cwd": "./work", "limits": {"files": 200}})
        self.start(config).wait_ready()
        for job_type, output in (("plain", f"all all\n{self.path('work')}\n200\n"),
                                 ("own", f"all mine\n{self.folder}\n100\n")):
            self.assertEqual(self.run_job(job_type)["output"], output)

    def test_a_payload_that_nobody_reads_is_in_nobodys_way(self):
        self.start_quick({"ends": {"command": ["true"]},
                          "closes": {"command": "exec 0<&-; sleep 0.1"},
                          "waits": {"command": "sleep 0.1"}})
        path = self.write("payload", os.urandom(900_000))
        for job_type in ("ends", "closes", "waits"):
            with self.subTest(job_type):
                self.assertEqual(self.run_job(job_type, "--raw", "--file", path)["attempts"], 0)

    def test_the_payload_is_in_no_command_line_and_no_environment(self):
        pool = self.start_quick({"x": {"command": HOLD}})
        job = self.enqueue("x", f'"{MARK}"')
        self.wait_held()
        for pid in [pool.pid, *descendants(pool.pid)]:
            for name in ("cmdline", "environ"):
                self.assertNotIn(MARK.encode(), read_proc(pid, name))
        self.let_go()
        self.wait_state(job, "done")
        self.assertNotIn(MARK, pool.log_text())


class Start(RunningCase):
    def test_the_environment_is_what_handler_and_job_say_and_nothing_else(self):
        pool = self.start_quick(
            {"x": {"command": ["/usr/bin/env", "-0"], "max_attempts": 7, "timeout": "1h",
                   "pass_env": ["PASSED", "BOTH", "TZ", "ABSENT"],
                   "env": {"OWN": "a b\nc", "BOTH": "own", "LANG": "de", "TH_QUEUE": "no"}}},
            env={"SECRET": "s", "PASSED": "p", "BOTH": "b", "TZ": "Mars", "USER": "me"},
            queues={"mail": {}})
        now = time.time()
        job = self.run_job("x", "--queue", "mail")
        found = dict(item.split("=", 1) for item in job["output"].split("\0")[:-1])
        self.assertAlmostEqual(int(found.pop("TH_DEADLINE")), now + 3600, delta=30)
        account = pwd.getpwuid(os.getuid())
        self.assertEqual(found, {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": account.pw_dir, "USER": account.pw_name, "TZ": "Mars", "LANG": "de",
            "PASSED": "p", "BOTH": "own", "OWN": "a b\nc",
            "TH_JOB_ID": job["id"], "TH_JOB_TYPE": "x", "TH_QUEUE": "mail", "TH_ATTEMPT": "1",
            "TH_MAX_ATTEMPTS": "7", "TH_EXECUTION": "1", "TH_POOL_ID": job["pool"]})
        self.assertTrue(job["pool"].startswith(pool.events("pool_ready")[0]["pool"] + "."))

    def test_headers_reach_the_command_and_so_does_a_trace(self):
        self.start_quick({"x": {"command": 'echo "$TH_HEADERS|$TRACEPARENT|$TRACESTATE|${BAGGAGE-none}"'}})
        job = self.run_job("x", "--header", "traceparent=00-ab-cd-01", "--header", "tracestate=a=1", "--header", "b=2")
        self.assertEqual(job["output"], '{"traceparent":"00-ab-cd-01","tracestate":"a=1","b":"2"}'
                                        "|00-ab-cd-01|a=1|none\n")

    def test_attempts_and_executions_are_told(self):
        tell = 'echo "$TH_ATTEMPT $TH_EXECUTION $TH_MAX_ATTEMPTS" >>told; '
        self.start_quick({"x": {"command": tell + '[ "$TH_EXECUTION" != 1 ] || exit 75; exit 1'}})
        self.run_job("x", "--max-attempts", "3", state="dead")
        self.assertEqual(self.read("told"), "1 1 3\n1 2 3\n2 3 3\n3 4 3\n")

    def test_nothing_is_open_but_stdin_stdout_stderr_and_3(self):
        self.write("descriptors.py", DESCRIPTORS)
        self.start_quick({"x": {"command": ["/usr/bin/python3", "descriptors.py"]}})
        self.assertEqual(self.run_job("x")["output"], "0 1 2 3\n")

    def test_signals_are_as_usual_and_it_leads_a_session(self):
        self.start_quick({"x": {"command": ["/bin/cat", "/proc/self/status"]}})
        found = dict(line.split(":\t", 1) for line in self.run_job("x")["output"].splitlines())
        for name in ("SigBlk", "SigIgn", "SigCgt"):
            self.assertEqual(int(found[name], 16), 0, name)
        self.assertEqual((found["NSpgid"], found["NSsid"]), (found["Pid"], found["Pid"]))

    def test_new_privileges_are_had_only_if_the_handler_says_so(self):
        command = {"command": "grep NoNewPrivs /proc/self/status"}
        self.start_quick({"none": command, "new": {**command, "no_new_privs": False}})
        self.assertEqual(self.run_job("none")["output"], "NoNewPrivs:\t1\n")
        self.assertEqual(self.run_job("new")["output"], "NoNewPrivs:\t0\n")

    def test_folder_umask_niceness_and_limits_are_those_of_the_handler(self):
        command = {"command": "pwd; umask; nice; ulimit -n; ulimit -t; ulimit -v"}
        self.start_quick({"own": {**command, "cwd": "/usr/lib", "umask": "077", "nice": 5,
                                  "limits": {"files": 64, "cpu": "7s", "memory": "512M"}},
                          "plain": command})
        self.assertEqual(self.run_job("own")["output"], "/usr/lib\n0077\n5\n64\n7\n524288\n")
        folder, umask, nice, _, cpu, memory = self.run_job("plain")["output"].split()
        self.assertEqual((folder, umask, nice, cpu, memory),
                         (os.path.realpath(self.folder), "0022", str(os.nice(0)),
                          "unlimited", "unlimited"))

    def test_limits_are_enforced(self):
        spend = ["/usr/bin/python3", "-c", "bytearray(1 << 30)"]
        self.start_quick({"cpu": {"command": "while :; do :; done", "limits": {"cpu": "1s"}},
                          "memory": {"command": spend, "limits": {"memory": "256M"}}})
        job = self.run_job("cpu", "--max-attempts", "1", state="dead")
        self.assertEqual((job["last_error"], job["signal"]), ("killed by SIGXCPU", SIGXCPU))
        job = self.run_job("memory", "--max-attempts", "1", state="dead")
        self.assertIn("MemoryError", job["last_error"])

    @unittest.skipUnless(os.getuid() == 0, "only root can become somebody else")
    def test_a_command_runs_as_its_user_with_the_groups_of_that_user_alone(self):
        tell = "id -u; id -g; id -G; echo $HOME $USER; grep -E '^(Uid|Gid):' /proc/self/status"
        self.start_quick({"x": {"command": tell, "user": "nobody", "cwd": "/"}})
        groups = {entry.gr_gid for entry in grp.getgrall() if "nobody" in entry.gr_mem}
        uid, gid = NOBODY.pw_uid, NOBODY.pw_gid
        self.assertEqual(self.run_job("x")["output"].splitlines(), [
            str(uid), str(gid), " ".join(map(str, [gid, *sorted(groups - {gid})])),
            f"{NOBODY.pw_dir} nobody", "Uid:" + f"\t{uid}" * 4, "Gid:" + f"\t{gid}" * 4])

    @unittest.skipUnless(os.getuid() == 0, "only root can become somebody else")
    def test_a_user_can_open_what_it_was_given_by_name(self):
        tell = ("cat /dev/stdin >/dev/stdout; echo error >/dev/stderr; "
                "echo result 7 >/dev/fd/3")
        self.start_quick({"x": {"command": tell, "user": "nobody", "cwd": "/"}})
        job = self.run_job("x", "[1]")
        self.assertEqual((job["output"], job["result"]), ("[1]error\n", 7))


class Exit(RunningCase):
    def test_the_exit_code_decides(self):
        pool = self.start_quick({"x": {"command": 'exit "$(cat)"', "dead_exit_codes": [42, 43],
                                       "max_attempts": 9, "retry": {"base_delay": "1h"}}})
        for code, state, attempts, reason in (
                (0, "done", 0, None), (1, "retry", 1, None), (64, "retry", 1, None),
                (65, "dead", 1, "permanent"), (42, "dead", 1, "permanent"),
                (43, "dead", 1, "permanent"), (44, "retry", 1, None), (255, "retry", 1, None),
                (75, "scheduled", 0, None)):
            with self.subTest(code):
                job = self.run_job("x", str(code), state=state)
                self.assertEqual((job["attempts"], job["reason"]), (attempts, reason))
                self.assertEqual([run["exit_code"] for run in job["runs"]], [code])
                self.assertEqual(job["last_error"], f"exit code {code}" if attempts else None)
        logged = pool.wait_event("job_snoozed", job=job["id"])
        self.assertAlmostEqual(moment(job["run_at"]) - moment(logged["time"]), 3600, delta=2)

    def test_a_signal_is_a_failure_and_is_named(self):
        self.script("die", 'kill "-$(cat)" $$')
        self.start_quick({"x": {"command": ["./die"], "retry": {"base_delay": "1h"}}})
        for number, name in ((SIGTERM, "SIGTERM"), (SIGKILL, "SIGKILL"), (40, "signal 40")):
            with self.subTest(name):
                job = self.run_job("x", str(int(number)), state="retry")
                self.assertEqual((job["attempts"], job["signal"], job["exit_code"]),
                                 (1, number, None))
                self.assertEqual(job["last_error"], f"killed by {name}")

    def test_a_command_that_stops_itself_runs_out_of_time(self):
        self.script("stop", "kill -STOP $$")
        self.start_quick({"x": {"command": ["./stop"], "timeout": "200ms", "max_attempts": 1}})
        self.assertEqual(self.run_job("x", state="dead")["last_error"], "timed out after 200ms")

    def test_a_command_may_close_all_that_it_was_given(self):
        self.start_quick({"x": {"command": "exec <&- >&- 2>&- 3>&-; " + HOLD}})
        job = self.enqueue("x")
        self.wait_held()
        self.let_go()
        self.wait_state(job, "done")

    def test_127_of_a_program_or_of_a_shell_after_a_while_is_a_failure(self):
        self.script("run", "exit 127")
        self.start_quick({"program": {"command": ["./run"]},
                          "shell": {"command": "sleep 1.1; exit 127"}})
        for job_type in ("program", "shell"):
            job = self.run_job(job_type, "--max-attempts", "1", state="dead")
            self.assertEqual((job["last_error"], job["attempts"]), ("exit code 127", 1))

    def test_a_command_that_ends_at_once_is_done_as_any_other(self):
        self.start_quick({"x": {"command": ["true"]}}, {"num_workers": 4})
        self.enqueue_many(200, "x")
        self.wait_stats(done=200)
        self.assertEqual({(job["executions"], job["exit_code"]) for job in self.jobs()}, {(1, 0)})


class Steering(RunningCase):
    def start_steered(self, **settings):
        """A handler that writes its payload to descriptor 3 and ends as it says."""
        self.script("steer", """
            payload=$(cat)
            printf '%b' "${payload#* }" >&3
            case ${payload%% *} in
                signal) kill -TERM $$ ;;
                late) sleep 60 ;;
                *) exit ${payload%% *} ;;
            esac""")
        return self.start_quick({"x": {"command": ["./steer"], "retry": {"base_delay": "1h"},
                                       **settings}})

    def steer(self, ending, words, state):
        return self.run_job("x", "--raw", "-", stdin=f"{ending} {words}", state=state)

    def test_the_last_verdict_beats_the_exit_code_and_nothing_else(self):
        pool = self.start_steered(timeout="2s")
        for ending, words, state, error in (
                ("0", "dead no such user\\n", "dead", "no such user"),
                ("3", "dead", "dead", "said to be dead"),
                ("0", "snooze 30s\\ndead no\\n", "dead", "no"),
                ("0", "dead no\\nsnooze 30s\\n", "scheduled", None),
                ("65", "snooze 30s", "scheduled", None),
                ("signal", "dead no\\n", "retry", "killed by SIGTERM"),
                ("late", "snooze 30s\\n", "retry", "timed out after 2s"),
                ("0", "snooze soon\\n", "done", None),
                ("0", "died\\n", "done", None)):
            with self.subTest(ending, words=words):
                job = self.steer(ending, words, state)
                self.assertEqual((job["last_error"], job["attempts"]), (error, int(bool(error))))
                self.assertEqual(job["reason"], "permanent" if state == "dead" else None)
        self.assertEqual([event["line"] for event in pool.events("job_output", stream="steering")],
                         ["not understood on descriptor 3: snooze soon "
                          "(it is: snooze, and a duration such as 30s)",
                          "not understood on descriptor 3: died "
                          "(the words are progress, result, snooze and dead)"])

    def test_a_job_is_put_off_as_long_as_it_says(self):
        pool = self.start_steered()
        job = self.steer("0", "snooze 30s\\n", "scheduled")
        logged = pool.wait_event("job_snoozed", job=job["id"])
        self.assertAlmostEqual(moment(job["run_at"]) - moment(logged["time"]), 30, delta=2)
        self.assertEqual((job["attempts"], [run["outcome"] for run in job["runs"]]),
                         (0, ["snoozed"]))

    def test_the_last_result_is_kept(self):
        self.start_steered()
        for words, result in (('result {"a": [1]}\\n', {"a": [1]}),
                              ('result 1\\nresult "two"', "two"),
                              ("", None)):
            with self.subTest(words):
                self.assertEqual(self.steer("0", words, "done")["result"], result)
        self.assertEqual(self.steer("0", "result no JSON\\n", "done")["result_base64"],
                         "bm8gSlNPTg==")

    def test_a_result_has_at_most_64_KiB(self):
        self.script("tell", """
            text=$(head -c "$(cat)" /dev/zero | tr '\\0' x)
            echo "result \\"$text\\"" >&3""")
        self.start_quick({"x": {"command": ["./tell"]}})
        most = (64 << 10) - 2
        self.assertEqual(self.run_job("x", str(most))["result"], "x" * most)
        self.assertIsNone(self.run_job("x", str(most + 1))["result"])

    def test_progress_is_seen_while_the_job_runs(self):
        self.start_quick({"x": {"command": "echo progress 40 half way >&3; " + HOLD +
                                "; echo progress 90 >&3; until [ -e end ]; do sleep 0.01; done"}})
        job = self.enqueue("x")
        self.wait_held()
        for expected in ({"percent": 40, "text": "half way"}, {"percent": 90, "text": None}):
            self.wait_progress(job, expected)
            self.let_go()
        self.write("end", "")
        self.wait_state(job, "done")

    def wait_progress(self, job, expected):
        wait_for(lambda: self.job(job)["progress"] == expected,
                 lambda: f"{expected}, not {self.job(job)['progress']}")


if __name__ == "__main__":
    unittest.main()

"""thctl top: what the pools do, live, on a terminal."""
import unittest
from signal import SIGHUP, SIGINT, SIGTERM, SIGWINCH

from daemon import DaemonCase, wait_for
from harness import THCTL, Case
from terminal import Terminal

HANDLERS = {
    "report:render": {"command": "echo 'progress 40 page 4 of 10' >&3; exec sleep 600"},
    "import:csv": {"command": "echo 'no such column: price' >&2; exit 1"},
    "sync:crm": {"command": "echo 'connection refused' >&2; exit 65"},
    "quick": {"command": ["/bin/true"]},
}
FAST = {"pool_id": "web-1", "heartbeat_interval": "300ms", "lease": "3s", "kill_grace": "100ms"}


def terminal(case, interval="100ms", env=None, **size):
    environment = case.environment_with({"TERM": "vt100", **(env or {})}, True)
    options = ("--interval", interval) if interval else ()
    return Terminal(case, [THCTL, "top", *options], environment, **size)


class LiveView(DaemonCase):
    def test_80_by_24_show_pools_workers_queues_and_failures(self):
        self.start_pool(HANDLERS, FAST)
        job = self.enqueue("report:render")
        self.run_job("sync:crm", state="dead")
        self.wait_state(self.enqueue("import:csv"), "retry")
        top = terminal(self)
        screen = top.wait_for("40% page 4", "done 0/s")
        self.assertRegex(screen, r"^sqlite:.*  every 100ms  \d\d:\d\d:\d\d\n"
                                 r"ready 0  running 1  retry 1  dead 1  done 0/s  failed ")
        self.assertRegex(screen, r"\nweb-1\.\w+ +\S+ +\d+  running +1/2 ")
        self.assertRegex(screen, rf"\nworker \d +running +\d+s  report:render  {job[:20]} ")
        self.assertRegex(screen, r"\nworker \d +idle ")
        self.assertRegex(screen, r"\ndefault +0 +1 +1 +1 ")
        self.assertRegex(screen, r"(now|ago)  retry .*import:csv .*no such column.*\n"
                                 r".*(now|ago)  dead .*sync:crm .*connection re")
        self.assertTrue(screen.splitlines()[23].startswith("q quit  p pause"), screen)
        top.type("q")
        self.assertEqual(top.wait(), 0)

    def test_it_goes_on_by_itself(self):
        self.start_pool(HANDLERS, FAST)
        self.run_job("quick")
        top = terminal(self)
        top.wait_for("running 0 ", r"^default +0 +0 +0 +0 ")
        self.enqueue("report:render")
        top.wait_for("running 1 ", r"^default +0 +1 +0 +0 ", "report:render")


    def test_pools_that_are_watched_tell_at_once_however_seldom_they_beat(self):
        self.ok("migrate")
        top = terminal(self, interval=None)
        top.wait_for("every 1s ", "no pool has registered")
        self.start_pool(HANDLERS, {"heartbeat_interval": "10m", "lease": "30m",
                                   "stale_threshold": "1h"})
        top.wait_for(r"^worker 1 +idle ", r"^worker 2 +idle ")
        job = self.enqueue("report:render")
        top.wait_for(rf"^worker \d +running .*{job[:20]} .* 40% page 4")
        self.enqueue("report:render")
        top.wait_for(r"^worker 1 +running ", r"^worker 2 +running ")


class Keys(Case):
    def setUp(self):
        super().setUp()
        for queue, count in (("beta", 2), ("alpha", 1), ("gamma", 3)):
            for _ in range(count):
                self.enqueue("x", "--queue", queue)

    def queues(self, top):
        return [line.split()[0] for line in top.read().splitlines()
                if line.split()[:1] in (["alpha"], ["beta"], ["gamma"])]

    def wait_queues(self, top, *expected):
        wait_for(lambda: self.queues(top) == list(expected), lambda: f"{expected} on\n{top.read()}")

    def test_q_ends_it_and_gives_the_terminal_back(self):
        top = terminal(self)
        top.wait_for("ready 6", "q quit")
        top.type("q")
        self.assertEqual(top.wait(), 0)

    def test_p_stops_the_display_until_it_is_pressed_again(self):
        top = terminal(self)
        top.wait_for("ready 6")
        top.type("p")
        top.wait_for(r"paused at \d\d:\d\d:\d\d$")
        self.enqueue("x")
        top.type("h")  # drawn after the job is there, and still without it
        top.wait_for("any key goes back")
        top.type("x")
        top.wait_for("paused at", "ready 6")
        top.type("p")
        top.wait_for("every 100ms", "ready 7")

    def test_rates_are_those_of_the_last_interval(self):
        top = terminal(self, "1s")
        top.wait_for("done -/s  failed -/s")
        top.wait_for("done 0/s  failed 0/s")
        self.sql("UPDATE queue SET done_total = 5000, failed_total = 40 WHERE name = 'beta'")
        top.wait_for(r"done [1-9][\d,]+/s  failed [1-9][\d.]*/s", r"^beta .* [1-9][\d,]+ +[1-9]")
        top.wait_for("done 0/s  failed 0/s")

    def test_tab_chooses_a_section_and_s_its_order(self):
        top = terminal(self)
        top.wait_for("workers by FOR$")
        self.wait_queues(top, "gamma", "beta", "alpha")
        top.type("\t")
        top.wait_for("queues by READY$", "READY▾")
        top.type("s")
        top.wait_for("queues by QUEUE$", "QUEUE▾")
        self.wait_queues(top, "alpha", "beta", "gamma")
        top.type("S")
        top.wait_for("queues by READY$")
        self.wait_queues(top, "gamma", "beta", "alpha")
        top.type("\t\t")
        top.wait_for("pools by POOL$")

    def test_arrows_scroll_what_does_not_fit(self):
        top = terminal(self, rows=12)
        top.wait_for("ready 6")
        top.type("\t")
        top.wait_for("1-2 of 3$")
        top.type("\x1bOB")
        top.wait_for("2-3 of 3$")
        self.wait_queues(top, "beta", "alpha")
        top.type("\x1bOB\x1bOA")
        top.wait_for("1-2 of 3$")

    def test_enter_gives_all_lines_to_one_section(self):
        top = terminal(self, rows=12)
        top.wait_for("ready 6")
        top.type("\t\r")
        self.wait_queues(top, "gamma", "beta", "alpha")
        self.assertNotIn("no pool has registered", top.read())
        top.type("\r")
        top.wait_for("no pool has registered", "1-2 of 3")

    def test_plus_and_minus_change_how_often_it_looks(self):
        top = terminal(self)
        top.wait_for("every 100ms")
        top.type("+")
        top.wait_for("every 250ms")
        top.type("++")
        top.wait_for("every 1s ")
        top.type("-")
        top.wait_for("every 500ms")

    def test_h_explains_the_keys(self):
        top = terminal(self)
        top.wait_for("ready 6")
        top.type("h")
        screen = top.wait_for("any key goes back")
        for key in ("q ", "p ", "s ", "Tab", "Enter", "Up Down", "+ -", "r ", "h "):
            self.assertIn(f"\n  {key}", "\n" + screen)
        top.type("x")
        top.wait_for("ready 6")

    def test_another_size_is_filled(self):
        top = terminal(self)
        top.wait_for("q quit")
        for columns, rows in ((120, 40), (60, 10), (20, 3), (80, 24)):
            top.resize(columns, rows, SIGWINCH)
            top.wait_for(r"\Asqlite:.*\n")
            if rows > 3:
                top.wait_for(r"^q quit.*\Z")


class Ends(Case):
    def setUp(self):
        super().setUp()
        self.enqueue("x")

    def test_signals_end_it_and_give_the_terminal_back(self):
        for number in (SIGINT, SIGTERM, SIGHUP):
            with self.subTest(number):
                top = terminal(self)
                top.wait_for("ready 1")
                top.process.send_signal(number)
                self.assertEqual(top.wait(), -number)

    def test_a_terminal_that_goes_away_ends_it(self):
        top = terminal(self)
        top.wait_for("ready 1")
        top.hang_up()
        wait_for(lambda: top.process.poll() is not None, "its end")

    def test_a_store_that_is_away_is_said_and_looked_for(self):
        top = terminal(self)
        top.wait_for("ready 1")
        self.sql("ALTER TABLE pool RENAME TO elsewhere")
        top.wait_for("ready 1", "^sqlite: .*no such table: pool")
        self.sql("ALTER TABLE elsewhere RENAME TO pool")
        self.enqueue("x")
        top.wait_for("ready 2", "^q quit")

    def test_nothing_that_is_shown_can_steer_the_terminal(self):
        evil = "\033[2J\u202e\n"
        self.make_ended(self.enqueue("x"), "dead", evil, 1)
        self.make_pool("a", {"state": evil, "processes": [
            {"name": "worker 1", "state": evil, "type": evil}]})
        top = terminal(self, columns=200)
        screen = top.wait_for("ready 1", "^q quit")
        self.assertEqual(screen.count(r"\x1b[2J\u202e\n"), 3, screen)
        self.assertEqual(screen.count(r"\x1b[2J\u202e"), 4, screen)  # of an error its last line
        self.assertNotIn("\u202e", top.written)

    def test_colours_are_for_terminals_and_people_who_want_them(self):
        for env, coloured in (({"TERM": "xterm"}, True), ({"TERM": "vt100"}, False),
                              ({"TERM": "xterm", "NO_COLOR": "1"}, False)):
            with self.subTest(env):
                top = Terminal(self, [THCTL, "top"], self.environment_with(env, True))
                top.screen.obey = lambda *_: None  # xterm has more to say than we know
                wait_for(lambda: "quit" in top.read() + top.written, "a screen")
                top.type("q")
                self.assertEqual(top.wait(), 0)
                self.assertEqual("\033[36" in top.written, coloured, repr(top.written))


class WithoutTerminal(Case):
    def setUp(self):
        super().setUp()
        self.enqueue("x")

    def test_it_is_refused_with_a_way_out(self):
        self.refuses(2, "top: needs a terminal to draw on (see --once)", "top")
        self.refuses(2, "top: is for people", "--json", "top")

    def test_an_unknown_terminal_is_refused(self):
        for env, says in (({"TERM": "no-such-terminal"}, "the terminal 'no-such-terminal' cannot"),
                          ({"TERM": "dumb"}, "the terminal 'dumb' cannot"),
                          ({"TERM": None}, "TERM is not set"), ({"TERM": ""}, "TERM is not set")):
            with self.subTest(env):
                code, screen = self.on_terminal("top", env=env)
                self.assertEqual(code, 2, screen)
                self.assertTrue(screen.startswith("thctl: top: "), screen)
                self.assertIn(says, screen)
                self.assertEqual(screen.count("\n"), 1, screen)

    def test_a_backend_that_is_not_there_is_said_before_anything_is_drawn(self):
        code, screen = self.on_terminal("top", "--backend", "sqlite:/nowhere/jobs.db")
        self.assertEqual(code, 69, screen)
        self.assertNotIn("\033", screen)

    def test_intervals_have_limits(self):
        self.refuses(2, "--interval", "top", "--interval", "10ms")
        self.refuses(2, "--interval", "top", "--interval", "2h")

    def test_once_prints_everything_as_text(self):
        self.make_ended(self.enqueue("y", "--queue", "mail"), "dead", "it went " + "wrong " * 30, 1)
        self.make_pool("web-1", {"state": "running", "processes": [
            {"name": "worker 1", "state": "running", "type": "email:send"}]})
        text = self.ok("top", "--once")
        self.assertRegex(text, r"^ready 1  running 0  retry 0  dead 1 ")
        for title in ("POOL ", "WORKER ", "QUEUE ", " *FAILED "):
            self.assertRegex(text, rf"\n\n{title}")
        self.assertIn("it went " + "wrong " * 29, text)
        self.assertNotIn("\033", text)

    def test_once_has_something_to_say_about_nothing(self):
        self.ok("cancel", self.jobs()[0]["id"])
        text = self.ok("top", "--once")
        self.assertIn("no pool has registered", text)
        self.assertIn("nothing has failed", text)


if __name__ == "__main__":
    unittest.main()

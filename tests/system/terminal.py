"""
terminal.py - a program on a terminal whose screen can be read: enough of a VT100 for curses.
"""
import codecs
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios

from daemon import wait_for
from harness import DEADLINE

# One step of what a program writes: a sequence that steers the terminal, or a character.
STEP = re.compile(r"\x1b\[(?P<values>[?0-9;]*)(?P<command>[A-Za-z])|\x1b[()][0-9A-B]"
                  r"|\x1b(?P<short>[M=>78])|(?P<plain>[^\x1b])")


class Screen:
    """What a terminal shows after all that was written to it."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.cells = [[" "] * columns for _ in range(rows)]
        self.row = self.column = 0
        self.top, self.bottom = 0, rows - 1  # of what scrolls
        self.full = False  # the last column was written: the next character begins another line
        self.pending = ""

    def write(self, text):
        text, self.pending = self.pending + text, ""
        while text:
            step = STEP.match(text)
            if not step:  # the rest of it has yet to come
                self.pending = text
                return
            text = text[step.end():]
            if step["command"]:
                self.obey(step["command"], [int(n or 0) for n in
                                            step["values"].strip("?").split(";")])
            elif step["short"] == "M":
                self.feed_back()
            elif step["plain"]:
                self.put(step["plain"])

    def move(self, row, column):
        self.row = min(max(row, 0), self.rows - 1)
        self.column = min(max(column, 0), self.columns - 1)
        self.full = False

    def scroll(self, to, source):
        """One line leaves the region at `source`, and an empty one comes at `to`."""
        del self.cells[source]
        self.cells.insert(to, [" "] * self.columns)

    def feed(self):
        if self.row == self.bottom:
            self.scroll(self.bottom, self.top)
        else:
            self.move(self.row + 1, self.column)

    def feed_back(self):
        if self.row == self.top:
            self.scroll(self.top, self.bottom)
        else:
            self.move(self.row - 1, self.column)

    def put(self, character):
        if character == "\r":
            self.move(self.row, 0)
        elif character == "\n":
            self.feed()
        elif character == "\t":
            self.move(self.row, (self.column // 8 + 1) * 8)
        elif character == "\b":
            self.move(self.row, self.column - 1)
        elif character >= " ":
            if self.full:
                self.feed()
                self.move(self.row, 0)
            self.cells[self.row][self.column] = character
            self.full = self.column == self.columns - 1
            self.column += not self.full

    def obey(self, command, values):
        many = max(values[0], 1)
        moves = {"A": (-many, 0), "B": (many, 0), "C": (0, many), "D": (0, -many)}
        if command == "H":
            self.move(many - 1, (values[1] if len(values) > 1 else 1) - 1)
        elif command in moves:
            self.move(self.row + moves[command][0], self.column + moves[command][1])
        elif command == "r":
            self.top, self.bottom = values[0] - 1, values[1] - 1
            self.move(0, 0)
        elif command in "JK":
            self.erase(values[0], command == "J")
        elif command not in "mhl":
            raise AssertionError(f"the terminal does not know {command} {values}")

    def erase(self, part, below):
        start = self.column if part == 0 else 0
        end = self.column + 1 if part == 1 else self.columns
        for column in range(start, end):
            self.cells[self.row][column] = " "
        for row in range(self.row + 1 if part == 0 else 0, self.rows if below else 0):
            self.cells[row] = [" "] * self.columns

    @property
    def lines(self):
        return ["".join(line).rstrip() for line in self.cells]

    def __str__(self):
        return "\n".join(self.lines)


class Terminal:
    """A program that runs on a terminal of its own."""

    def __init__(self, case, arguments, env, columns=80, rows=24):
        self.case = case
        self.master, slave = pty.openpty()
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.written = ""
        self.set_size(columns, rows)
        self.settings = termios.tcgetattr(slave)
        self.process = subprocess.Popen(arguments, stdin=slave, stdout=slave, stderr=slave,
                                        cwd=case.folder, env=env, start_new_session=True)
        self.slave = slave  # held open, so that its settings outlive the program
        case.addCleanup(self.close)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for fd in (self.master, self.slave):
            if fd >= 0:
                os.close(fd)

    def hang_up(self):
        os.close(self.slave)
        os.close(self.master)
        self.master = self.slave = -1

    def set_size(self, columns, rows):
        self.screen = Screen(columns, rows)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows, number):
        """Another size, and the signal that a terminal sends then."""
        self.read()
        self.set_size(columns, rows)
        self.process.send_signal(number)

    def read(self):
        while select.select([self.master], [], [], 0)[0]:
            text = self.decoder.decode(os.read(self.master, 65536))
            self.written += text
            self.screen.write(text)
        return str(self.screen)

    def type(self, text):
        os.write(self.master, text.encode())

    def wait_for(self, *patterns):
        """Waits until the screen shows all of them, and returns it."""
        def look():
            screen = self.read()
            if self.process.poll() is not None:
                self.case.fail(f"it ended with {self.process.returncode}:\n{screen}")
            return screen if all(re.search(p, screen, re.MULTILINE) for p in patterns) else None
        return wait_for(look, lambda: f"{patterns} on\n{self.screen}\nafter {self.written[-800:]!r}")

    def wait(self):
        """Its exit code, once it has ended; the terminal then is as it was."""
        wait_for(lambda: self.read() and self.process.poll() is not None, "the end of the program")
        self.read()
        self.case.assertEqual(termios.tcgetattr(self.slave), self.settings)
        self.case.assertNotIn("Sanitizer", self.written)
        return self.process.wait(timeout=DEADLINE)

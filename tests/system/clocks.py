"""
clocks.py - a clock that can be set while programs run: fixtures/clock_shift.c, and the file that it looks at.
"""
import os
import shutil
import struct

from plugins import SANITIZER

BUILD = os.environ.get("TH_BUILD_DIR", "build/dev")
LIBRARY = os.path.join(BUILD, "tests/libclock_shift.so")


class Clock:
    """The wall clock of every program that is started with `environment`. Its folder can be entered by all of them."""

    def __init__(self, folder, name="clock"):
        self.path = os.path.join(folder, name)
        self.library = os.path.join(folder, name + ".so")
        self.seconds = 0
        shutil.copy(LIBRARY, self.library)
        with open(self.path, "wb") as file:
            file.write(struct.pack("q", 0))
        self.environment = {"LD_PRELOAD": self.library, "TH_CLOCK_FILE": self.path,
                            "ASAN_OPTIONS": f"{SANITIZER}:verify_asan_link_order=0:detect_leaks=0"}

    def set(self, seconds):
        """So far off from now on."""
        self.seconds = seconds
        with open(self.path, "r+b") as file:
            file.write(struct.pack("q", int(seconds * 1e6)))

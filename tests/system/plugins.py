"""
plugins.py - what the tests with plugins share: where tests/CMakeLists.txt has built them.
"""
import os

BUILD = os.environ.get("TH_BUILD_DIR", ".")
# A crash shall end a plugin's worker as it would without the sanitizer.
SANITIZER = "handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigill=0"


def plugin(name):
    return os.path.join(BUILD, "tests", f"lib{name}.so")

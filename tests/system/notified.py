"""
notified.py - a service manager of our own, that hears what thd tells systemd.
"""
import socket

from gate import GateCase
from harness import DEADLINE


class NotifiedCase(GateCase):
    """A test that has the socket of $NOTIFY_SOCKET."""

    def setUp(self):
        super().setUp()
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.listener.close)
        self.listener.settimeout(DEADLINE)
        self.listener.bind(self.path("notify"))
        self.environment.update(NOTIFY_SOCKET=self.path("notify"), WATCHDOG_USEC="200000")

    def hear(self, text):
        """Reads on until a message has this line; returns the message."""
        while True:
            message = self.listener.recv(4096).decode()
            if text in message.split("\n"):
                return message

"""
test_doors.py - the sockets of doors and the processes behind them: they are there when somebody connects, whatever
dies, is replaced or ends.
"""
import http.client
import json
import os
import signal
import socket
import threading
import unittest

from daemon import DaemonCase, is_alive, read_proc, wait_for
from servers import free_port

DOORS = ["gate", "browse", "http"]


class Stream:
    """Connections, one after the other, from another thread; what went wrong with any of them."""

    def __init__(self, address):
        self.address, self.wrong, self.count = address, [], 0
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.is_over.is_set():
            try:
                status = get(self.address, "/health")[0]
                if status != 200:
                    self.wrong.append(status)
            except OSError as error:
                self.wrong.append(error)
            self.count += 1

    def end(self):
        self.is_over.set()
        self.thread.join()
        return self.wrong


def get(address, path, method="GET"):
    """Status and body; a connection of its own."""
    host, port = address.rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port), timeout=30)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None
    finally:
        connection.close()


def is_refused(address):
    host, port = address.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), timeout=30).close()
    except ConnectionRefusedError:
        return True
    return False


class DoorsTest(DaemonCase):
    def free_address(self):
        return f"127.0.0.1:{free_port()}"

    def configure_at(self, address):
        self.configure({"noop": {"command": "true"}}, http={"listen": address})

    def start_at(self, address="127.0.0.1:0"):
        self.configure_at(address)
        pool = self.start().wait_ready()
        self.address = pool.wait_event("listening", door="http")["address"]
        return pool

    def wait_is_ready(self):
        wait_for(lambda: get(self.address, "/ready")[0] == 200, "a pool that is ready")

    def test_whatever_dies_is_replaced_and_ready_tells_the_truth(self):
        pool = self.start_at()
        self.assertEqual(get(self.address, "/health")[0], 200)
        self.assertEqual(get(self.address, "/ready"), (200, {"ready": True}))
        self.assertEqual(get(self.address, "/api/nothing")[1]["error"], "not_found")
        self.assertEqual(get(self.address, "/ready", "POST")[0], 405)
        self.assertEqual(get(self.address, "/health", "HEAD"), (200, None))
        for name in DOORS:
            pid = pool.pid_of(name)
            os.kill(pid, signal.SIGKILL)
            self.assertEqual(get(self.address, "/health")[0], 200)
            pool.wait_replaced(name, pid)
            self.wait_is_ready()
        pid = pool.pid_of("gate")
        os.kill(pid, signal.SIGSTOP)
        self.assertEqual(get(self.address, "/ready"), (503, {"ready": False, "reasons": ["gate does not answer"]}))
        self.assertEqual(get(self.address, "/health")[0], 200)
        os.kill(pid, signal.SIGCONT)
        self.wait_is_ready()
        self.assertEqual(pool.stop(), 0)
        self.assertTrue(is_refused(self.address))

    def test_a_reload_refuses_nobody_moves_where_it_is_told_and_stays_where_it_cannot(self):
        pool = self.start_at(self.free_address())
        before = {name: pool.pid_of(name) for name in DOORS}
        stream = Stream(self.address)
        pool.signal(signal.SIGHUP)
        pool.wait_event("config_reloaded")
        self.assertEqual(stream.end(), [])
        self.assertGreater(stream.count, 0)
        for name in DOORS:
            self.assertNotEqual(pool.pid_of(name), before[name])
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            self.configure_at("127.0.0.1:%d" % taken.getsockname()[1])
            pool.signal(signal.SIGHUP)
            self.assertIn("http.listen: cannot listen on", pool.wait_event("config_rejected")["error"])
            self.assertEqual(get(self.address, "/health")[0], 200)
        old, self.address = self.address, self.free_address()
        self.configure_at(self.address)
        pool.signal(signal.SIGHUP)
        pool.wait_event("config_reloaded", count=2)
        self.assertTrue(is_refused(old))
        self.wait_is_ready()
        self.configure({"noop": {"command": "true"}})
        pool.signal(signal.SIGHUP)
        pool.wait_event("config_reloaded", count=3)
        self.assertTrue(is_refused(self.address))
        self.assertEqual(set(DOORS) & set(pool.processes()), set())

    def test_an_upgrade_refuses_nobody(self):
        pool = self.start_at(self.free_address())
        stream = Stream(self.address)
        pool.signal(signal.SIGUSR2)
        new = pool.wait_event("upgrade_ready")["pid"]
        self.addCleanup(lambda: is_alive(new) and os.kill(new, signal.SIGKILL))
        self.assertEqual(pool.wait(), 0)
        self.assertEqual(stream.end(), [])
        self.wait_is_ready()
        os.kill(new, signal.SIGTERM)
        wait_for(lambda: not is_alive(new), "the end of the new thd")
        self.assertTrue(is_refused(self.address))

    def test_an_address_that_cannot_be_had_is_a_wrong_config(self):
        self.configure_at("unix:/no/such/folder/socket")
        pool = self.start()
        self.assertEqual(pool.wait(), 78)
        self.assertIn("http.listen: cannot listen on unix:/no/such/folder/socket: ", pool.log_text())

    def test_nobody_listens_for_clients_that_nobody_would_answer(self):
        address = self.free_address()
        self.configure({"noop": {"command": "true"}}, faktory={"listen": address})
        pool = self.start().wait_ready()
        self.assertTrue(is_refused(address))
        self.assertEqual(pool.stop(), 0)

    def test_a_door_has_no_store_no_file_and_no_way_to_more(self):
        pool = self.start_at()
        pid = pool.pid_of("http")
        self.assertIn(b"NoNewPrivs:\t1", read_proc(pid, "status"))
        targets = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd") if int(fd) > 2]
        ours = [target for target in targets if not target.startswith(("socket:", "anon_inode:", "pipe:"))]
        self.assertEqual([target for target in ours if target != pool.log_path], [])


if __name__ == "__main__":
    unittest.main()

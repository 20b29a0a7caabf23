"""
What a service user can do to root, or strangers to a service, by the files beside the database.
"""
import fcntl
import os
import shutil
import struct
import subprocess
import unittest

from daemon import THD, DaemonCase, wait_for
from harness import THCTL, only_sqlite
from plugins import plugin

SERVICE = {"user": "nobody", "group": "nogroup", "extra_groups": []}
SECRET = "only root may write this\n"


@only_sqlite("is about the folder of the file")
@unittest.skipUnless(os.geteuid() == 0, "becomes another user")
class Files(DaemonCase):

    def setUp(self):
        super().setUp()
        # A folder of root, which everybody may look into, and the service's own folder in it.
        os.chmod(self.folder, 0o755)
        self.program, self.thd = self.path("thctl"), self.path("thd")
        shutil.copy(THCTL, self.program)
        shutil.copy(THD, self.thd)
        os.mkdir(self.path("service"))
        shutil.chown(self.path("service"), "nobody", "nogroup")
        self.backend = "sqlite:" + self.path("service/jobs.db")
        self.precious = self.write("precious", SECRET)
        os.chmod(self.precious, 0o600)

    def start_service(self):
        """A pool of the service user that runs what is there."""
        return subprocess.Popen([self.thd, "--config", self.path("jobs.yaml"), "--once"],
                                cwd=self.path("service"), env=self.environment_with(None, True),
                                stderr=subprocess.DEVNULL, **SERVICE)

    def attack(self, link):
        """A job of the service makes the link; its pool, which may well miss the file, is killed."""
        self.configure({"attack": {"command": ["ln", "-sf", self.precious, link], "cwd": self.path("service")}})
        self.enqueue("attack", **SERVICE)
        with self.start_service() as pool:
            wait_for(lambda: os.path.islink(link), "the link")
            pool.kill()

    def test_a_job_cannot_make_root_give_a_file_away_by_a_link_beside_the_database(self):
        for name in "bell", "lock", "wal", "shm":
            with self.subTest(name):
                link = self.path("service/jobs.db-" + name)
                self.attack(link)
                self.refuses(69, f"jobs.db-{name} is a symbolic link", "enqueue", "harmless")
                status = os.stat(self.precious)
                self.assertEqual((status.st_uid, status.st_mode & 0o777), (0, 0o600))
                with open(self.precious, encoding="utf-8") as file:
                    self.assertEqual(file.read(), SECRET)
                os.unlink(link)

    def test_root_and_the_service_use_the_file_by_turns_whoever_came_first(self):
        self.configure({"hello": {"command": ["true"]}})
        self.enqueue("hello", **SERVICE)
        for _ in range(2):
            job = self.enqueue("hello")
            with self.start_service() as pool:
                self.assertEqual(pool.wait(60), 0)
            self.assertEqual(self.job(job)["state"], "done")
            for name in "jobs.db-lock", "jobs.db-bell":
                os.unlink(self.path("service/" + name))

    def test_who_may_only_read_the_database_cannot_stop_its_writers(self):
        self.enqueue("hello", **SERVICE)
        os.chmod(self.path("service/jobs.db"), 0o644)
        for name in "jobs.db-lock", "jobs.db-bell":
            os.unlink(self.path("service/" + name))
        self.enqueue("hello", **SERVICE)
        reader = os.fork()
        if reader == 0:
            os.setgroups([])
            os.setresgid(65533, 65533, 65533)
            os.setresuid(65533, 65533, 65533)
            try:
                lock = os.open(self.path("service/jobs.db-lock"), os.O_RDONLY)
                fcntl.fcntl(lock, fcntl.F_OFD_SETLK,
                            struct.pack("hhqqi", fcntl.F_RDLCK, os.SEEK_SET, 0, 2, 0))
            except PermissionError:
                os._exit(0)
            os._exit(1)
        self.assertEqual(os.waitpid(reader, 0)[1], 0, "a reader holds the lock of the writers")

    def test_a_file_that_others_may_write_and_that_says_what_runs_is_told(self):
        shutil.copy(plugin("chaotic"), self.path("own.so"))
        config = self.configure({"a": {"plugin": "./own.so"}}, include=["more.yaml"])
        self.write("more.yaml", "handlers: {b: {command: x}}")
        for name in "jobs.yaml", "more.yaml", "own.so":
            os.chmod(self.path(name), 0o755)
        for name, expose in (("jobs.yaml", lambda path: os.chmod(path, 0o666)),
                             ("more.yaml", lambda path: shutil.chown(path, "nobody")),
                             ("own.so", lambda path: shutil.chown(path, group="nogroup") or os.chmod(path, 0o775))):
            with self.subTest(name):
                self.assertEqual(self.start_and_stop(config), [])
                expose(self.path(name))
                [told] = self.start_and_stop(config)
                self.assertEqual(os.path.basename(told["path"]), name)
                shutil.chown(self.path(name), "root", "root")
                os.chmod(self.path(name), 0o755)

    def start_and_stop(self, config):
        """What a pool says of it."""
        pool = self.start(config).wait_ready()
        self.assertEqual(pool.stop(), 0)
        return pool.events("config_exposed")


if __name__ == "__main__":
    unittest.main()

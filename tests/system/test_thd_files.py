"""
What a service user can do to root, or strangers to a service, by the files beside the database.
"""
import fcntl
import os
import shutil
import struct
import subprocess
import unittest

from daemon import THD, DaemonCase
from harness import THCTL, only_sqlite

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

    def run_service(self):
        """A pool of the service user that runs what is there."""
        done = subprocess.run([self.thd, "--config", self.path("jobs.yaml"), "--once"],
                              cwd=self.path("service"), env=self.environment_with(None, True),
                              stderr=subprocess.PIPE, timeout=60, check=False, **SERVICE)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_a_job_cannot_make_root_give_a_file_away_by_a_link_beside_the_database(self):
        for name in "bell", "lock", "wal", "shm":
            with self.subTest(name):
                link = self.path("service/jobs.db-" + name)
                self.configure({"attack": {"command": ["ln", "-sf", self.precious, link],
                                           "cwd": self.path("service")}})
                self.enqueue("attack", **SERVICE)
                self.run_service()
                if not os.path.islink(link):  # SQLite took it away when the pool ended
                    os.symlink(self.precious, link)
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
            self.run_service()
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


if __name__ == "__main__":
    unittest.main()

"""
PostgreSQL by TLS, which is libpq's: what we hand on to it, and what is said when it refuses.
"""
import os
import shutil
import subprocess
import unittest

from certificates import Certificates
from daemon import THD, DaemonCase
from servers import Postgres, servers_folder

HANDLERS = {"work": {"command": ["true"]}}
SECRET = "s3cr3t-Pa55"

made = {}


def setUpModule():
    folder = unittest.enterModuleContext(servers_folder())
    made["harbor"] = harbor = Certificates(os.path.join(folder, "harbor"))
    made["foreign"] = Certificates(os.path.join(folder, "foreign"), "Foreign Authority")
    pair = harbor.make("server", "IP:127.0.0.1")
    server = Postgres(os.path.join(folder, "postgres"), settings={
        "ssl": "on", "ssl_cert_file": pair.cert, "ssl_key_file": pair.key, "password_encryption": "scram-sha-256"})
    if server.runs_as():
        shutil.chown(pair.key, server.user)
    made["server"] = unittest.enterModuleContext(server)
    # `app` comes by TLS and with a password alone, all others as they like.
    server.sql(f"CREATE ROLE app SUPERUSER LOGIN PASSWORD '{SECRET}'")
    path = os.path.join(server.data, "pg_hba.conf")
    with open(path, encoding="utf-8") as file:
        rules = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write("hostssl all app 127.0.0.1/32 scram-sha-256\nhostnossl all app 127.0.0.1/32 reject\n" + rules)
    server.sql("SELECT pg_reload_conf()")


class Tls(DaemonCase):
    def setUp(self):
        super().setUp()
        self.server = made["server"]
        self.addCleanup(self.server.sql, "SET client_min_messages = warning;"
                                         "DROP SCHEMA IF EXISTS taskharbor CASCADE")

    def url(self, *options, host=None):
        place = self.server.place.replace("127.0.0.1", host or "127.0.0.1")
        return f"postgres://app:{SECRET}@{place}/taskharbor?" + "&".join(options)

    def verified(self, *options, authority="harbor", host=None):
        return self.url("sslmode=verify-full", f"sslrootcert={made[authority].authority}", *options, host=host)

    def test_a_pool_runs_jobs_with_the_server_verified_and_the_password_bound_to_it(self):
        self.backend = self.verified("channel_binding=require")
        self.start_pool(HANDLERS)
        self.run_job("work")
        self.assertEqual(self.server.sql(
            "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'app'"), "t")

    def test_what_libpq_refuses_is_one_sentence_without_the_password(self):
        for words, url in (
                ("certificate verify failed: name the certificate of the authority", self.verified(authority="foreign")),
                ('does not match host name "localhost": connect by a name', self.verified(host="localhost")),
                ('root certificate file "/nothing.pem" does not exist; Either provide the file',
                 self.url("sslmode=verify-full", "sslrootcert=/nothing.pem")),
                ("no encryption: look at the user in the URL", self.url("sslmode=disable"))):
            with self.subTest(words):
                refused = self.refuses(69, words, "stats", env={"TASKHARBOR_BACKEND": url})
                self.assertNotIn(SECRET, refused.err)
                self.assertEqual(refused.err.count("look at"), words.count("look at"))

    def test_its_files_are_found_from_the_folder_of_the_config(self):
        shutil.copy(made["harbor"].authority, self.path("ca.pem"))
        elsewhere = self.path("elsewhere")
        os.mkdir(elsewhere)
        config = self.configure(HANDLERS, backend=self.url("sslmode=verify-full", "sslrootcert=ca.pem"))
        for words in ([self.program, "--config", config, "migrate"], [THD, "--config", config, "--check"]):
            done = subprocess.run(words, cwd=elsewhere, env=self.environment, capture_output=True, text=True,
                                  check=False, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()

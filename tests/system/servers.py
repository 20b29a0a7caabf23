"""
servers.py - real database servers for tests and benchmarks: private, on free loopback ports, in a
folder of their own.

    with Postgres(folder) as postgres:
        postgres.url                     # postgres://taskharbor@127.0.0.1:41873/taskharbor

A server that was killed can be started again on the same port with the same data. They keep what
they confirmed when they are killed; only `durable=True` makes them wait for the disk as well, which
is what a benchmark has to measure.
"""
import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

POSTGRES_BIN = "/usr/lib/postgresql/15/bin"
DEADLINE = 60  # seconds for a server to start or stop
FIRST_PORT = 10240  # below are those of well-known services
SCHEMA = os.path.join(os.environ.get("TH_SOURCE_DIR", "."), "src/store/postgres")


def functions_version():
    """The version that the names of private functions end in: exchange_v1."""
    with open(os.path.join(SCHEMA, "functions/VERSION"), encoding="utf-8") as file:
        return int(file.read().split("\n")[-2].split()[0])


VERSION = functions_version()


@contextlib.contextmanager
def servers_folder():
    """A temporary folder that a server can live in, whoever it runs as."""
    folder = tempfile.mkdtemp(prefix="taskharbor-servers-")
    try:
        os.chmod(folder, 0o755)  # PostgreSQL runs as another user than root
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def claim_port(port):
    """Nobody else who asks here gets it. A name of the kernel's, which goes with the process."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0taskharbor-test-port-{port}")
    except OSError:
        claim.close()
        return False
    claim.detach()  # kept until this process ends
    return True


def free_port():
    """Below those that the kernel gives to connections, one of which could have taken it before a server does. Servers
    of other tests are kept away as well: it may be long until the one that it is for has started."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        connections_from = int(file.read().split()[0])
    while True:
        port = random.randrange(FIRST_PORT, connections_from)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            if claim_port(port):
                return port


def is_listening(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Server:
    """A process that listens on a port of its own; `command` and `is_up` are the subclass's."""

    user = None  # whom root becomes to run it
    environment = None  # ours

    def __init__(self, folder, durable=False):
        self.folder = folder
        self.durable = durable
        self.port = free_port()
        self.process = None
        self.log_path = os.path.join(folder, "server.log")
        os.makedirs(folder)
        if self.runs_as():
            shutil.chown(folder, self.user)

    def runs_as(self):
        """Arguments for subprocess; servers that refuse root get a user of their own."""
        if self.user is None or os.geteuid() != 0:
            return {}
        return {"user": self.user, "group": self.user, "extra_groups": []}

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command(), cwd=self.folder, stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL, env=self.environment,
                                            **self.runs_as())
        end = time.monotonic() + DEADLINE
        while not self.is_up():
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{self.command()[0]} did not start:\n{self.log_text()}")
            time.sleep(0.01)
        return self

    def log_text(self):
        with open(self.log_path, "rb") as log:
            return log.read().decode(errors="replace")

    def end(self, number):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(DEADLINE)

    def stop(self):
        self.end(signal.SIGINT)

    def kill(self):
        """As if the machine's power had gone, but for what the kernel has been given to write."""
        self.end(signal.SIGKILL)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


class Postgres(Server):
    """PostgreSQL; the superuser `taskharbor` needs no password on loopback."""

    user = "postgres"

    def __init__(self, folder, durable=False, settings=()):
        super().__init__(folder, durable)
        self.data = os.path.join(folder, "data")
        self.place = f"127.0.0.1:{self.port}"
        self.url = f"postgres://taskharbor@{self.place}/taskharbor"
        self.settings = {
            "port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": "",
            "max_connections": 300, "fsync": "on" if durable else "off", "timezone": "UTC",
            **dict(settings)}
        self.make_data()

    def make_data(self):
        self.run("initdb", "--username=taskharbor", "--auth=trust", "--encoding=UTF8",
                 "--locale=C.UTF-8", "--no-sync", "--pgdata", self.data)

    def run(self, program, *arguments):
        done = subprocess.run([os.path.join(POSTGRES_BIN, program), *arguments], cwd=self.folder,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              **self.runs_as())
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode()

    def command(self):
        settings = [word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")]
        return [os.path.join(POSTGRES_BIN, "postgres"), "-D", self.data, *settings]

    def is_up(self):
        return subprocess.run([os.path.join(POSTGRES_BIN, "pg_isready"), "-q", "-h", "127.0.0.1",
                               "-p", str(self.port)], check=False).returncode == 0

    def start(self):
        super().start()
        if self.sql("SELECT 1 FROM pg_database WHERE datname = 'taskharbor'", "postgres") == "":
            self.sql("CREATE DATABASE taskharbor", "postgres")
        return self

    def kill(self):
        """The postmaster and, as it cannot, everything that it has forked: it is stopped before they are counted, and
        none of them is left, or the next one does not start."""
        self.process.send_signal(signal.SIGSTOP)
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], check=False,
                                  capture_output=True, text=True).stdout.split()
        for pid in children:
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                continue
        super().kill()
        end = time.monotonic() + DEADLINE
        while any(self.is_left(pid) for pid in children) and time.monotonic() < end:
            time.sleep(0.005)

    @staticmethod
    def is_left(pid):
        """Whether it runs: what waits to be reaped holds nothing any more."""
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
        except (FileNotFoundError, ProcessLookupError):
            return False

    def sql(self, text, database="taskharbor"):
        """What psql prints for it, without decoration."""
        return self.run("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1",
                        "-p", str(self.port), "-U", "taskharbor", "-d", database, "-c", text).strip()

    @contextlib.contextmanager
    def session(self, text=""):
        """A connection that has carried this out and stays, with its locks, until it is left. What it
        yields makes it do more, and does not wait for that."""
        command = [os.path.join(POSTGRES_BIN, "psql"), "-X", "-q", "-h", "127.0.0.1",
                   "-p", str(self.port), "-U", "taskharbor", "-d", "taskharbor"]
        with subprocess.Popen(command, cwd=self.folder, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              **self.runs_as()) as psql:
            try:
                psql.stdin.write(text + "\n\\echo done\n")
                psql.stdin.flush()
            except BrokenPipeError:  # it was not let in, and has ended: it says why
                with contextlib.suppress(BrokenPipeError):
                    psql.stdin.close()
            said = psql.stdout.readline()
            if said != "done\n":
                raise RuntimeError(said)

            def go_on(more):
                psql.stdin.write(more + "\n")
                psql.stdin.flush()
            yield go_on
            psql.communicate()


class PostgresStandby(Postgres):
    """Follows a PostgreSQL that runs, and can be read from; named `standby`, for synchronous_standby_names."""

    def __init__(self, folder, primary):
        self.primary = primary
        super().__init__(folder)

    def make_data(self):
        place = f"host=127.0.0.1 port={self.primary.port} user=taskharbor application_name=standby"
        self.run("pg_basebackup", "--dbname", place, "--write-recovery-conf", "--checkpoint=fast",
                 "--no-sync", "--pgdata", self.data)

    def promote(self):
        """It is the primary now."""
        self.sql("SELECT pg_promote()")


class Redis(Server):
    """Redis, with every write in its append-only file before it is answered."""

    def __init__(self, folder, durable=False, settings=()):
        super().__init__(folder, durable)
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.settings = {
            "port": self.port, "bind": "127.0.0.1", "dir": folder, "save": "", "appendonly": "yes",
            # everysec answers before it has written while the disk is busy, and a kill loses that
            "appendfsync": "always" if durable else "no",
            "repl-diskless-sync-delay": 0,  # else a replica waits 5 s for others to come
            **dict(settings)}

    def command(self):
        return ["redis-server", *(word for name, value in self.settings.items()
                                  for word in ("--" + name, str(value)))]

    def is_up(self):
        return is_listening(self.port) and self.cli("PING") == "PONG"

    def stop(self):
        """A new replica that writes its first append-only file refuses SIGINT, and stays."""
        self.kill()

    def cli(self, *words):
        """What redis-cli prints for it."""
        password = self.settings.get("requirepass")
        environment = {**os.environ, "REDISCLI_AUTH": password} if password else None
        return subprocess.run(["redis-cli", "-p", str(self.port), *words], check=False, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout.strip()


class TlsRedis(Redis):
    """Redis that speaks TLS as well, for `url`; to those whom its authority has signed if `clients` is
    "yes". It has a plain port for cli()."""

    def __init__(self, folder, certificates, pair, clients="no", settings=(), durable=False):
        self.tls_port = free_port()
        self.certificates = certificates
        super().__init__(folder, durable, {
            "tls-port": self.tls_port, "tls-cert-file": pair.cert, "tls-key-file": pair.key,
            "tls-ca-cert-file": certificates.authority, "tls-auth-clients": clients,
            "tls-replication": "yes", **dict(settings)})
        self.plain_url = self.url
        self.url = f"rediss://127.0.0.1:{self.tls_port}/0?cafile={certificates.authority}"


class RedisCluster:
    """Three Redis masters that share the slots; `url` names one of them, as it is enough."""

    def __init__(self, folder, settings=()):
        os.makedirs(folder)
        self.nodes = [self.make_node(os.path.join(folder, f"node{i}"), {
            "cluster-enabled": "yes", "cluster-config-file": "nodes.conf", "cluster-node-timeout": 2000,
            "cluster-port": free_port(), **dict(settings)}) for i in range(3)]
        self.url = self.nodes[0].url

    def make_node(self, folder, settings):
        return Redis(folder, settings=settings)

    def create(self):
        return ["redis-cli", "--cluster", "create", *(f"127.0.0.1:{node.port}" for node in self.nodes)]

    def start(self):
        for node in self.nodes:
            node.start()
        made = subprocess.run([*self.create(), "--cluster-yes"], check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        end = time.monotonic() + DEADLINE
        while not all("cluster_state:ok" in node.cli("CLUSTER", "INFO") for node in self.nodes):
            if time.monotonic() > end:
                raise RuntimeError(f"the cluster does not come up:\n{made.stdout}{made.stderr}")
            time.sleep(0.05)
        return self

    def stop(self):
        for node in self.nodes:
            node.stop()

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.stop()  # those that did start
            raise

    def __exit__(self, *_):
        self.stop()


class TlsRedisCluster(RedisCluster):
    """The same by TLS, between the nodes too."""

    def __init__(self, folder, certificates, pair):
        self.certificates, self.pair = certificates, pair
        super().__init__(folder, {"tls-cluster": "yes"})

    def make_node(self, folder, settings):
        return TlsRedis(folder, self.certificates, self.pair, settings=settings)

    def create(self):
        return ["redis-cli", "--tls", "--cacert", self.certificates.authority, "--cluster", "create",
                *(f"127.0.0.1:{node.tls_port}" for node in self.nodes)]


class Sentinel(Redis):
    """One sentinel that alone decides, to watch over one master with a password; so has the sentinel."""

    def __init__(self, folder, master, password):
        super().__init__(folder, settings={"requirepass": password})
        self.url = f"redis+sentinel://127.0.0.1:{self.port}/jobs/0"
        self.config = os.path.join(folder, "sentinel.conf")
        with open(self.config, "w", encoding="utf-8") as config:
            config.write(f"port {self.port}\nbind 127.0.0.1\ndir {folder}\n"
                         f"requirepass {password}\n"
                         f"sentinel monitor jobs 127.0.0.1 {master.port} 1\n"
                         f"sentinel auth-pass jobs {master.settings['requirepass']}\n"
                         "sentinel down-after-milliseconds jobs 1000\n"
                         "sentinel failover-timeout jobs 10000\n")

    def command(self):
        return ["redis-server", self.config, "--sentinel"]


class TlsSentinel(Sentinel):
    """The same by TLS, for a master that speaks it too."""

    def __init__(self, folder, master, password, pair):
        super().__init__(folder, master, password)
        tls_port = free_port()
        authority = master.certificates.authority
        self.url = f"rediss+sentinel://127.0.0.1:{tls_port}/jobs/0?cafile={authority}"
        with open(self.config, "r+", encoding="utf-8") as config:
            text = config.read().replace(f" {master.port} 1\n", f" {master.tls_port} 1\n")
            config.seek(0)
            config.write(f"{text}tls-port {tls_port}\ntls-cert-file {pair.cert}\ntls-key-file {pair.key}\n"
                         f"tls-ca-cert-file {authority}\ntls-auth-clients no\ntls-replication yes\n")

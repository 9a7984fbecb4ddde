"""A private Postgres and Redis for one run, in a temporary folder, started by deploy/dev.d/servers.sh.

    python3 -m lib.system.servers -- COMMAND...   runs COMMAND with TEST_DATABASE_URL and TEST_REDIS_URL set
"""

import fcntl
import hashlib
import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import psycopg
import redis

from lib.wait import wait_for

ROOT = Path(__file__).resolve().parents[3]
SERVERS_SH = ROOT / "deploy" / "dev.d" / "servers.sh"
OWNER = DATABASE = "expops"

# Without fsync and whole pages in the log the data survives a killed server, but not a crash of the machine, which tests do not need.
# Without jit as for the roles of services (deploy/init.sql).
POSTGRES_OPTIONS = ["-c", "fsync=off", "-c", "full_page_writes=off", "-c", "jit=off"]
REDIS_OPTIONS = ["--appendfsync", "no"]


def read_processes():
    """[(name, schema, variable with its address)] of deploy/processes."""
    rows = []
    for line in (ROOT / "deploy" / "processes").read_text().splitlines():
        line = line.partition("#")[0].split()
        if line:
            rows.append(tuple(line))
    return rows


PORTS = range(20000, 32000)  # below the range of outgoing connections
claims = []


def free_port():
    """A free port, which no other call returns, here or in another run on this machine. It is claimed by binding the UDP
    port of the same number until this program ends: a process may listen much later, and two processes could share a
    TCP port without an error (SO_REUSEPORT)."""
    while True:
        port = random.choice(PORTS)
        claim = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with socket.socket() as probe:
            try:
                claim.bind(("127.0.0.1", port))
                probe.bind(("127.0.0.1", port))
            except OSError:
                claim.close()
                continue
        claims.append(claim)
        return port


class Server:
    """Postgres or Redis: its port, password and log; starting and stopping it."""

    def __init__(self, base, name, options):
        self.base, self.name, self.options = base, name, options
        self.port = free_port()
        self.last_pid = None
        self.password = secrets.token_hex(16)
        self.log_path = base / f"{name}.log"

    def environment(self):
        """The passwords, for servers.sh."""
        return {**os.environ, "PASSWORD": self.password}

    def _script(self, verb, *args):
        command = [SERVERS_SH, f"{self.name}_{verb}", self.base, *args]
        done = subprocess.run(
            [str(word) for word in command], env=self.environment(), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{self.name}_{verb}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self):
        """Start it and wait until it answers. Does nothing when it is running."""
        if not self.is_running():
            self._script("start", self.port, self.log_path, *self.options)
            self.last_pid = self.pid()

    def is_running(self):
        """Whether the server that was last started has not ended. It has when all of its threads are dead ("Z" or "X"): a
        thread that is being killed gives up the program's memory first, and its files and ports later."""
        for task in Path(f"/proc/{self.last_pid}/task").glob("*"):
            try:
                state = (task / "stat").read_text().rpartition(") ")[2][0]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if state not in "ZX":
                return True
        return False

    def stop(self):
        """Stop it cleanly and wait for its end, as kill9() does."""
        self._script("stop")
        wait_for(lambda: not self.is_running(), f"{self.name} has ended")

    def pid(self):
        """The process id; None when it is not running."""
        return int(self._script("pid") or 0) or None

    def _signal(self, number):
        pid = self.pid()
        assert pid, f"{self.name} is not running"
        os.kill(pid, number)

    def kill9(self):
        """Kill it and wait until it has ended; start() would otherwise find it still running and do nothing."""
        self._signal(signal.SIGKILL)
        wait_for(lambda: not self.is_running(), f"{self.name} has ended")

    def pause(self):
        """SIGSTOP. New connections hang until resume(). Redis stops; open connections of Postgres keep working."""
        self._signal(signal.SIGSTOP)

    def resume(self):
        self._signal(signal.SIGCONT)

    def restart(self):
        self.stop()
        self.start()


def copy_for_server(source, path):
    """Copy a file into the folder of a server, for its user alone."""
    owner = path.parent.stat()
    path.touch(mode=0o600)
    path.write_bytes(source.read_bytes())
    os.chown(path, owner.st_uid, owner.st_gid)


class Postgres(Server):
    def __init__(self, base):
        super().__init__(base, "postgres", POSTGRES_OPTIONS)
        self.secret = secrets.token_hex(16)

    def role_password(self, role):
        return hashlib.sha256(f"{self.secret}:{role}".encode()).hexdigest()[:32]

    def url(self, role=OWNER, database=DATABASE):
        password = self.password if role == OWNER else self.role_password(role)
        return f"postgresql://{role}:{password}@127.0.0.1:{self.port}/{database}"

    def service_passwords(self):
        """SERVICE_PASSWORDS, as deploy/init.sql reads it."""
        names = [name.removeprefix("svc-") for name, _, _ in read_processes()]
        return " ".join(f"{name}={self.role_password('expops_' + name)}" for name in names)

    def prepare(self):
        """Create the database with the role and the schema of every service."""
        subprocess.run(
            [SERVERS_SH, "database_prepare", str(self.port)],
            env={**os.environ, "PGPASSWORD": self.password, "SERVICE_PASSWORDS": self.service_passwords()},
            check=True,
        )

    @contextmanager
    def with_tls(self, certificate, key):
        """In the block new connections may use TLS with this certificate; those that are open stay as they are."""
        copy_for_server(certificate, self.base / "pg" / "server.crt")
        copy_for_server(key, self.base / "pg" / "server.key")
        self._set_tls("on")
        try:
            yield
        finally:
            self._set_tls("off")

    def _set_tls(self, value):
        with self.connect() as db:
            db.execute(f"ALTER SYSTEM SET ssl = {value}")
            db.execute("SELECT pg_reload_conf()")
            wait_for(lambda: db.execute("SHOW ssl").fetchone()[0] == value, f"TLS is {value}")

    def connect(self, schema="public"):
        """A connection of the owner with the schema as search_path, in autocommit mode; rows are tuples."""
        return Connection.connect(self.url(), autocommit=True, options=f"-c search_path={schema}")


class Connection(psycopg.Connection):
    """Repeats a statement that Postgres ended because of a deadlock, as the processes do. Only for autocommit mode."""

    def execute(self, *args, **options):
        while True:
            try:
                return super().execute(*args, **options)
            except psycopg.errors.DeadlockDetected:
                if not self.autocommit:
                    raise


class PgBouncer:
    """PgBouncer with transaction pooling, in front of a Postgres."""

    def __init__(self, base, postgres):
        self.base, self.postgres = base, postgres
        self.port = free_port()
        self.log_path = base / "pgbouncer.log"

    def url(self, role):
        return f"postgresql://{role}:{self.postgres.role_password(role)}@127.0.0.1:{self.port}/{DATABASE}"

    def start(self):
        env = {**os.environ, "SERVICE_PASSWORDS": self.postgres.service_passwords()}
        command = [SERVERS_SH, "pgbouncer_start", self.base, self.port, self.postgres.port, self.log_path]
        subprocess.run([str(word) for word in command], env=env, check=True)

    def stop(self):
        subprocess.run([SERVERS_SH, "pgbouncer_stop", self.base], check=True)

    @staticmethod
    def has_prepared_statements():
        """Whether this version keeps the prepared statements of its clients apart (1.21)."""
        text = subprocess.run(["/usr/sbin/pgbouncer", "--version"], capture_output=True, text=True, check=True).stdout
        return tuple(int(part) for part in text.split()[1].split(".")[:2]) >= (1, 21)


class Redis(Server):
    def __init__(self, base):
        super().__init__(base, "redis", REDIS_OPTIONS)

    def user_password(self, name):
        return hashlib.sha256(f"{self.password}:{name}".encode()).hexdigest()[:32]

    def environment(self):
        passwords = [f"{name}={self.user_password(name)}" for name, _, _ in read_processes()]
        return {**super().environment(), "REDIS_PASSWORDS": " ".join(passwords)}

    def url(self, name=None):
        """As the user of a process, or else as the one who may do everything."""
        login = f"{name}:{self.user_password(name)}" if name else f":{self.password}"
        return f"redis://{login}@127.0.0.1:{self.port}/0"

    @contextmanager
    def with_tls(self, certificate, key, clients=None):
        """In the block it also listens by TLS, with this certificate, on the port that it gives, also after a restart. Clients show a
        certificate that the authority `clients` has signed, or need none."""
        port, folder = free_port(), self.base / "redis"
        copy_for_server(certificate, folder / "server.crt")
        copy_for_server(key, folder / "server.key")
        names = {
            "tls-cert-file": folder / "server.crt",
            "tls-key-file": folder / "server.key",
            "tls-auth-clients": "yes" if clients else "no",
            "tls-port": port,
        }
        if clients:
            copy_for_server(clients, folder / "clients.crt")
            names = {"tls-ca-cert-file": folder / "clients.crt", **names}
        options = self.options
        self.options = [*options, *(str(word) for name, value in names.items() for word in (f"--{name}", value))]
        self.client().execute_command("CONFIG SET", *(str(word) for row in names.items() for word in row))
        try:
            yield port
        finally:
            self.options = options
            self.client().config_set("tls-port", 0)

    def replica(self):
        """A replica of this server, with the same users, which has caught up. The caller stops it."""
        made = Redis(self.base / "replica")
        made.base.mkdir(exist_ok=True)
        made.base.chmod(0o711)
        made.password = self.password
        made.start()
        client = made.client()
        client.config_set("masterauth", self.password)
        client.replicaof("127.0.0.1", self.port)
        wait_for(lambda: client.info("replication")["master_link_status"] == "up", "the replica has caught up")
        return made

    def client(self, name=None):
        return redis.Redis.from_url(self.url(name), decode_responses=True)

    def client_of_bytes(self):
        """For values that are no text, such as copies of keys."""
        return redis.Redis.from_url(self.url())


FOLDERS = Path("/var/tmp")
PREFIX = "expops-test-"


def make_folder():
    """Create a folder with a lock file that this program keeps locked until it ends. The lock is taken before the file
    gets its name, so that remove_leftovers() never sees it unlocked."""
    base = Path(tempfile.mkdtemp(prefix=PREFIX, dir=FOLDERS))
    lock = open(base / "lock.new", "wb")
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(base / "lock.new", base / "lock")
    return base, lock


def remove_leftovers():
    """Stop the servers and remove the folders of runs that were killed."""
    for base in FOLDERS.glob(PREFIX + "*"):
        try:
            if base.lstat().st_uid != os.geteuid():
                continue
            with open(base / "lock", "r+b") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for verb in ("pgbouncer_stop", "postgres_stop", "redis_stop"):
                    subprocess.run([SERVERS_SH, verb, base], capture_output=True, check=False)
                subprocess.run([SERVERS_SH, "redis_stop", base / "replica"], capture_output=True, check=False)
                subprocess.run([SERVERS_SH, "postgres_stop", base / "other"], capture_output=True, check=False)
                shutil.rmtree(base, ignore_errors=True)
        except OSError:  # in use, or being created or removed
            continue


class Servers:
    """Postgres and Redis, in a temporary folder that the system users postgres and redis can access. With `has_pooler`,
    PgBouncer too."""

    def __init__(self, has_pooler=False):
        remove_leftovers()
        self.base, self.lock = make_folder()
        self.base.chmod(0o711)
        self.postgres = Postgres(self.base)
        self.redis = Redis(self.base)
        self.pgbouncer = PgBouncer(self.base, self.postgres) if has_pooler else None

    def __enter__(self):
        self.postgres.start()
        self.redis.start()
        self.postgres.prepare()
        if self.pgbouncer:
            self.pgbouncer.start()
        return self

    def __exit__(self, *_):
        if self.pgbouncer:
            self.pgbouncer.stop()
        for server in (self.postgres, self.redis):
            if server.pid():
                server.resume()
                server.stop()
        shutil.rmtree(self.base)
        self.lock.close()


def main():
    command = sys.argv[sys.argv.index("--") + 1:]
    with Servers() as servers:
        env = {**os.environ, "TEST_DATABASE_URL": servers.postgres.url(), "TEST_REDIS_URL": servers.redis.url()}
        return subprocess.run(command, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

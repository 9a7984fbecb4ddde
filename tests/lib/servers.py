"""A private Postgres and Redis for one run, under a folder of their own, made by deploy/dev.d/servers.sh.

    python3 -m lib.servers -- COMMAND...   runs it with TEST_DATABASE_URL and TEST_REDIS_URL set
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
from pathlib import Path

import psycopg
import redis

from lib.wait import wait_for

ROOT = Path(__file__).resolve().parents[2]
SERVERS_SH = ROOT / "deploy" / "dev.d" / "servers.sh"
OWNER = DATABASE = "expops"

# A test's data need not outlive the machine; it must outlive a killed server, which it does without fsync.
POSTGRES_OPTIONS = ["-c", "fsync=off"]
REDIS_OPTIONS = ["--appendfsync", "no"]


def read_processes():
    """[(name, schema, variable or None)] of deploy/processes."""
    rows = []
    for line in (ROOT / "deploy" / "processes").read_text().splitlines():
        line = line.partition("#")[0].split()
        if line:
            name, schema, variable = line
            rows.append((name, schema, None if variable == "-" else variable))
    return rows


PORTS = range(20000, 32000)  # below those that outgoing connections take theirs from
claims = []


def free_port():
    """A port that nobody listens on, and that no other call gives, here or in another run on this machine: processes may
    open theirs late, and share one without an error (SO_REUSEPORT). The claim is the UDP port of the same number, which
    is ours until we end."""
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
    """One of the two servers: its port, password and log, and its life."""

    def __init__(self, base, name, options):
        self.base, self.name, self.options = base, name, options
        self.port = free_port()
        self.password = secrets.token_hex(16)
        self.log_path = base / f"{name}.log"

    def _script(self, verb, *args):
        command = [SERVERS_SH, f"{self.name}_{verb}", self.base, *args]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{self.name}_{verb}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self):
        """Start it, and wait until it answers. Does nothing where it runs."""
        self._script("start", self.port, self.password, self.log_path, *self.options)

    def stop(self):
        """An orderly stop; waits for the end."""
        self._script("stop")

    def pid(self):
        """None where it does not run."""
        return int(self._script("pid") or 0) or None

    def _signal(self, number):
        pid = self.pid()
        assert pid, f"{self.name} does not run"
        os.kill(pid, number)

    def kill9(self):
        """Waits for the end: one that is still dying would pass for one that runs."""
        self._signal(signal.SIGKILL)
        wait_for(lambda: self.pid() is None, f"{self.name} has ended")

    def pause(self):
        """New connections hang until resume(); those that Postgres has go on, Redis stands still."""
        self._signal(signal.SIGSTOP)

    def resume(self):
        self._signal(signal.SIGCONT)

    def restart(self):
        self.stop()
        self.start()


class Postgres(Server):
    def __init__(self, base):
        super().__init__(base, "postgres", POSTGRES_OPTIONS)
        self.secret = secrets.token_hex(16)

    def role_password(self, role):
        return hashlib.sha256(f"{self.secret}:{role}".encode()).hexdigest()[:32]

    def url(self, role=OWNER, database=DATABASE):
        password = self.password if role == OWNER else self.role_password(role)
        return f"postgresql://{role}:{password}@127.0.0.1:{self.port}/{database}"

    def prepare(self):
        """The product's database with every service's role and schema."""
        names = [name.removeprefix("svc-") for name, _, _ in read_processes()]
        passwords = " ".join(f"{name}={self.role_password('expops_' + name)}" for name in names)
        subprocess.run(
            [SERVERS_SH, "database_prepare", self.url(database="")],
            env={**os.environ, "SERVICE_PASSWORDS": passwords},
            check=True,
        )

    def connect(self, schema="public"):
        """The owner's psycopg connection, which finds the schema's names; in autocommit mode, rows as tuples."""
        return psycopg.connect(self.url(), autocommit=True, options=f"-c search_path={schema}")


class Redis(Server):
    def __init__(self, base):
        super().__init__(base, "redis", REDIS_OPTIONS)

    def url(self):
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    def client(self):
        return redis.Redis.from_url(self.url(), decode_responses=True)


FOLDERS = Path("/var/tmp")
PREFIX = "expops-test-"


def make_folder():
    """A folder, and the lock in it that says that its owner lives; nobody ever sees the lock without a holder."""
    base = Path(tempfile.mkdtemp(prefix=PREFIX, dir=FOLDERS))
    lock = open(base / "lock.new", "wb")
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(base / "lock.new", base / "lock")
    return base, lock


def remove_leavings():
    """Stop and remove what runs that were killed have left."""
    for base in FOLDERS.glob(PREFIX + "*"):
        try:
            if base.lstat().st_uid != os.geteuid():
                continue
            with open(base / "lock", "r+b") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for verb in ("postgres_stop", "redis_stop"):
                    subprocess.run([SERVERS_SH, verb, base], capture_output=True, check=False)
                shutil.rmtree(base, ignore_errors=True)
        except OSError:  # in use, or being made or removed
            continue


class Servers:
    """Both, in a temporary folder that the servers' users can reach."""

    def __init__(self):
        remove_leavings()
        self.base, self.lock = make_folder()
        self.base.chmod(0o711)
        self.postgres = Postgres(self.base)
        self.redis = Redis(self.base)

    def __enter__(self):
        self.postgres.start()
        self.redis.start()
        self.postgres.prepare()
        return self

    def __exit__(self, *_):
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

"""deploy/image/postgres as in its container: in namespaces and a root folder of its own, with the folders that are volumes there.

with PostgresImage() as image:
    image.start()
    image.query("SELECT 1")
    image.stop()
"""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import psycopg

from lib.system.servers import ROOT
from lib.wait import wait_for

SYSTEM = ("bin", "dev", "etc", "lib", "lib64", "sbin", "usr", "var")
VOLUMES = ("data", "archive", "backup")
SCRIPTS = ("image/postgres", "archive-log", "backup", "restore")
PROGRAMS = "/opt/expops"
PATH = f"{PROGRAMS}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # of a container, not of these tests

# Enter the root folder $1 as the first process of a container, and run the rest as the user of Postgres.
ENTER = f"""
set -e
root=$1
shift
for name in {" ".join(SYSTEM)}; do
	[ ! -d "/$name" ] || mount --rbind "/$name" "$root/$name"
done
for name in {" ".join(VOLUMES)}; do
	mount --bind "$root/$name" "$root/$name"
done
mount --bind "$root/init" "$root/usr/local/share"
mount -t proc proc "$root/proc"
exec chroot --userspec=postgres:postgres "$root" "$@"
"""


class PostgresImage:
    def __init__(self):
        self.root = Path(tempfile.mkdtemp(prefix="expops-image-", dir="/tmp"))
        self.process = None
        self.log = self.root / "log"

    def __enter__(self):
        self.root.chmod(0o755)
        folders = (*SYSTEM, *VOLUMES, "proc", "tmp", "run/secrets", "init/expops", PROGRAMS.lstrip("/"))
        for folder in folders:
            (self.root / folder).mkdir(parents=True)
        for name in (*VOLUMES, "tmp"):
            shutil.chown(self.root / name, "postgres")
        for name in ("init.sql", "audit.sql"):
            shutil.copy(ROOT / "deploy" / name, self.root / "init" / "expops")
        for name in SCRIPTS:
            shutil.copy(ROOT / "deploy" / name, self.root / PROGRAMS.lstrip("/"))
        (self.root / "run" / "secrets" / "password").write_text("secret")
        (self.root / "run" / "secrets" / "SERVICE_PASSWORDS").write_text("gateway=secret")
        return self

    def __exit__(self, *_):
        if self.is_running():
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.root)

    def _command(self, *words):
        entered = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "sh", self.root, *words]
        environment = {"PATH": PATH, "PGHOST": "/tmp", "PGUSER": "expops"}
        return [str(word) for word in entered], {"env": environment, "cwd": "/"}

    def run(self, *words, **variables):
        """Run a command in a container beside it, on the same volumes."""
        command, options = self._command(*words)
        options["env"].update(variables)
        return subprocess.run(command, **options, capture_output=True, text=True, check=False)

    def start(self):
        command, options = self._command("postgres")
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, **options, stdout=log, stderr=log)

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def connect(self):
        return psycopg.connect(host=str(self.root / "tmp"), port=5432, user="expops", dbname="expops", autocommit=True)

    def query(self, text):
        with self.connect() as connection:
            return connection.execute(text).fetchone()[0]

    def is_ready(self):
        """Whether the server takes connections from outside; raises ChildProcessError when it has ended."""
        if not self.is_running():
            raise ChildProcessError(self.log.read_text())
        try:
            return self.query("SHOW listen_addresses") == "*"
        except psycopg.OperationalError:
            return False

    def wait_ready(self):
        wait_for(self.is_ready, "the server takes connections")

    def _signal(self, number):
        """Send a signal to the first process of the container; wait until all have ended, and return its exit status."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        os.kill(int(children[0]), number)
        return self.process.wait()

    def stop(self):
        """As `docker stop` does. Returns the exit status."""
        return self._signal(signal.SIGTERM)

    def kill9(self):
        """As `docker kill` does: what it has written stays."""
        self._signal(signal.SIGKILL)

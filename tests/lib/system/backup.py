"""Base backups of a Postgres and its archived log, from which it is restored to a named point, as deploy/OPERATIONS.md says.

    archive = Archive(servers)     # before the server starts
    archive.take_base()            # while it is in use
    archive.mark("noon")
    ...                            # the server and its data are lost
    archive.restore("noon")        # starts it again
"""

import os
import shutil
import subprocess

from lib.system.servers import OWNER, SERVERS_SH
from lib.wait import wait_for

ARCHIVED = "SELECT coalesce(last_archived_wal >= %s, false) FROM pg_stat_archiver"


class Archive:
    def __init__(self, servers):
        self.postgres = servers.postgres
        self.data, self.base, self.log = (servers.base / name for name in ("pg", "pg-backup", "pg-archive"))
        subprocess.run([SERVERS_SH, "private_dir", self.log, "postgres"], check=True)
        command = f"test ! -f {self.log}/%f && cp %p {self.log}/%f"
        self.postgres.options = [*self.postgres.options, "-c", "archive_mode=on", "-c", f"archive_command={command}"]

    def _as_postgres(self, *command):
        env = {**os.environ, "PGPASSWORD": self.postgres.password}
        subprocess.run([SERVERS_SH, "as_user", "postgres", *command], env=env, cwd="/", check=True)

    def take_base(self):
        """Copy the data while the server is in use."""
        subprocess.run([SERVERS_SH, "private_dir", self.base, "postgres"], check=True)
        server = ["-h", "127.0.0.1", "-p", str(self.postgres.port), "-U", OWNER]
        self._as_postgres("pg_basebackup", *server, "-D", self.base, "--wal-method=none", "--checkpoint=fast", "--no-sync")

    def mark(self, point):
        """Name this point of the log, and wait until the archive has all before it."""
        with self.postgres.connect() as connection:
            connection.execute("SELECT pg_create_restore_point(%s)", [point])
            (file,) = connection.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchone()
            wait_for(lambda: connection.execute(ARCHIVED, [file]).fetchone()[0], "the log is archived")

    def restore(self, point):
        """Start a server on the base backup, replay the archive up to the point, and wait until it takes writes. What the old
        server had is deleted."""
        assert not self.postgres.is_running()
        shutil.rmtree(self.data)
        self.base.rename(self.data)
        settings = {"restore_command": f"cp {self.log}/%f %p", "recovery_target_name": point, "recovery_target_action": "promote"}
        with open(self.data / "postgresql.auto.conf", "a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        (self.data / "recovery.signal").touch()
        # The socket is in the folder of the data here. Its lock names a process that may not be gone for the kernel yet.
        for lock in self.data.glob(".s.PGSQL.*.lock"):
            lock.unlink()
        self.postgres.start()
        with self.postgres.connect() as connection:
            wait_for(lambda: not connection.execute("SELECT pg_is_in_recovery()").fetchone()[0], "the server takes writes")

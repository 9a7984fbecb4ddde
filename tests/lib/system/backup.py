"""Base backups of a Postgres and its archived log, from which it is restored to a point or a time, by deploy/backup and deploy/restore.

    archive = Archive(servers)     # before the server starts
    archive.take_base()            # while it is in use
    archive.mark("noon")
    ...                            # the server and its data are lost
    archive.restore(name="noon")   # starts it again
"""

import os
import re
import shutil
import subprocess

from lib.system.servers import OWNER, ROOT, SERVERS_SH
from lib.wait import wait_for

ARCHIVED = "SELECT coalesce(last_archived_wal >= %s, false) FROM pg_stat_archiver"


class Archive:
    def __init__(self, servers):
        self.postgres = servers.postgres
        self.data, self.backups, self.log = (servers.base / name for name in ("pg", "pg-backups", "pg-archive"))
        for folder in (self.log, self.backups):
            subprocess.run([SERVERS_SH, "private_dir", folder, "postgres"], check=True)
        program = shutil.copy(ROOT / "deploy" / "archive-log", servers.base)  # the tree may be closed to the user of the server
        archiving = ["-c", "archive_mode=on", "-c", f'archive_command={program} "%p" {self.log}']
        self.postgres.options = [*self.postgres.options, *archiving]

    def segments(self):
        """{name of a segment: its file in the archive}"""
        return {path.name[:24]: path for path in self.log.iterdir() if re.fullmatch(r"[0-9A-F]{24}(\.gz)?", path.name)}

    def run(self, program, *arguments):
        """Run deploy/PROGRAM as the user of the server; returns what subprocess does."""
        server = {"PGHOST": "127.0.0.1", "PGPORT": str(self.postgres.port), "PGUSER": OWNER, "PGPASSWORD": self.postgres.password}
        script = (ROOT / "deploy" / program).read_text()  # which the user may not be able to read
        command = [SERVERS_SH, "as_user", "postgres", "bash", "-c", script, program, *map(str, arguments)]
        return subprocess.run(command, env={**os.environ, **server}, cwd="/", capture_output=True, text=True, check=False)

    def take_base(self, *options):
        """Copy the data while the server is in use. Returns the folder."""
        done = self.run("backup", self.backups, *options)
        assert done.returncode == 0, done.stderr
        self.base = done.stdout.strip()
        return self.base

    def now(self):
        """The time of the server, between what was committed and what will be."""
        with self.postgres.connect() as connection:
            return connection.execute("SELECT clock_timestamp()::text").fetchone()[0]

    def timeline(self):
        """The number of the timeline that the server writes."""
        with self.postgres.connect() as connection:
            (file,) = connection.execute("SELECT pg_walfile_name(pg_current_wal_lsn())").fetchone()
        return str(int(file[:8], 16))

    def mark(self, point):
        """Name this point of the log, and wait until the archive has all before it."""
        with self.postgres.connect() as connection:
            connection.execute("SELECT pg_create_restore_point(%s)", [point])
            (file,) = connection.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchone()
            wait_for(lambda: connection.execute(ARCHIVED, [file]).fetchone()[0], "the log is archived")

    def restore(self, **target):
        """Start a server on the last base backup, replay the archive up to `name` or `time`, and wait until it takes writes. What the
        old server had is deleted."""
        assert not self.postgres.is_running()
        shutil.rmtree(self.data)
        options = [word for name, value in target.items() for word in (f"--{name}", value)]
        done = self.run("restore", self.base, self.log, f"{self.backups}/restored", *options)
        assert done.returncode == 0, done.stderr
        (self.backups / "restored").rename(self.data)  # the folder of the servers belongs to another user
        self.postgres.start()
        with self.postgres.connect() as connection:
            wait_for(lambda: not connection.execute("SELECT pg_is_in_recovery()").fetchone()[0], "the server takes writes")

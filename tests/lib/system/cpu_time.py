"""CPU time of processes and of Postgres, from /proc. It does not depend on how fast requests come, nor much on other load."""

import os
from pathlib import Path


def cpu_of(cluster, name):
    return sum(cpu_of_process(process.popen.pid) for process in cluster[name])


def cpu_of_process(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class PostgresTime:
    """CPU time of all processes of a server, of those that ended, too."""

    def __init__(self, postgres):
        self.pid = postgres.pid()

    def children(self):
        return Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()

    def sessions_of(self, role):
        """The backends of the role, perhaps without a client: the time of one is in nobody's sum while it ends."""
        found = set()
        for pid in self.children():
            try:
                if f"postgres: {role} " in Path(f"/proc/{pid}/cmdline").read_text():
                    found.add(pid)
            except (FileNotFoundError, ProcessLookupError):
                continue
        return found

    def seconds(self):
        ticks = 0
        for pid in [str(self.pid), *self.children()]:
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            ticks += int(fields[11]) + int(fields[12]) + (int(fields[13]) + int(fields[14]) if pid == str(self.pid) else 0)
        return ticks / os.sysconf("SC_CLK_TCK")

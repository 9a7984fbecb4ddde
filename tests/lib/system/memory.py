"""How much memory processes take."""

from contextlib import contextmanager
from pathlib import Path


class Peak:
    def __init__(self, pids):
        self.pids = pids
        for pid in pids:  # the peak is now what is there now
            Path(f"/proc/{pid}/clear_refs").write_text("5")
        self.before = self.bytes()

    def bytes(self):
        lines = [line for pid in self.pids for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM:")]
        return sum(int(line.split()[1]) << 10 for line in lines)

    def grown_bytes(self):
        """By how much the peaks of the processes rose."""
        return self.after - self.before


@contextmanager
def peak_of(processes):
    peak = Peak([process.popen.pid for process in processes])
    yield peak
    peak.after = peak.bytes()

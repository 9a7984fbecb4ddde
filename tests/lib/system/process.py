"""One process of the cluster, which tests start, stop and kill."""

import os
import signal
import subprocess
from pathlib import Path

import httpx

from lib.http import plain_http
from lib.wait import PATIENCE_SECONDS, wait_for

SANITIZERS = {
    # Freed memory is kept to find accesses to it; more than this would hide what a process really uses.
    "ASAN_OPTIONS": "quarantine_size_mb=16",
    "TSAN_OPTIONS": f"suppressions={Path(__file__).with_name('tsan.supp')}",
}

# Texts that a sanitizer, require() or the stack protector writes before it ends a process.
REPORTS = (
    "ERROR: AddressSanitizer",
    "ERROR: LeakSanitizer",
    "WARNING: ThreadSanitizer",
    "runtime error:",
    "requirement failed",
    "stack smashing detected",
)
REPORT_LINES = 25  # shown of each report


class Process:
    """A process with the settings `env`. Its output is appended to `log_path`, also after a restart."""

    def __init__(self, name, binary, env, log_path, args=()):
        self.name, self.binary, self.env, self.log_path, self.args = name, binary, env, log_path, args
        self.popen = None
        self.faults = []  # reported at the end of the run

    @property
    def url(self):
        """The address of this replica, the first of LISTEN."""
        return f"http://{self.env['LISTEN'].partition(',')[0]}"

    @property
    def tls_url(self):
        """Its https:// address, which is the last of LISTEN."""
        return self.env["LISTEN"].rpartition(",")[2]

    @property
    def port(self):
        return int(self.url.rpartition(":")[2])

    @property
    def admin_port(self):
        return int(self.env["ADMIN_LISTEN"].rpartition(":")[2])

    @property
    def admin_url(self):
        return f"http://{self.env['ADMIN_LISTEN']}"

    @property
    def is_running(self):
        return self.popen is not None and self.popen.poll() is None

    def start(self, **options):
        """`options` for Popen: another standard output, for example."""
        assert not self.is_running, f"{self.name} is already running"
        with open(self.log_path, "ab") as log:
            options = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, **options}
            self.popen = subprocess.Popen([self.binary, *self.args], env={**SANITIZERS, **os.environ, **self.env}, **options)

    def is_ready(self):
        """Whether /readyz answers 200. Raises at once when the process has ended."""
        if not self.is_running:
            raise RuntimeError(f"{self.name} ended with {self.popen.returncode}:\n{self.log()[-4000:]}")
        try:
            return plain_http.get(self.admin_url + "/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def wait_ready(self):
        wait_for(self.is_ready, f"{self.name} ready")

    def metrics(self):
        """The text of /metrics."""
        answer = plain_http.get(self.admin_url + "/metrics")
        answer.raise_for_status()
        return answer.text

    def metric(self, name):
        """Sum of a metric over its labels; 0 when it is absent."""
        rows = [line.rsplit(" ", 1) for line in self.metrics().splitlines() if not line.startswith("#")]
        return sum(float(value) for series, value in rows if series.partition("{")[0] == name)

    def memory_bytes(self):
        """Resident memory."""
        with open(f"/proc/{self.popen.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def terminate(self):
        """Send SIGTERM. The process drains; a second SIGTERM ends DRAIN_DELAY."""
        if self.is_running:
            self.popen.send_signal(signal.SIGTERM)

    def stop(self):
        """Send SIGTERM. The process must drain and exit with 0."""
        if not self.is_running:
            return
        self.terminate()
        try:
            status = self.popen.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill9()
            self.faults.append(f"{self.name} did not end within {PATIENCE_SECONDS} s of SIGTERM")
            return
        if status != 0:
            self.faults.append(f"{self.name} ended with {status} after SIGTERM")

    def kill9(self):
        self.popen.kill()
        self.popen.wait()

    def pause(self):
        self.popen.send_signal(signal.SIGSTOP)

    def resume(self):
        self.popen.send_signal(signal.SIGCONT)

    def restart(self):
        self.stop()
        self.start()

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def check(self):
        """All faults so far: crashes that no test caused, and sanitizer reports."""
        faults = list(self.faults)
        if self.popen is not None and self.popen.poll() not in (None, 0, -signal.SIGKILL):
            faults.append(f"{self.name} ended with {self.popen.returncode}")
        return faults + self.reports()

    def reports(self):
        """What REPORTS are of, with what follows."""
        lines = self.log().splitlines()
        return ["\n    ".join([f"{self.name}: {line}", *lines[at + 1 : at + REPORT_LINES]])
                for at, line in enumerate(lines) if any(mark in line for mark in REPORTS)]

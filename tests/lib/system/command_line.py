"""The command line `expops`, run as a user runs it: with a home folder of its own, in a pipe or in a pseudo-terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from lib.system.process import REPORTS, SANITIZERS
from lib.wait import PATIENCE_SECONDS

FAILED, USAGE, NOT_FOUND, NOT_ALLOWED, NOT_FOLLOWED = 1, 2, 3, 4, 5  # its exit statuses

ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")  # of a colour, or of a line that is drawn again


def without_styles(text):
    return ESCAPE.sub("", text)


class CommandLine:
    """`expops` of a build, with this address and key unless they are None."""

    def __init__(self, build_dir, home, url=None, key=None):
        self.binary, self.home = build_dir / "gateway" / "cli" / "expops", home
        self.env = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", **SANITIZERS}
        self.env |= {name: value for name, value in {"EXPOPS_URL": url, "EXPOPS_KEY": key}.items() if value is not None}

    def environment(self, changes):
        return {name: value for name, value in {**self.env, **changes}.items() if value is not None}

    def run(self, *args, status=0, input="", cwd=None, new_session=False, **changes):
        """Run it in a pipe; returns what it printed. `status` is how it must exit, or None. `changes` are variables of the environment."""
        done = subprocess.run([self.binary, *args], input=input, env=self.environment(changes), cwd=cwd, start_new_session=new_session,
                              capture_output=True, text=True, errors="surrogateescape", timeout=PATIENCE_SECONDS, check=False)  # fmt: skip
        check(done.returncode, done.stdout + done.stderr)
        printed = (done.stdout + done.stderr).encode(errors="backslashreplace").decode()
        assert status is None or done.returncode == status, f"{args}: exit {done.returncode}\n{printed}"
        return done

    def start(self, *args, **changes):
        """Start it in a pipe; returns a subprocess.Popen."""
        return subprocess.Popen([self.binary, *args], env=self.environment(changes), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)  # fmt: skip

    def terminal(self, *args, columns=80, **changes):
        """Start it in a pseudo-terminal, which is its input, its output and its standard error."""
        return Terminal([str(self.binary), *args], self.environment(changes), columns)

    def screen(self, *args, status=0, **options):
        """Run it in a pseudo-terminal to its end; returns what that showed."""
        with self.terminal(*args, **options) as terminal:
            assert terminal.wait() == status, terminal.output
            return terminal.output


def check(status, text):
    """It neither crashed nor did a sanitizer report anything."""
    assert status >= 0, f"ended by {signal.Signals(-status).name}\n{text}"
    for report in REPORTS:
        assert report not in text, text


class Terminal:
    """A program in a pseudo-terminal."""

    def __init__(self, command, env, columns):
        self.written, self.output = b"", ""
        self.status = None
        self.pid, self.master = pty.fork()
        if self.pid == 0:  # which reads the size when it starts
            fcntl.ioctl(pty.STDIN_FILENO, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
            os.execve(command[0], command, env)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.master)

    def read(self, patience):
        """Add what it has written to `output`. False: it has closed the terminal, or nothing came in time."""
        if not select.select([self.master], [], [], patience)[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:  # EIO: the other side was closed
            return False
        self.written += data  # which may end within a character
        self.output = self.written.decode(errors="surrogateescape").replace("\r\n", "\n")
        return bool(data)

    def expect(self, text):
        """Wait until it has written the text."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while text not in self.output:
            assert self.read(deadline - time.monotonic()), f"{text!r} was not written: {self.output!r}"

    def type(self, text):
        os.write(self.master, text.encode())

    def is_echoing(self):
        """Whether the terminal shows what is typed."""
        return bool(termios.tcgetattr(self.master)[3] & termios.ECHO)

    def wait(self):
        """Wait until it has ended; returns its exit status, negative for a signal."""
        while self.read(PATIENCE_SECONDS):
            pass
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if self.status != -signal.SIGINT:
            check(self.status, self.output)
        return self.status

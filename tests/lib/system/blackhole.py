"""A port whose packets are dropped in both directions, as if its node had vanished: nothing is acknowledged, refused or reset.

    with Blackhole(process.port):
        ...

It needs iptables and root. lib/system/tcp_proxy.py needs neither, but acknowledges what it swallows.
"""

import os
import shutil
import subprocess

IPTABLES = shutil.which("iptables", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


class Blackhole:
    def __init__(self, port):
        self.rules = [["INPUT", "-i", "lo", "-p", "tcp", side, str(port), "-j", "DROP"] for side in ("--dport", "--sport")]

    def __enter__(self):
        for rule in self.rules:
            _run("-I", *rule)
        return self

    def __exit__(self, *_):
        for rule in self.rules:
            _run("-D", *rule)


def can_drop_packets():
    """Whether this machine lets tests change its packet filter."""
    if not IPTABLES:
        return False
    try:
        with Blackhole(1):
            return True
    except subprocess.CalledProcessError:
        return False


def _run(*args):
    subprocess.run([IPTABLES, "-w", *args], check=True, capture_output=True)

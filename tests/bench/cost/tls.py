#!/usr/bin/python3
"""What TLS costs the gateway: handshakes, and proxied requests on kept connections, beside nginx with the same certificate.

usage: tls.py PROXY_GATEWAY [--seconds N] [--rounds N] [--connections N] [--rsa]

Both have one thread, one service behind them and TLS 1.2 with ECDHE and AES-128-GCM, which is what both sides of a comparison have
on every Debian; nginx gathers its log lines, as the gateway does. They are measured in turn in each round, so that other load affects
both; the result is the median round. CPU time is that of the process. With `perf` its instructions are counted as well. Memory is what
a thousand connections add to the process after their handshakes, which need no buffer any more. Needs nginx, wrk and openssl.
"""

import argparse
import re
import shutil
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from proxy import BODY, NGINX_LOG, NGINX_PROXY, NGINX_SERVICE, Contender, free_port, write

IDLE_CONNECTIONS = 1000
TARGET = "/api/v1.0/experiments"

NGINX_TLS = """listen {listen} ssl; ssl_certificate {d}/certificate.pem; ssl_certificate_key {d}/key.pem; ssl_protocols TLSv1.2;
    ssl_ciphers ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256; ssl_ecdh_curve X25519; ssl_session_tickets on"""


def make_certificate(folder, is_rsa):
    key = ["rsa:2048"] if is_rsa else ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    subprocess.run(
        ["openssl", "req", "-x509", "-nodes", "-newkey", *key, "-days", "2", "-subj", "/CN=localhost", "-out", "certificate.pem", "-keyout", "key.pem"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip


class Proxy(Contender):
    """A proxy, plain or by TLS, with the samples of each measurement by its name."""

    def __init__(self, name, command, listen, scheme, **options):
        super().__init__(name, command, listen, **options)
        self.scheme, self.figures = scheme, {}

    def measure(self, what, work):
        """`work` returns how many units it has done."""
        counter = None
        if shutil.which("perf"):
            pids = ",".join(map(str, self.pids()))
            counter = subprocess.Popen(["perf", "stat", "-x,", "-e", "instructions:u", "-p", pids], stderr=subprocess.PIPE, text=True)
        before = self.cpu_seconds()
        count = work()
        used = (self.cpu_seconds() - before) / count * 1e6
        instructions = None
        if counter:
            counter.send_signal(2)
            found = re.match(r"(\d+),", counter.communicate()[1])
            instructions = int(found[1]) / count if found else None
        self.figures.setdefault(what, []).append((used, instructions))

    def pids(self):
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [self.process.pid, *map(int, children.split())]

    def shake_hands(self, seconds, kind):
        """Handshakes one after the other by openssl; `-new`, or `-reuse` with a ticket."""
        done = subprocess.run(["openssl", "s_time", "-connect", self.listen, "-tls1_2", kind, "-time", str(seconds)], capture_output=True, text=True, check=False)
        counts = re.findall(r"^(\d+) connections in \d+ real seconds", done.stdout, re.M)
        if not counts or int(counts[-1]) == 0:
            sys.exit(f"{self.name}: {done.stdout}{done.stderr}")
        return int(counts[-1])

    def requests(self, seconds, connections):
        out = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-H", "Authorization: Bearer key", f"{self.scheme}://{self.listen}{TARGET}"],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        if "Non-2xx" in out or "Socket errors" in out:
            sys.exit(f"{self.name}: {out}")
        return int(re.search(r"(\d+) requests in", out).group(1))

    def memory_bytes(self):
        return sum(int(line.split()[1]) for pid in self.pids() for line in open(f"/proc/{pid}/smaps_rollup", encoding="ascii") if line.startswith("Pss:")) * 1024

    def idle_bytes(self):
        """What a connection costs that has had its handshake and waits."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        host, port = self.listen.split(":")
        before, kept = self.memory_bytes(), []
        for _ in range(IDLE_CONNECTIONS):
            connection = socket.create_connection((host, int(port)))
            kept.append(context.wrap_socket(connection) if self.scheme == "https" else connection)
        used = (self.memory_bytes() - before) / IDLE_CONNECTIONS
        for connection in kept:
            connection.close()
        return used

    def median(self, what, at):
        values = [figure[at] for figure in self.figures[what] if figure[at] is not None]
        return statistics.median(values) if values else None


def proxies(options, folder, service, log):
    files = [str(Path(folder, name)) for name in ("certificate.pem", "key.pem")]
    for scheme in ("http", "https"):
        listen = f"127.0.0.1:{free_port()}"
        at = tempfile.mkdtemp(dir=folder)
        text = NGINX_PROXY.format(d=at, listen=listen, service=service, log=NGINX_LOG.format(buffer="buffer=32k flush=1s"),
                                  keys='"Bearer key" "account-1";')
        if scheme == "https":
            text = text.replace(f"listen {listen}", NGINX_TLS.format(listen=listen, d=folder))
        yield Proxy(f"nginx, {scheme}", ["nginx", "-p", at, "-c", write(at, "nginx.conf", text)], listen, scheme, log=log)
        listen = f"127.0.0.1:{free_port()}"
        command = [options.gateway, listen, service, *(files if scheme == "https" else [])]
        yield Proxy(f"gateway, {scheme}", command, listen, scheme, log=log)


def run(options, made):
    for _ in range(options.rounds):
        for proxy in made:
            proxy.measure("request", lambda: proxy.requests(options.seconds, options.connections))  # pylint: disable=cell-var-from-loop
            if proxy.scheme == "https":
                for what, kind in (("handshake", "-new"), ("continued", "-reuse")):
                    proxy.measure(what, lambda: proxy.shake_hands(options.seconds, kind))  # pylint: disable=cell-var-from-loop


def show(made):
    print(f"{'':16}{'of a':>12}{'CPU us':>10}{'ratio':>8}{'1000 instr.':>14}{'ratio':>8}")
    by_name = {proxy.name: proxy for proxy in made}
    for proxy in made:
        peer = by_name[f"nginx, {proxy.scheme}"]
        for what in proxy.figures:
            row = f"{proxy.name:16}{what:>12}"
            for at, unit in ((0, 1), (1, 1000)):
                value = proxy.median(what, at)
                row += f"{'-':>14}" if value is None else f"{value / unit:{10 + 4 * at}.1f}{value / peer.median(what, at):8.2f}"
            print(row)
    for proxy in made:
        print(f"{proxy.name:16}{proxy.idle_bytes() / 1024:8.1f} KiB for an idle connection")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gateway", help="the program tests/bench/proxy_gateway of a release build")
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--rsa", action="store_true", help="a key of RSA 2048 and not of P-256")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make_certificate(folder, options.rsa)
        service = f"127.0.0.1:{free_port()}"
        config = write(folder, "service.conf", NGINX_SERVICE.format(d=folder, listen=service, body=BODY))
        backend = Contender("service", ["nginx", "-p", folder, "-c", config], service)
        reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        made = list(proxies(options, folder, service, reader.stdin))
        run(options, made)
        show(made)
        for proxy in [*made, backend]:
            proxy.stop()
        reader.stdin.close()
        reader.wait()


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""CPU time of a file of the console: the gateway compared with nginx, which serves the same files with the same fields.

usage: console.py [--seconds N] [--rounds N] [--connections N]

Both send what was compressed with gzip at build time, and log each request, to a pipe as in a container; nginx also without a log. nginx
reads from files that it keeps open, the gateway from memory. They are measured in turn in each round; the result is the median. The
gateway is that of EXPOPS_BUILD_DIR, with one thread for requests. Needs nginx, wrk, and npm, which builds the console.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from proxy import NGINX_LOG, Contender, free_port, write

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.http import plain_http  # noqa: E402
from lib.system import cluster as cluster_settings  # noqa: E402
from lib.system.cpu_time import cpu_of  # noqa: E402
from lib.system.servers import ROOT  # noqa: E402

NGINX = """
worker_processes 1; daemon off; pid {d}/nginx.pid; error_log {d}/nginx.log;
events {{ worker_connections 4096; }}
http {{ {log} include /etc/nginx/mime.types; keepalive_requests 1000000000; sendfile on; tcp_nopush on; gzip_static on; gzip_vary on;
  open_file_cache max=1000 inactive=1h; open_file_cache_valid 1h;
  client_body_temp_path {d}/b; proxy_temp_path {d}/p; fastcgi_temp_path {d}/f; uwsgi_temp_path {d}/u; scgi_temp_path {d}/s;
  {fields}
  server {{ listen {listen};
    location /console/assets/ {{ alias {files}/assets/; }}
    location /console/ {{ alias {files}/; try_files $uri /console/index.html; }} }} }}
"""

SECURITY = ("Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy", "Permissions-Policy",
            "Cache-Control")  # fmt: skip


class Side:
    """A server: its address, the CPU time that it has used, and what was measured of it."""

    def __init__(self, name, url, cpu):
        self.name, self.url, self.cpu, self.samples = name, url, cpu, {}

    def etag(self, target):
        return plain_http.client().head(self.url + target, headers={"Accept-Encoding": "gzip"}).headers["ETag"]

    def run(self, case, target, is_known, options):
        fields = ["-H", "Accept-Encoding: gzip", *(["-H", f"If-None-Match: {self.etag(target)}"] if is_known else [])]
        before = self.cpu()
        out = subprocess.run(["wrk", "-t1", f"-c{options.connections}", f"-d{options.seconds}s", *fields, self.url + target],
                             check=True, capture_output=True, text=True).stdout  # fmt: skip
        used = self.cpu() - before
        count = int(re.search(r"(\d+) requests in", out).group(1))
        if "Socket errors" in out or "Non-2xx" in out and not is_known:
            raise SystemExit(f"{self.name}: {out}")
        self.samples.setdefault(case, []).append((used / count * 1e6, count / options.seconds))

    def medians(self, case):
        return [statistics.median(column) for column in zip(*self.samples[case], strict=True)]


def build_files(folder):
    """The console's files, and the target of its largest script."""
    subprocess.run([ROOT / "gateway/console/build", folder], check=True, capture_output=True)
    files = json.loads((folder / "manifest.json").read_text())["files"]
    scripts = {name: entry["length"] for name, entry in files.items() if name.endswith(".js")}
    return "/console/" + max(scripts, key=scripts.get)


def nginx_sides(folder, files, gateway_url, log):
    """nginx with the fields that the gateway sends."""
    answer = plain_http.client().head(gateway_url + "/console/")
    fields = "".join(f'add_header {name} "{answer.headers[name]}"; ' for name in SECURITY)
    for name, setting in (("nginx, log", NGINX_LOG.format(buffer="")), ("nginx, no log", "access_log off;")):
        listen = f"127.0.0.1:{free_port()}"
        at = tempfile.mkdtemp(dir=folder)
        config = write(at, "nginx.conf", NGINX.format(d=at, files=files, listen=listen, fields=fields, log=setting))
        process = Contender(name, ["nginx", "-p", at, "-c", config], listen, log=log)
        yield Side(name, f"http://{listen}", process.cpu_seconds), process


def measure(sides, script, options):
    cases = (("the page", "/console/", False), ("the page, known", "/console/", True), ("the largest script", script, False))
    print(f"{'':20}{'':18}{'CPU us/request':>16}{'ratio':>8}{'requests/s':>12}")
    for case in cases:
        for _ in range(options.rounds):
            for side in sides:
                side.run(*case, options)
        report(sides, case[0])


def report(sides, case):
    """The ratio is to the first side."""
    base = sides[0].medians(case)[0]
    for side in sides:
        cpu, rate = side.medians(case)
        print(f"{case:20}{side.name:18}{cpu:16.1f}{cpu / base:8.2f}{rate:12.0f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=64)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        files = Path(scratch, "files")
        script = build_files(files)
        os.chmod(scratch, 0o755)
        cluster_settings.SETTINGS.update(CONSOLE_DIR=str(files), WORKERS="1")
        reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        with cluster_settings.Cluster(1) as cluster:
            peers = list(nginx_sides(scratch, files, cluster.gateway_url, reader.stdin))
            gateway = Side("gateway, log", cluster.gateway_url, lambda: cpu_of(cluster, "gateway"))
            measure([*(side for side, _ in peers), gateway], script, options)
            for _, process in peers:
                process.stop()
        reader.stdin.close()
        reader.wait()


if __name__ == "__main__":
    main()

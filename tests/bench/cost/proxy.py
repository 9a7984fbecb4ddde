#!/usr/bin/python3
"""CPU time of a proxy per request: the gateway compared with nginx and HAProxy, with the same service and client.

usage: proxy.py PROXY_GATEWAY [--seconds N] [--rounds N] [--connections N]

The service is nginx, which returns 1 KB. Logs go to a pipe, as in a container, with about the same line for each
request; nginx also with lines gathered for a second, while the gateway gathers them for 10 ms. The proxies are measured in turn in each round, so that other load affects all
of them; the result is the median round. CPU time is that of the process, from /proc/PID/stat. Needs nginx, haproxy and
wrk.
"""

import argparse
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BODY = "x" * 1024
TARGET = "/api/v1.0/experiments"

NGINX_SERVICE = """
worker_processes 1; daemon off; pid {d}/service.pid; error_log {d}/service.log;
events {{ worker_connections 4096; }}
http {{ access_log off; keepalive_requests 1000000000; client_body_temp_path {d}/b; proxy_temp_path {d}/p;
  fastcgi_temp_path {d}/f; uwsgi_temp_path {d}/u; scgi_temp_path {d}/s;
  server {{ listen {listen} reuseport; location / {{ default_type application/json; return 200 "{body}"; }} }} }}
"""

NGINX_LOG = """
  log_format json escape=json '{{"time":"$time_iso8601","level":"info","process":"nginx","message":"request finished",'
    '"request_id":"$request_id","operation":"$uri","method":"$request_method","status":$status,'
    '"duration_ms":$request_time,"upstream_ms":$upstream_response_time,"received_bytes":$request_length,'
    '"sent_bytes":$body_bytes_sent,"peer":"$remote_addr"}}';
  access_log /dev/stdout json {buffer};
"""

NGINX_PROXY = """
worker_processes 1; daemon off; pid {d}/proxy.pid; error_log {d}/proxy.log;
events {{ worker_connections 4096; }}
http {{ {log} keepalive_requests 1000000000; client_body_temp_path {d}/pb; proxy_temp_path {d}/pp;
  fastcgi_temp_path {d}/pf; uwsgi_temp_path {d}/pu; scgi_temp_path {d}/ps;
  map_hash_bucket_size 128; map $http_authorization $account {{ default ""; "Bearer key" "account-1"; }}
  upstream service {{ server {service}; keepalive 128; keepalive_requests 1000000000; }}
  server {{ listen {listen}; location / {{
    if ($account = "") {{ return 401; }}
    proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection "";
    proxy_set_header X-Account $account; proxy_set_header X-Request-Id $request_id; }} }} }}
"""

HAPROXY = """
global
  nbthread 1
  maxconn 4096
defaults
  mode http
  timeout client 60s
  timeout server 60s
  timeout connect 5s
  http-reuse always
frontend edge
  bind {listen}
  http-request deny deny_status 401 unless {{ req.hdr(Authorization) -m str "Bearer key" }}
  http-request set-header X-Account account-1
  unique-id-format %{{+X}}o%ci_%cp_%Ts_%rt
  unique-id-header X-Request-Id
  default_backend service
backend service
  server s {service}
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(address):
    host, port = address.split(":")
    for _ in range(500):
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
            return
        except OSError:
            time.sleep(0.01)
    sys.exit(f"no process listens on {address}")


def write(folder, name, text):
    path = Path(folder, name)
    path.write_text(text)
    return str(path)


class Contender:
    """A running proxy and its measurements."""

    def __init__(self, name, command, listen, env=None, log=subprocess.DEVNULL):
        self.name, self.listen, self.samples = name, listen, []
        self.process = subprocess.Popen(
            command, stdout=log, stderr=subprocess.DEVNULL, env={**os.environ, **(env or {})}
        )
        wait_for(listen)

    def cpu_seconds(self):
        """CPU time of the process and its children; the nginx worker is a child."""
        pids = [self.process.pid]
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        pids += [int(pid) for pid in children.split()]
        ticks = 0
        for pid in pids:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def run(self, connections, seconds):
        before = self.cpu_seconds()
        out = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-H", "Authorization: Bearer key",
             f"http://{self.listen}{TARGET}"],
            check=True, capture_output=True, text=True,
        ).stdout
        used = self.cpu_seconds() - before
        requests = int(re.search(r"(\d+) requests in", out).group(1))
        if "Non-2xx" in out or "Socket errors" in out:
            sys.exit(f"{self.name}: {out}")
        self.samples.append((used / requests * 1e6, requests / seconds))

    def stop(self):
        self.process.terminate()
        self.process.wait()


def contenders(options, folder, service, log):
    logs = {
        "nginx, key map, log": NGINX_LOG.format(buffer=""),
        "nginx, key map, log of 1 s": NGINX_LOG.format(buffer="buffer=32k flush=1s"),
        "nginx, key map, no log": "access_log off;",
    }
    for name, setting in logs.items():
        listen = f"127.0.0.1:{free_port()}"
        at = tempfile.mkdtemp(dir=folder)
        config = write(at, "nginx.conf", NGINX_PROXY.format(d=at, listen=listen, service=service, log=setting))
        yield Contender(name, ["nginx", "-p", at, "-c", config], listen, log=log)
    listen = f"127.0.0.1:{free_port()}"
    config = write(folder, "haproxy.cfg", HAPROXY.format(listen=listen, service=service))
    yield Contender("HAProxy, key check", ["haproxy", "-db", "-f", config], listen)
    for name, level in (("gateway, log", "info"), ("gateway, no log", "warn")):
        listen = f"127.0.0.1:{free_port()}"
        yield Contender(name, [options.gateway, listen, service], listen, {"LOG_LEVEL": level}, log)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gateway", help="the program tests/bench/proxy_gateway of a release build")
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=64)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        service = f"127.0.0.1:{free_port()}"
        config = write(folder, "service.conf", NGINX_SERVICE.format(d=folder, listen=service, body=BODY))
        backend = Contender("service", ["nginx", "-p", folder, "-c", config], service)
        reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        proxies = list(contenders(options, folder, service, reader.stdin))
        for _ in range(options.rounds):
            for proxy in proxies:
                proxy.run(options.connections, options.seconds)
        for proxy in [*proxies, backend]:
            proxy.stop()
        reader.stdin.close()
        reader.wait()
    base = statistics.median(cpu for cpu, _ in proxies[0].samples)
    print(f"{'':28}{'CPU us/request':>16}{'ratio':>8}{'requests/s':>12}")
    for proxy in proxies:
        cpu = statistics.median(cpu for cpu, _ in proxy.samples)
        rate = statistics.median(rate for _, rate in proxy.samples)
        print(f"{proxy.name:28}{cpu:16.1f}{cpu / base:8.2f}{rate:12.0f}")


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""CPU time of a proxied request: the gateway compared with nginx and HAProxy, with the same service and client.

usage: proxy.py [--keys N] [--seconds N] [--rounds N]

The gateway is the whole one, with its Postgres and Redis, and limits none; the others look the key up in a map. All know N keys (10,000),
each of an account of its own, and requests have them in turn. The service is nginx, which returns 1 KB. Logs go to a pipe, as in a
container, with about the same line for each request. nginx gathers the lines for a second, as it is the first of the table; the gateway
for 10 ms. The proxies are measured in turn in each round, so that other load affects all of them; the result is the median round. Each
has requests before it is measured, so that the gateway knows the keys, as under steady load. CPU time is that of the process, from
/proc/PID/stat, and that of Postgres beside it, which looks the keys up. Needs nginx, haproxy and wrk.
"""

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cost import wrk_in_turn

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.system.cluster import Cluster  # noqa: E402
from lib.system.cpu_time import PostgresTime  # noqa: E402

BODY = "x" * 1024
WARM_SECONDS = 2

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
  map_hash_bucket_size 128; map_hash_max_size 65536; map $http_authorization $account {{ default ""; {keys} }}
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
  http-request set-header X-Account "%[req.hdr(Authorization),word(2,' '),map_str({keys})]"
  http-request deny deny_status 401 unless {{ req.hdr(X-Account) -m len gt 0 }}
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

    def __init__(self, name, command, listen, log=subprocess.DEVNULL):
        self.name, self.listen, self.samples = name, listen, []
        self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.DEVNULL)
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

    def run(self, users, seconds, postgres):
        def requests(seconds):
            return wrk_in_turn(f"http://{self.listen}", [(user.key, "/experiments") for user in users], "GET", None, seconds)

        requests(WARM_SECONDS)
        before, looked_up = self.cpu_seconds(), postgres.seconds()
        count = requests(seconds)
        own, other = self.cpu_seconds() - before, postgres.seconds() - looked_up
        self.samples.append((own / count * 1e6, other / count * 1e6, count / seconds))

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Gateway(Contender):
    """The gateway, with one loop for requests."""

    def __init__(self, name, cluster, service, log, level):
        settings = {"WORKERS": "1", "LOG_LEVEL": level, "EXPERIMENTS_URL": f"http://{service}"}
        own = cluster.separate("gateway", level, **settings)
        own.start(stdout=log, stderr=subprocess.DEVNULL)
        own.wait_ready()
        self.name, self.listen, self.samples, self.process = name, own.url.partition("://")[2], [], own.popen


def nginx_keys(users):
    return " ".join(f'"Bearer {user.key}" "{user.account}";' for user in users)


def contenders(cluster, users, folder, service, log):
    logs = {
        "nginx, log of 1 s": NGINX_LOG.format(buffer="buffer=32k flush=1s"),
        "nginx, each line at once": NGINX_LOG.format(buffer=""),
        "nginx, no log": "access_log off;",
    }
    for name, setting in logs.items():
        listen = f"127.0.0.1:{free_port()}"
        at = tempfile.mkdtemp(dir=folder)
        text = NGINX_PROXY.format(d=at, listen=listen, service=service, log=setting, keys=nginx_keys(users))
        yield Contender(name, ["nginx", "-p", at, "-c", write(at, "nginx.conf", text)], listen, log=log)
    listen = f"127.0.0.1:{free_port()}"
    keys = write(folder, "keys", "".join(f"{user.key} {user.account}\n" for user in users))
    config = write(folder, "haproxy.cfg", HAPROXY.format(listen=listen, service=service, keys=keys))
    yield Contender("HAProxy, no log", ["haproxy", "-db", "-f", config], listen)
    yield Gateway("gateway, log", cluster, service, log, "info")
    yield Gateway("gateway, no log", cluster, service, log, "warn")


def measure(cluster, options):
    """The proxies, measured; the first is what the others are compared with."""
    users = [cluster.user() for _ in range(options.keys)]
    with tempfile.TemporaryDirectory() as folder:
        service = f"127.0.0.1:{free_port()}"
        config = write(folder, "service.conf", NGINX_SERVICE.format(d=folder, listen=service, body=BODY))
        backend = Contender("service", ["nginx", "-p", folder, "-c", config], service)
        reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        proxies = list(contenders(cluster, users, folder, service, reader.stdin))
        postgres = PostgresTime(cluster.postgres)
        for _ in range(options.rounds):
            for proxy in proxies:
                proxy.run(users, options.seconds, postgres)
        for proxy in [*proxies, backend]:
            proxy.stop()
        reader.stdin.close()
        reader.wait()
        return proxies


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    with Cluster() as cluster:
        proxies = measure(cluster, parser.parse_args())
    rows = [(proxy.name, *map(statistics.median, zip(*proxy.samples))) for proxy in proxies]
    print(f"{'':28}{'CPU us/request':>16}{'ratio':>8}{'Postgres':>10}{'requests/s':>12}")
    for name, own, postgres, rate in rows:
        print(f"{name:28}{own:16.1f}{own / rows[0][1]:8.2f}{postgres:10.1f}{rate:12.0f}")


if __name__ == "__main__":
    main()

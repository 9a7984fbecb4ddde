#!/usr/bin/python3
"""Two operations from end to end, beside nginx with Fastify and pg: an interest is made, with the task that follows from it, and one is
read.

usage: rest.py [--seconds N] [--rounds N] [--accounts N]

Both sides use the same Postgres, with fsync, and 12 connections to it; proxy and service have one thread for requests each, check a
key and log each request. They are measured in turn by wrk over 32 connections, with the keys of N accounts (32) in turn. Requests
that come at the same time share a statement in expops (pg/batch.h); with --accounts 1 all that share one are of one account, which
costs less than those of many. The peer does less: no events, no limits, no triggers. CPU time is from /proc, that of Postgres includes
what it does in the background. Needs nginx, wrk and npm, which installs Fastify in tests/bench/cost/fastify.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from cost import PREFIX, wrk_in_turn
from jobs import npm_install
from proxy import NGINX_LOG, NGINX_PROXY, free_port, nginx_keys, wait_for, write

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.system import cluster as cluster_settings  # noqa: E402
from lib.system import servers  # noqa: E402
from lib.system.cpu_time import PostgresTime, cpu_of, cpu_of_process  # noqa: E402

PEER = Path(__file__).with_name("fastify")
PEER_TABLES = """
    DROP SCHEMA IF EXISTS peer CASCADE; CREATE SCHEMA peer; SET search_path = peer;
    CREATE TABLE interest (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), account uuid NOT NULL, name text NOT NULL,
        context text NOT NULL, daily_count int NOT NULL, created_at timestamptz NOT NULL DEFAULT now());
    CREATE UNIQUE INDEX ON interest (account, lower(name));
    CREATE INDEX ON interest (account, created_at DESC, id DESC);
    CREATE TABLE task (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), account uuid NOT NULL, kind text NOT NULL, input jsonb NOT NULL,
        status text NOT NULL DEFAULT 'pending', created_at timestamptz NOT NULL DEFAULT now());
    CREATE INDEX ON task (created_at) WHERE status = 'pending';
"""
BODY = {"name": "@", "context": "Attention over long sequences with less memory: tiles, kernels, states. " * 8, "daily_count": 5}


class Side:
    """One of the two: its address, and the CPU time of its parts."""

    def __init__(self, name, url, cpu):
        self.name, self.url, self.cpu = name, url, cpu
        self.samples = []

    def run(self, calls, method, body, seconds):
        before = self.cpu()
        count = wrk_in_turn(self.url, calls, method, body, seconds)
        used = [(now - then) / count * 1e6 for now, then in zip(self.cpu(), before)]
        self.samples.append([*used, count / seconds])

    def take_medians(self):
        medians = [statistics.median(column) for column in zip(*self.samples)]
        self.samples = []
        return medians


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def start_peer(cluster, users, folder):
    """nginx, which knows the keys, and behind it Fastify."""
    with cluster.postgres.connect() as db:
        db.execute(PEER_TABLES)
    service, listen = free_port(), free_port()
    log = open(Path(folder, "peer.log"), "wb")
    env = {**os.environ, "DATABASE_URL": cluster.postgres.url() + "?options=-csearch_path%3Dpeer", "NODE_ENV": "production"}
    node = subprocess.Popen(["node", PEER / "rest.mjs", str(service)], env=env, stdout=log)
    config = NGINX_PROXY.format(d=folder, listen=f"127.0.0.1:{listen}", service=f"127.0.0.1:{service}", log=NGINX_LOG.format(buffer=""),
                                keys=nginx_keys(users))
    nginx = subprocess.Popen(["nginx", "-p", folder, "-c", write(folder, "nginx.conf", config)], stdout=log)
    for port in (service, listen):
        wait_for(f"127.0.0.1:{port}")
    postgres = PostgresTime(cluster.postgres)

    def cpu():
        return [sum(map(cpu_of_process, children(nginx.pid))), cpu_of_process(node.pid), postgres.seconds()]

    return Side("nginx, Fastify, pg", f"http://127.0.0.1:{listen}", cpu), [nginx, node]


def own_side(cluster):
    postgres = PostgresTime(cluster.postgres)

    def cpu():
        return [cpu_of(cluster, "gateway"), cpu_of(cluster, "svc-interests"), postgres.seconds()]

    return Side("expops", cluster.gateway_url, cpu)


def raise_limit(cluster):
    """Let tasks wait that nobody runs. Processes with the role jobs would set this, by TASKS_PENDING_MAX."""
    with cluster.postgres.connect() as db:
        db.execute("UPDATE interests.task_limit SET pending_max = 1000000")


def first_interest(side, key):
    """Make one and return its path."""
    body = json.dumps({**BODY, "name": "the first"})
    out = subprocess.run(["curl", "-sf", "-H", f"Authorization: Bearer {key}", "-H", "Content-Type: application/json", "-d", body,
                          f"{side.url}{PREFIX}/interests"], check=True, capture_output=True).stdout
    return "/interests/" + json.loads(out)["id"]


def empty_queues(cluster):
    """The tasks of earlier rounds, which nobody has run: how many wait is counted, for the limit of an account."""
    with cluster.postgres.connect() as db:
        for task in ("interests.task", "peer.task"):
            db.execute(f"DELETE FROM {task}")
            db.execute(f"VACUUM (ANALYZE) {task}")


def callers(count):
    """Who makes the requests that share statements."""
    return f"{count} accounts" if count > 1 else "one account"


def compare(cluster, sides, users, options):
    reads = {side: [(user.key, first_interest(side, user.key)) for user in users] for side in sides}
    writes = [(user.key, "/interests") for user in users]
    for method in ("GET", "POST"):
        for _ in range(options.rounds):
            for side in sides:
                empty_queues(cluster)
                calls, body = (reads[side], None) if method == "GET" else (writes, json.dumps(BODY))
                side.run(calls, method, body, options.seconds)
        medians = {side: side.take_medians() for side in sides}
        peer = medians[sides[0]]
        print(f"{method + ' by ' + callers(len(users)):24}{'proxy':>8}{'service':>9}{'Postgres':>10}  CPU us each; of the peer's: without Postgres, all; requests/s")
        for side, (proxy, service, postgres, rate) in medians.items():
            print(f"  {side.name:22}{proxy:8.0f}{service:9.0f}{postgres:10.0f}    {(proxy + service) / (peer[0] + peer[1]):.2f}  "
                  f"{(proxy + service + postgres) / sum(peer[:3]):.2f}    {rate:.0f} ({rate / peer[3]:.2f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--accounts", type=int, default=32)
    options = parser.parse_args()
    npm_install(PEER)
    servers.POSTGRES_OPTIONS[:] = ["-c", "fsync=on"]
    limits = {"INTERESTS_MAX": "1000000", "ACTIVE_INTERESTS_MAX": "1000000"}
    cluster_settings.SETTINGS.update({"WORKERS": "1", "ROLES": "http", **limits})
    with cluster_settings.Cluster() as cluster, tempfile.TemporaryDirectory() as folder:
        print(f"load average: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        users = [cluster.user() for _ in range(options.accounts)]
        raise_limit(cluster)
        peer, processes = start_peer(cluster, users, folder)
        try:
            compare(cluster, [peer, own_side(cluster)], users, options)
        finally:
            for process in processes:
                process.terminate()
                process.wait()


if __name__ == "__main__":
    main()

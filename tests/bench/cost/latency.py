#!/usr/bin/python3
"""How long the reads and writes take that people make most, at one connection and at 16, and the CPU time of each.

usage: latency.py [--seconds N] [--accounts N]

The papers are those of the sample of `deploy/dev up`. Each of the accounts (16) has an interest with recommendations and 20
experiments; requests go through the gateway with the keys of all in turn. One replica of each process, with one thread for requests, and
Postgres with fsync. The times are those that wrk measures; CPU time is that of the gateway, the service and Postgres, from /proc, less
what they use at rest. Needs wrk and binaries of a release build.
"""

import argparse
import json
import os
import re
import sys
from pathlib import Path

from cost import Meter, answered, wrk_report
from mcp import digest_of

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.scenario.sample import load_sample  # noqa: E402
from lib.system import servers  # noqa: E402
from lib.system.cluster import SETTINGS, Cluster  # noqa: E402

CONNECTIONS = (1, 16)
EXPERIMENTS = 20
PAPER = "2605.11354"
DIGEST = "/papers/recommended/digest"
SEARCH = {"query": "long context attention with less memory", "max_results": 10}
EXPERIMENT = {"name": "@", "description": "What is tried, and why. " * 40, "tags": ["retrieval", "ranking"]}
PERCENTILE = re.compile(r"^ +(50|99)% +([0-9.]+)(us|ms|s)$", re.MULTILINE)
MILLISECONDS = {"us": 0.001, "ms": 1, "s": 1000}


class Reader:
    """An account with what its requests are about."""

    def __init__(self, user):
        self.key = user.key
        self.experiments = [user.api.post("/experiments", {"name": f"one {n}"}, expect=201).json()["id"] for n in range(EXPERIMENTS)]
        digest_of(user)
        self.recommendation = user.api.get("/papers/recommended?limit=1", expect=200).json()[0]["recommendation_id"]


KINDS = (
    # name, service, method, target of a reader, body
    ("the digest", "svc-interests", "GET", lambda reader: DIGEST, None),
    ("a search", "svc-search", "POST", lambda reader: "/search/assets", SEARCH),
    ("a paper", "svc-search", "GET", lambda reader: f"/search/assets/{PAPER}", None),
    ("a page of experiments", "svc-experiments", "GET", lambda reader: "/experiments?limit=20", None),
    ("an experiment", "svc-experiments", "GET", lambda reader: f"/experiments/{reader.experiments[0]}", None),
    ("making an experiment", "svc-experiments", "POST", lambda reader: "/experiments", EXPERIMENT),
    ("changing an experiment", "svc-experiments", "PUT", lambda reader: f"/experiments/{reader.experiments[1]}", {"hypothesis": "@"}),
    ("the same feedback again", "svc-interests", "POST",
     lambda reader: f"/papers/recommended/{reader.recommendation}/feedback", {"signal": "like"}),
)  # fmt: skip


def percentiles(report):
    """p50 and p99 in milliseconds."""
    return [float(value) * MILLISECONDS[unit] for _, value, unit in PERCENTILE.findall(report)]


def measure(cluster, readers, kind, seconds):
    name, service, method, target, body = kind
    calls = [(reader.key, target(reader)) for reader in readers]
    body = body and json.dumps(body)
    wrk_report(cluster.gateway_url, calls, method, body, 1)
    for connections in CONNECTIONS:
        meter = Meter(cluster, service)
        report = wrk_report(cluster.gateway_url, calls, method, body, seconds, connections=connections)
        count = answered(report)
        used = meter.micros(count)[:3]
        row = "".join(f"{value:9.2f}" for value in percentiles(report)) + f"{count / seconds:9.0f}"
        print(f"{name:24}{connections:12}{row}" + "".join(f"{micros:9.0f}" for micros in used), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--accounts", type=int, default=16)
    options = parser.parse_args()
    servers.POSTGRES_OPTIONS[:] = ["-c", "fsync=on"]
    SETTINGS["WORKERS"] = "1"
    with Cluster() as cluster:
        load_sample(cluster)
        readers = [Reader(cluster.user()) for _ in range(options.accounts)]
        Meter.measure_rest(cluster)
        print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print(f"{'':24}{'connections':>12}{'p50 ms':>9}{'p99 ms':>9}{'a second':>9}{'gateway':>9}{'service':>9}{'Postgres':>9}   CPU us each")
        for kind in KINDS:
            measure(cluster, readers, kind, options.seconds)


if __name__ == "__main__":
    main()

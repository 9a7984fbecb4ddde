#!/usr/bin/python3
"""What a call of a tool costs beside the same operation by REST.

usage: mcp.py [--seconds N] [--rounds N]

One replica of each process, with one thread for requests, and Postgres with fsync. Both sides are measured in turn by wrk over 32
connections. CPU time is that of the gateway, the service and Postgres, from /proc. The service does the same for both; for a tool the
gateway also reads the message, makes the operation's request, shapes the answer and writes it twice, as text and as structure. Needs wrk.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

from cost import PREFIX, wrk_in_turn

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.http.mcp import envelope  # noqa: E402
from lib.scenario.sample import load_sample  # noqa: E402
from lib.system import cluster as cluster_settings  # noqa: E402
from lib.system import servers  # noqa: E402
from lib.system.cpu_time import PostgresTime, cpu_of  # noqa: E402

LABELS = ("gateway", "service", "Postgres")


class Pair:
    """An operation, and the tool that is one call of it."""

    def __init__(self, service, request, tool, **arguments):
        self.service, self.tool = service, tool
        self.method, self.target, self.body = request
        self.call = json.dumps(envelope("tools/call", {"name": tool, "arguments": arguments}, request_id=1))
        self.samples = {"REST": [], "tool": []}

    def run(self, cluster, key, seconds):
        self.measure(cluster, "REST", seconds, [(key, self.target)], self.method, self.body, PREFIX)
        self.measure(cluster, "tool", seconds, [(key, "/mcp")], "POST", self.call, "")

    def measure(self, cluster, side, seconds, calls, method, body, prefix):
        postgres = PostgresTime(cluster.postgres)

        def now():
            return [cpu_of(cluster, "gateway"), cpu_of(cluster, self.service), postgres.seconds()]

        wrk_in_turn(cluster.gateway_url, calls, method, body, 1, prefix)
        before = now()
        count = wrk_in_turn(cluster.gateway_url, calls, method, body, seconds, prefix)
        self.samples[side].append([(end - begin) / count * 1e6 for end, begin in zip(now(), before, strict=True)])

    def medians(self, side):
        return [statistics.median(column) for column in zip(*self.samples[side], strict=True)]

    def report(self):
        sides = {side: self.medians(side) for side in self.samples}
        for side, micros in sides.items():
            print(f"{self.tool if side == 'tool' else self.target:44}" + "".join(f"{value:9.0f}" for value in micros))
        ratio = sum(sides["tool"]) / sum(sides["REST"])
        print(f"{'':44}{'':27}{ratio:9.2f}")
        return ratio


def pairs(user):
    made = [user.api.post("/experiments", {"name": f"one {n}"}, expect=201).json()["id"] for n in range(20)][0]
    query = {"query": "long context attention with less memory", "max_results": 5}
    return [
        Pair("svc-search", ("POST", "/search/assets", json.dumps(query)), "search_papers", **query),
        Pair("svc-search", ("GET", "/search/assets/2605.11354", None), "get_paper", arxiv_id="2605.11354"),
        Pair("svc-experiments", ("GET", f"/experiments/{made}", None), "get_experiment", experiment_id=made),
        Pair("svc-experiments", ("GET", "/experiments?limit=20", None), "list_experiments", limit=20),
        Pair("svc-interests", ("GET", "/papers/recommended/digest", None), "get_digest"),
        Pair("svc-fleet", ("GET", "/fleet/agents/inbox", None), "list_inbox"),
    ]


def digest_of(user):
    """An interest with recommendations, for the digest."""
    body = {"name": "Efficient attention", "context": "Attention for long sequences that needs less memory."}
    user.api.post("/interests", body, expect=201)
    user.api.wait_task(user.api.post("/papers/recommended/refresh", {"num_results": 5}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    cluster_settings.SETTINGS.update({"WORKERS": "1"})
    servers.POSTGRES_OPTIONS[:] = ["-c", "fsync=on"]
    with cluster_settings.Cluster(1) as cluster:
        load_sample(cluster)
        user = cluster.user()
        digest_of(user)
        print(f"{'':44}" + "".join(f"{label:>9}" for label in LABELS) + "   CPU us each, and the ratio")
        ratios = []
        for pair in pairs(user):
            for _ in range(options.rounds):
                pair.run(cluster, user.key, options.seconds)
            ratios.append(pair.report())
        print(f"greatest ratio: {max(ratios):.2f}")


if __name__ == "__main__":
    main()

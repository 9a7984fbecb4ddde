#!/usr/bin/python3
"""Bytes that requests leave in Postgres, by table: what a setting of days costs (deploy/RETENTION.md).

usage: bytes.py [--requests N]

Of each kind of request N are made, one after the other, through the gateway, with an Idempotency-Key where the operation takes one. The
growth of each table, with indexes and large values, is that of `PROCESS retention --show`, divided by N. The account has an endpoint that
wants all messages. Bytes do not depend on the machine, so any build will do.
"""

import argparse
import sys
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.outside.receiver import Receiver  # noqa: E402
from lib.system.cluster import Cluster  # noqa: E402
from lib.tables import common  # noqa: E402
from lib.wait import wait_for  # noqa: E402

RATES = (1, 100, 1000)
DAY_S = 86400
SHOWN_MIN = 8  # bytes a request


def sizes(cluster):
    """{(process, table): (bytes, setting or end)}"""
    found = {}
    for name in cluster.processes:
        for line in cluster.run(name, "retention", "--show", timeout=120).splitlines()[1:]:
            table, _, size, _, setting, end = line.split(None, 5)
            found[name, table] = (int(size), end if setting == "-" else setting)
    return found


def wait_settled(cluster):
    """Until all events are sent and handled."""
    for _, schema, _ in cluster.rows:
        with cluster.postgres.connect(schema) as db:
            wait_for(lambda: common.unsent(db) == 0, f"the events of {schema} are sent")


class Requests:
    def __init__(self, user):
        self.api, self.repo = user.api, "acme/ranker"
        body = {"name": "agent", "kind": "automation", "scopes": ["fleet:report"], "repo": self.repo}
        self.agent = self.api.as_key(self.api.post("/account/api-keys", body, expect=201).json()["key"])

    def run(self, n):
        """Two reports: the start, and the end with what an agent tells of its selection."""
        base = {"run_id": n, "repo": self.repo, "agent": "agent_one", "model": "model-1", "started_at": "2026-11-01T09:00:00Z"}
        end = {"status": "pr_opened", "finished_at": "2026-11-01T09:12:00Z", "cost_usd": 0.42, "input_tokens": 90000, "output_tokens": 4000,
               "test_status": "passed", "lint_status": "passed", "arxiv_id": f"2301.{n % 90000:05}", "files_touched": ["src/one.py"],
               "artifact_url": f"https://github.com/{self.repo}/pull/{n}", "refine_queries": ["ranking with few labels", "listwise losses"],
               "selection_rejected": [{"arxiv_id": f"2302.{(20 * n + i) % 90000:05}", "reason": "too broad for this repository"} for i in range(20)]}
        self.agent.post("/fleet/runs", {**base, "status": "running"})
        self.agent.post("/fleet/runs", {**base, **end})

    def experiment(self, n):
        self.api.post("/experiments", {"name": f"experiment {n}", "hypothesis": "A listwise loss ranks better with few labels. " * 4},
                      headers={"Idempotency-Key": str(uuid.uuid4())}, expect=201)

    def change(self, n):
        """A change of an experiment."""
        if n == 0:
            self.changed = self.api.post("/experiments", {"name": "changed"}, expect=201).json()["id"]
        self.api.put(f"/experiments/{self.changed}", {"decision": f"Look again in week {n}."}, expect=200)

    def evaluation(self, n):
        """An evaluation run and its result."""
        if n == 0:
            self.template = self.api.post("/eval-env/templates", {"name": "t", "spec": {"image": "i:1", "command": "true"}}, expect=201).json()
        run = self.api.post("/eval-env/runs", {"template_id": self.template["template_id"], "params": {"seed": n}},
                            headers={"Idempotency-Key": str(uuid.uuid4())}, expect=201).json()
        self.api.post("/eval-env/webhooks/results", {"run_id": run["run_id"], "status": "succeeded", "metrics": {"ndcg": 0.4, "recall": 0.8}},
                      headers={"webhook-id": run["run_id"]}, expect=200)

    def read(self, n):
        self.api.get("/experiments?limit=1", expect=200)


KINDS = ("read", "run", "experiment", "change", "evaluation")


def measure(cluster, requests, kind, count):
    before = sizes(cluster)
    for n in range(count):
        getattr(requests, kind)(n)
    wait_settled(cluster)
    after = sizes(cluster)
    grown = {key: ((after[key][0] - before[key][0]) / count, after[key][1]) for key in after}
    total = sum(size for size, _ in grown.values())
    print(f"\n{kind}: {total:.0f} bytes; GB a day at " + ", ".join(f"{rate}/s {total * rate * DAY_S / 1e9:.3g}" for rate in RATES))
    for (name, table), (size, end) in sorted(grown.items(), key=lambda item: -item[1][0]):
        if size >= SHOWN_MIN:
            print(f"  {name:<17} {table:<22} {size:8.0f}  {end}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=2000)
    args = parser.parse_args()
    with Cluster(1) as cluster, Receiver() as receiver:
        user = cluster.user()
        user.api.post("/webhooks", {"kind": "webhook", "name": "all", "url": receiver.url, "events": ["*"]}, expect=201)
        requests = Requests(user)
        for kind in KINDS:
            measure(cluster, requests, kind, args.requests)


if __name__ == "__main__":
    main()

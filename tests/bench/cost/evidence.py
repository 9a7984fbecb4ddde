#!/usr/bin/python3
"""The way of an experiment from its paper to its decision, with many runs on its paper: the time of the two operations.

usage: evidence.py [--runs N] [--reads N]

Each run has a selection of 20 papers and a pull request; the paper was recommended for 50 interests, and every tenth run passed it over.
Reads come one at a time through the gateway; the percentiles are wall time, the CPU times those of all processes of Postgres and of the
services together. Needs binaries of a release build.
"""

import argparse
import json
import statistics
import sys
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.system.cluster import Cluster  # noqa: E402
from lib.system.cpu_time import PostgresTime, cpu_of  # noqa: E402
from lib.tables import fleet as fleet_tables  # noqa: E402
from lib.tables import interests as interests_tables  # noqa: E402

PAPER, REPO = "2205.14135", "acme/ranker"
BATCH = 100  # reports that are stored together
SERVICES = ("svc-experiments", "svc-interests", "svc-fleet", "svc-evalenv", "svc-search")


def report(number):
    at = datetime(2026, 1, 1, tzinfo=timezone.utc) + timedelta(minutes=10 * number)
    rejected = [{"arxiv_id": f"2301.{(number * 20 + n) % 90000:05}", "reason": "too broad for this repository"} for n in range(20)]
    is_refusal = number % 10 == 0
    if is_refusal:
        rejected.append({"arxiv_id": PAPER, "reason": "needs a GPU"})
    shown = {"status": "pr_opened", "agent": "agent_one", "model": "model-1", "cost_usd": 0.37, "started_at": at.isoformat(),
             "finished_at": (at + timedelta(minutes=9)).isoformat(), "broad_pool_size": 50, "test_status": "passed",
             "files_touched": ["src/one.py"], "artifact_url": f"https://github.com/{REPO}/pull/{number}"}  # fmt: skip
    if not is_refusal:
        shown["arxiv_id"] = PAPER
    return {"repo": REPO, "run_id": number, "report": shown, "detail": {"selection_rejected": rejected}}


def seed(cluster, user, runs):
    """Returns the experiment."""
    with cluster.postgres.connect("fleet") as db:
        for first in range(1, runs + 1, BATCH):
            numbers = range(first, min(first + BATCH, runs + 1))
            fleet_tables.store_together(db, [{"account": user.account, **report(number)} for number in numbers])
    with cluster.postgres.connect("interests") as db:
        interests_tables.add_interests(db, user.account, [f"interest {n}" for n in range(50)], is_active=False)
        db.commit()
    for interest in user.api.get("/interests?limit=100", expect=200).json():
        with cluster.postgres.connect("interests") as db:
            interests_tables.add_recommendation(db, interest["id"], PAPER)
    context = {"resource": {"arxiv_id": PAPER}, "target_repo": REPO}
    body = {"name": "E", "launch_context": context, "outcome": "ship", "pr_url": f"https://github.com/{REPO}/pull/{runs - 1}"}
    for _, schema, _ in cluster.rows:
        with cluster.postgres.connect(schema) as db:
            db.autocommit = True
            db.execute("ANALYZE")
    return user.api.post("/experiments", body, expect=201).json()["id"]


def cpu_seconds(cluster, postgres):
    """Of Postgres and of the services."""
    return postgres.seconds(), sum(cpu_of(cluster, service) for service in SERVICES)


def measure(cluster, http, name, path, reads, postgres):
    def get():
        answer = http.get(path)
        assert answer.status_code == 200, answer.text
        return answer

    get()
    before, times = cpu_seconds(cluster, postgres), []
    for _ in range(reads):
        begin = time.perf_counter()
        answer = get()
        times.append((time.perf_counter() - begin) * 1000)
    used = [(after - was) / reads * 1000 for was, after in zip(before, cpu_seconds(cluster, postgres), strict=True)]
    times.sort()
    print(f"{name:<12} p50 {statistics.median(times):6.1f}  p95 {times[int(0.95 * reads)]:6.1f}  "
          f"CPU of Postgres {used[0]:6.1f}, of services {used[1]:6.1f}  ms  "
          f"{len(answer.content) / 1024:.0f} KiB, {len(json.loads(answer.content).get('nodes', []))} nodes")  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--reads", type=int, default=50)
    args = parser.parse_args()
    with Cluster(1) as cluster:
        operator, user = cluster.user(operator=True), cluster.user()
        operator.api.put(f"/search/assets/{PAPER}", {"title": "FlashAttention"}, expect=200)
        experiment = seed(cluster, user, args.runs)
        postgres = PostgresTime(cluster.postgres)
        http = httpx.Client(base_url=f"{cluster.gateway_url}/api/v1.0", headers={"Authorization": f"Bearer {user.key}"})
        measure(cluster, http, "evidence", f"/experiments/{experiment}/evidence", args.reads, postgres)
        measure(cluster, http, "outcomes", f"/search/assets/{PAPER}/outcomes", args.reads, postgres)


if __name__ == "__main__":
    main()

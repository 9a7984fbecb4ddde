"""`deploy/dev status` of a cluster at given addresses, or by its Prometheus."""

import json
import os
import re
import subprocess
import time
import uuid
from datetime import UTC, datetime

import pytest

from lib.system.servers import ROOT, free_port
from lib.outside.stub_server import StubServer
from lib.tables import common
from lib.wait import wait_for

DEAD = "events.dead.svc-fleet"


def status(*args):
    return subprocess.run([ROOT / "deploy" / "dev", "status", *args], capture_output=True, text=True, check=False)


def targets(cluster):
    return [f"{name}={one.env['ADMIN_LISTEN']}" for name, replicas in cluster.processes.items() for one in replicas]


def rows(printed):
    """{process: its row}"""
    first, *_ = printed.partition("\n\n")
    return {line.split()[0]: re.split(r"  +", line) for line in first.splitlines()}


@pytest.fixture
def dead_event(cluster):
    redis = cluster.redis.client()
    redis.delete(DEAD)
    redis.xadd(DEAD, {"stream": "events.account", "id": str(uuid.uuid4()), "type": "account.deleted"})
    process = cluster["svc-fleet"][0]
    wait_for(lambda: 'expops_dead_letters{type="event"} 1\n' in process.metrics(), "the dead event is counted")
    yield
    redis.delete(DEAD)


def test_a_reader_may_go_away(cluster):
    reader, writer = os.pipe()
    os.close(reader)
    command = [ROOT / "deploy" / "dev", "status", *targets(cluster)]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert "Traceback" not in done.stderr, done.stderr


def test_a_cluster_at_addresses(cluster, dead_event):
    done = status(*targets(cluster))
    assert done.returncode == 0, done.stdout + done.stderr
    shown = rows(done.stdout)
    for name, replicas in cluster.processes.items():
        assert shown[name][1] == f"{len(replicas)}/{len(replicas)}", done.stdout
    assert shown["svc-fleet"][-1] == "1" and shown["gateway"][-1] == "0"
    assert re.search(r"^events.account +svc-fleet +[\d.]+ s +0$", done.stdout, re.M), done.stdout
    assert "svc-fleet has dead letters: svc-fleet dead list" in done.stdout


def test_the_operator_page_has_the_same_figures(cluster, dead_event):
    """What waits, runs and was given up: the page shows GET /tasks/summary."""
    operator = cluster.user(operator=True).api
    with cluster.postgres.connect("interests") as db:
        common.add_late_task(db, "of_status", hours=1)
        common.add_delayed_task(db, "of_status")

        def figures():
            shown = rows(status(*targets(cluster)).stdout)
            summary = operator.get("/tasks/summary", expect=200).json()["services"]
            of_page = {row["service"]: [str(row[name]) for name in ("queued", "running", "dead", "dead_events")] for row in summary}
            of_status = {name: [row[at] for at in (6, 7, -2, -1)] for name, row in shown.items() if name in of_page}
            assert of_status == of_page
            assert (of_page["svc-interests"][0], of_page["svc-fleet"][3]) == ("1", "1"), of_page
            return True

        wait_for(figures, "both show the same")
        common.drop_tasks(db, "of_status")


def test_a_replica_that_is_away_and_one_that_is_not_ready(cluster):
    starting = cluster.separate("svc-fleet", "status", DATABASE_URL="postgres://nobody@127.0.0.1:1/nothing")
    starting.start()
    try:
        away, unready = f"127.0.0.1:{free_port()}", starting.env["ADMIN_LISTEN"]
        wait_for(lambda: "not migrated" in status(f"svc-fleet={unready}").stdout, "it answers")
        done = status(*targets(cluster), f"svc-fleet={away}", f"svc-fleet={unready}")
    finally:
        starting.stop()
    assert done.returncode == 1
    assert rows(done.stdout)["svc-fleet"][1] == "1/3", done.stdout
    assert f"svc-fleet {away}: does not answer" in done.stdout
    assert f"svc-fleet {unready}: the schema is not migrated" in done.stdout


def series(cluster):
    """What Prometheus answers of the cluster's metrics."""
    for name, replicas in cluster.processes.items():
        for one in replicas:
            for line in one.metrics().splitlines():
                metric, _, value = line.rpartition(" ")
                label = re.fullmatch(r"(\w+)(?:\{(.*)\})?", metric)
                if label and not line.startswith("#"):
                    labels = dict(re.findall(r'(\w+)="([^"]*)"', label[2] or ""))
                    known = {"__name__": label[1], "job": "expops", "service": name, "instance": one.env["ADMIN_LISTEN"]}
                    yield {"metric": {**labels, **known}, "value": [0, value]}


def test_by_prometheus(cluster, dead_event):
    found = list(series(cluster)) + [
        {"metric": {"__name__": "up", "job": "expops", "service": "svc-search", "instance": "10.0.0.9:9090"}, "value": [0, "0"]}
    ]
    prometheus = StubServer(lambda request: request.reply(200, json.dumps({"data": {"result": found}})))
    try:
        done = status("--prometheus", prometheus.url)
    finally:
        prometheus.close()
    shown = rows(done.stdout)
    assert shown["svc-search"][1] == "1/2" and shown["svc-fleet"][1] == "1/1" and shown["svc-fleet"][-1] == "1", done.stdout
    assert "svc-search 10.0.0.9:9090: does not answer Prometheus" in done.stdout and done.returncode == 1


def test_services_without_a_replica(cluster):
    """One whose only replica is down, and one that Prometheus does not find at all."""
    away = {"metric": {"__name__": "up", "job": "expops", "service": "svc-search", "instance": "10.0.0.9:9090"}, "value": [0, "0"]}
    found = [away] + [one for one in series(cluster) if one["metric"]["service"] not in ("svc-search", "svc-evalenv")]
    prometheus = StubServer(lambda request: request.reply(200, json.dumps({"data": {"result": found}})))
    try:
        done = status("--prometheus", prometheus.url)
    finally:
        prometheus.close()
    shown = rows(done.stdout)
    assert shown["svc-search"] == ["svc-search", "0/1", *["-"] * 10] and shown["svc-evalenv"] == ["svc-evalenv", "0/0", *["-"] * 10], done.stdout
    assert shown["svc-fleet"][1] == "1/1" and shown["svc-fleet"][2] != "-", done.stdout
    assert "\n  svc-search 10.0.0.9:9090: does not answer Prometheus\n  svc-evalenv: Prometheus knows no replica\n" in done.stdout, done.stdout
    assert done.returncode == 1


def test_papers_are_shown_by_set():
    at = {"job": "expops", "service": "svc-search", "instance": "10.0.0.9:9090", "source": "arxiv", "set": "cs"}
    due = datetime(2026, 11, 26, 3, 34, tzinfo=UTC).timestamp()
    values = {"last_success_seconds": time.time() - 7230, "missed_announcements": 2, "added_papers": 612, "next_seconds": due}
    values = {"expops_ready": 1, **{f"expops_harvest_{name}": value for name, value in values.items()}}
    found = [{"metric": {**at, "__name__": name}, "value": [0, str(value)]} for name, value in values.items()]
    prometheus = StubServer(lambda request: request.reply(200, json.dumps({"data": {"result": found}})))
    try:
        done = status("--prometheus", prometheus.url)
    finally:
        prometheus.close()
    assert "\narxiv cs: 612 new last night, next 22:34 New York, 2 announcements missed\n" in done.stdout, done.stdout


def test_wrong_arguments():
    assert status("--prometheus", "http://127.0.0.1:1", "gateway=127.0.0.1").returncode == 2
    done = status("--prometheus", "http://127.0.0.1:1")
    assert done.returncode == 1 and "cannot be asked" in done.stderr

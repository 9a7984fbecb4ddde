"""Statements that take longer than SLOW_MS are logged and counted by name, with their plan, and without what users wrote."""

import json
import secrets
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.http.client import Api
from lib.tables import common, experiments
from lib.wait import wait_for

SLOW_MS = 50
SECRET = "a hypothesis that stays ours"


@pytest.fixture
def slow(cluster):
    """A svc-experiments that logs statements of SLOW_MS, and a gateway before it."""
    service = cluster.separate("svc-experiments", "slow", SLOW_MS=str(SLOW_MS))
    gateway = cluster.separate("gateway", "slow", EXPERIMENTS_URL=service.url)
    for process in (service, gateway):
        process.start()
        process.wait_ready()
    yield service, gateway
    for process in (gateway, service):
        process.stop()
        assert process.check() == []


def lines(service, message):
    written = [json.loads(line) for line in service.log().splitlines()]
    return [line for line in written if line["message"] == message and line.get("name") == "experiment_update"]


def update_slowly(cluster, api, experiment):
    """Change an experiment while another transaction holds it for longer than SLOW_MS."""
    with cluster.postgres.connect("experiments") as holder, cluster.postgres.connect("experiments") as db, ThreadPoolExecutor(1) as pool:
        with holder.transaction():
            experiments.lock_experiment(holder, experiment)
            sent = pool.submit(api.put, f"/experiments/{experiment}", {"hypothesis": SECRET})
            wait_for(lambda: common.blocked_for(db, "experiments") > 2 * SLOW_MS, "the statement has waited")
        assert sent.result().status_code == 200, sent.result().text


def test_a_statement_that_waits_for_a_lock(cluster, slow, user):
    service, gateway = slow
    api = Api(gateway.url, user.key)
    made = api.post("/experiments", {"name": "slow"}, expect=201).json()["id"]
    update_slowly(cluster, api, made)
    wait_for(lambda: lines(service, "plan of a slow statement"), "the plan is logged")
    update_slowly(cluster, api, made)
    wait_for(lambda: len(lines(service, "statement was slow")) == 2, "both are logged")
    for line in lines(service, "statement was slow"):
        assert line["level"] == "warn" and line["group"] == "pg" and line["duration_ms"] >= SLOW_MS and line["sqlstate"] == ""
        assert line["request_id"]
    assert f'expops_pg_slow_statements_total{{statement="experiment_update"}} 2\n' in service.metrics()
    service.terminate()
    wait_for(lambda: not service.is_running, "it has ended")
    (plan,) = lines(service, "plan of a slow statement")
    assert "experiment" in plan["plan"] and "cost=" in plan["plan"] and "actual" not in plan["plan"]
    assert SECRET not in service.log()
    service.start()
    service.wait_ready()


@pytest.mark.parametrize("number", range(5))  # not each has one
def test_a_command_ends_with_a_slow_statement(cluster, number):  # pylint: disable=unused-argument
    assert cluster.run("gateway", "create-user", "--email", f"slow-{secrets.token_hex(4)}@example.org", SLOW_MS="1")

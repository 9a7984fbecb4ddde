"""Deleting an account that has one of everything: a minute later nothing names it, in any table or stream."""

import secrets

import pytest

from lib.scenario.deletion import traces
from lib.scenario.possessions import Possessions
from lib.tables import gateway as gateway_tables
from lib.wait import wait_for

MARK, EXTERNAL_ID = (f"{name}{secrets.token_hex(8)}" for name in ("deleted", "tracker-user"))


@pytest.fixture
def victim(cluster, code_host):
    return Possessions(cluster, code_host, MARK, EXTERNAL_ID)


def nothing_is_left(cluster, names):
    left = traces(cluster, names)
    assert not left, left
    return True


def test_nothing_names_a_deleted_account(cluster, code_host, victim):
    api, repo = victim.api, victim.repo
    with cluster.postgres.connect("account") as db:
        email = gateway_tables.email_of(db, victim.account)
    pull = f"https://github.com/{repo}/pull/1"
    victim.team.agent().post("/fleet/runs", {"run_id": "r", "repo": repo, "status": "pr_opened", "artifact_url": pull}, expect=201)
    api.post("/fleet/trigger", {"repo": repo}, expect=200)
    api.post("/fleet/agents/refresh", {"full": True}, expect=200)
    api.get(f"/fleet/run-status?repo={repo}", expect=200)
    api.get(f"/github/app/installation?repo={repo}", expect=200)
    cluster.redis.client().xadd("events.dead.svc-interests", {"account": victim.account, "error": MARK})
    names = [victim.account, email, repo, MARK, EXTERNAL_ID]
    belong_to_nobody = {"fleet.code_host_item", "fleet.run_status", "integrations.installation"}
    assert traces(cluster, names) >= belong_to_nobody | {"events.experiments", "events.runs"}
    with code_host.held_deliveries():
        api.post("/account/delete", {"confirm": True}, expect=200)
        wait_for(lambda: nothing_is_left(cluster, names), "the account is forgotten")

"""Fixtures of the tests of messages."""

import pytest

from lib.check import messages
from lib.scenario.fleet import REPO, SCOPES
from lib.scenario.provisioning import new_team
from lib.wait import wait_for


@pytest.fixture
def told(cluster, user):
    """told(type): the data of the messages of that type that the account of `user` was told."""
    return lambda type, of=user: messages.told(cluster, of.account, type)


@pytest.fixture
def report(api):
    """report(run_id, **members): a report of a run on REPO."""
    body = {"name": "agent", "kind": "automation", "scopes": SCOPES, "repo": REPO}
    key = api.as_key(api.post("/account/api-keys", body, expect=201).json()["key"])

    def send(run_id, **members):
        answer = key.post("/fleet/runs", {"run_id": run_id, "repo": REPO, **members})
        assert answer.status_code in (200, 201), answer.text

    return send


@pytest.fixture
def fleet(cluster):
    with cluster.postgres.connect("fleet") as made:
        yield made


@pytest.fixture
def team(cluster, code_host):
    return new_team(cluster, code_host)


@pytest.fixture
def papers_of(operator):
    """papers_of(team): refresh the team's interest once the index has a paper for it."""

    def refresh(team):
        paper = {"title": "Ranking of documents", "abstract": "Ranking of documents by what is read."}
        operator.api.put("/search/assets/2205.14136", paper, expect=200)
        wait_for(lambda: team.api.post("/search/assets", {"query": "ranking documents"}, expect=200).json(), "it can be found")
        team.api.wait_task(team.api.post("/papers/recommended/refresh", {"interest_id": team.interest}, expect=202))

    return refresh

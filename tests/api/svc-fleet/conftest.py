"""Fixtures of the tests of svc-fleet: the keys of agents and the reports that their runs send."""

import itertools

import pytest

from lib.fleet import REPO, SCOPES


@pytest.fixture
def db(cluster):
    """A connection to the schema, as the owner of the database."""
    with cluster.postgres.connect("fleet") as connection:
        yield connection


@pytest.fixture
def agent(api):
    """agent(repo): a client with the key of the agent on a repository."""

    def make(repo=REPO, of=api, **limits):
        body = {"name": "agent", "kind": "automation", "scopes": SCOPES, "repo": repo, **limits}
        return of.as_key(of.post("/account/api-keys", body, expect=201).json()["key"])

    return make


@pytest.fixture
def report(agent):
    """report(run_id, **members): the record after a report of a run on REPO."""
    key = agent()

    def send(run_id, expect=None, **members):
        answer = key.post("/fleet/runs", {"run_id": run_id, "repo": REPO, **members})
        assert answer.status_code == expect if expect else answer.status_code in (200, 201), answer.text
        return answer.json()

    return send


@pytest.fixture
def new_id():
    """new_id(): a run id that was not used before in the test."""
    numbers = itertools.count(1000)
    return lambda: next(numbers)

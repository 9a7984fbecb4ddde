"""Fixtures of the tests of provisioning."""

import pytest

from lib.counterparts import connect
from lib.provisioning import Team
from lib.wait import wait_for


@pytest.fixture
def new_team(cluster, code_host):
    """new_team(**members of the interest): a new team."""

    def make(has_app=True, has_model_key=True, **members):
        api, at_host = cluster.user().api, code_host.user()
        connect(api, "code_host", at_host.login)
        app = code_host.install(at_host.login) if has_app else 0
        repo = code_host.repository(at_host.login)
        body = {"name": "Better ranking", "context": f"Ranking of documents in {code_host.url}/{repo}.", **members}
        interest = api.post("/interests", body, expect=201).json()["id"]
        team = Team(cluster, code_host, api, at_host.login, app, repo, interest)
        if has_model_key:
            team.connect_model()
        wait_for(team.pool_is_ready, "the pool is ready")
        return team

    return make


@pytest.fixture
def team(new_team):
    return new_team()

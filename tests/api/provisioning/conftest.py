"""Fixtures of the tests of provisioning, and of the workflow that it puts into repositories."""

import json

import pytest

from lib.outside.counterparts import connect
from lib.outside.git_host import GitHost
from lib.scenario.provisioning import Team
from lib.system.servers import ROOT
from lib.outside.tools import CHANGE, Tools
from lib.wait import wait_for
from lib.outside.workflow import Runner

SAMPLE = ROOT / "deploy" / "sample" / "papers.jsonl"


@pytest.fixture(scope="session")
def make_team(cluster, code_host):
    """make_team(**members of the interest): a new team."""

    def make(has_app=True, has_model_key=True, **members):
        api, at_host = cluster.user().api, code_host.user()
        connect(api, "code_host", at_host.login)
        app = code_host.install(at_host.login) if has_app else 0
        repo = code_host.repository(at_host.login)
        body = {"name": "Better ranking", "context": f"Ranking of documents in {code_host.url}/{repo}.", **members}
        interest = api.post("/interests", body, expect=201).json()["id"]
        team = Team(cluster, code_host, api, at_host, app, repo, interest)
        if has_model_key:
            team.connect_model()
        wait_for(team.pool_is_ready, "the pool is ready")
        return team

    return make


@pytest.fixture
def new_team(make_team):
    return make_team


@pytest.fixture
def team(new_team):
    return new_team()


@pytest.fixture(scope="session")
def papers(cluster):
    """The sample papers, {arXiv id: paper}, which can be found."""
    cluster.run("svc-search", "import", SAMPLE)
    loaded = {paper["id"]: paper for paper in map(json.loads, SAMPLE.read_text(encoding="utf-8").splitlines())}
    api = cluster.user().api
    wait_for(lambda: api.get("/search/stats").json()["index"]["documents"] >= len(loaded), "the papers are indexed")
    return loaded


@pytest.fixture(scope="session")
def git_host(cluster, code_host):
    made = GitHost(code_host, cluster.servers.base / "git")
    yield made
    made.close()


@pytest.fixture(scope="session")
def tools(cluster):
    return Tools(cluster.servers.base / "tools")


@pytest.fixture(scope="session")
def runner(cluster, code_host, git_host, tools):
    made = Runner(code_host, git_host, cluster.servers.base / "runs", [tools.folder])
    yield made
    made.close()


@pytest.fixture(scope="module")
def working_team(make_team, papers):
    """A team whose agent works."""
    made = make_team()
    made.provision(auto_merge=True)
    return made


@pytest.fixture
def usual(tools, runner, git_host):
    """The agent makes a change; repositories have no variables, and none is protected."""
    tools.agent(CHANGE)
    runner.variables = {}
    git_host.protected.clear()

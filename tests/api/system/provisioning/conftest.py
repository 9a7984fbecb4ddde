"""Fixtures of the tests of provisioning, and of the workflow that it puts into repositories."""

import functools
import json

import pytest

from lib.outside.git_host import GitHost
from lib.scenario import provisioning
from lib.system.servers import ROOT
from lib.outside.tools import CHANGE, Tools
from lib.wait import wait_for
from lib.outside.workflow import Runner

SAMPLE = ROOT / "deploy" / "sample" / "papers.jsonl"


@pytest.fixture(scope="session")
def make_team(cluster, code_host):
    """make_team(**members of the interest): a new team."""

    return functools.partial(provisioning.new_team, cluster, code_host)


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

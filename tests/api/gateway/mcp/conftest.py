"""Fixtures of the tests of the agent-tool protocol: a cluster with the sample papers, and clients of both eras."""

import pytest

from lib.fixtures import run_cluster
from lib.http.mcp import Mcp
from lib.scenario.sample import load_sample
from lib.system.cluster import Cluster
from lib.wait import wait_for

CONTEXT = "Attention for long sequences that needs less memory: sparse, linear, IO-aware kernels."


@pytest.fixture(scope="session")
def cluster():
    with run_cluster(Cluster(1)) as made:
        yield made


@pytest.fixture(scope="session")
def papers(cluster):
    return load_sample(cluster)


@pytest.fixture
def mcp(cluster, user):
    """A modern client with a key that has all scopes of an account."""
    return Mcp(cluster.gateway_url, user.key)


@pytest.fixture
def legacy(cluster, user):
    return Mcp(cluster.gateway_url, user.key, is_modern=False)


def refresh(mcp):
    """Compute recommendations, by the tools."""
    task = mcp.call("refresh_recommendations")

    def ended():
        now = mcp.call("refresh_recommendations", task_id=task["task_id"])
        return now if now["status"] in ("completed", "failed") else None

    assert wait_for(ended, "the refresh ended")["status"] == "completed"


@pytest.fixture
def digest(papers, mcp):
    """The digest of a new account with one interest."""
    mcp.call("create_interest", name="Efficient attention", context=CONTEXT)
    refresh(mcp)
    return mcp.call("get_digest", period="week")

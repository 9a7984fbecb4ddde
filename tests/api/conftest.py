import pytest

from lib.fixtures import *  # noqa: F401,F403


@pytest.fixture(scope="module")
def all_scopes(cluster):
    """A client with every scope, which checks its answers against the description."""
    return cluster.user(operator=True).api

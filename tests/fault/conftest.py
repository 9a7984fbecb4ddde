import pytest

from lib.fixtures import *  # noqa: F401,F403


@pytest.fixture(autouse=True)
def recovered(cluster):
    """Start again what the test stopped."""
    yield
    cluster.recover()

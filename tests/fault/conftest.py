import pytest

from lib.fixtures import *  # noqa: F401,F403


@pytest.fixture(autouse=True)
def recovered(cluster):
    """Whatever a test broke runs again before the next one starts."""
    yield
    cluster.recover()

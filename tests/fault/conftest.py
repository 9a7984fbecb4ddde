import pytest

from lib import fixtures
from lib.fixtures import cluster, code_host, oauth_provider  # noqa: F401 of its own: its tests fill the index and train embedders


def pytest_configure(config):
    fixtures.register(config)


@pytest.fixture(autouse=True)
def recovered(request):
    """Start again what the test stopped, if it uses the cluster."""
    cluster = request.getfixturevalue("cluster") if "cluster" in request.fixturenames else None
    yield
    if cluster:
        cluster.recover()

import signal

import pytest

from lib import fixtures
from lib.tables import gateway as gateway_tables
from lib.wait import wait_for


def pytest_configure(config):
    fixtures.register(config)


@pytest.fixture(scope="module")
def all_scopes(cluster):
    """A client with every scope, which checks its answers against the description."""
    return cluster.user(operator=True).api


@pytest.fixture
def forget_key(cluster):
    """`forget_key(key)`: it ended longer ago than the gateway keeps keys."""

    def forget(key):
        with cluster.postgres.connect("account") as db:
            gateway_tables.end_long_ago(db, key, days=801)
            cluster["gateway"][0].popen.send_signal(signal.SIGHUP)
            wait_for(lambda: not gateway_tables.key_is_kept(db, key), "the key is deleted")

    return forget

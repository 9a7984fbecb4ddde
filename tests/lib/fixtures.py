"""What every folder of black-box tests has: its conftest.py is `from lib.fixtures import *`.

    cluster      the running product, one for the whole session (lib.cluster.Cluster)
    user         a new account with a key to everything that an account may do (lib.cluster.User)
    other_user   another one, whose things `user` must not see
    operator     a new account with the operator's scopes too
    api          user.api: a client whose answers are held against gateway/openapi.yaml (lib.client.Api)
    anonymous    a client without a key

A test that fails shows what each process logged meanwhile. The session fails when a process crashed, did not drain on
SIGTERM, or a sanitizer spoke, even where every test passed.
"""

import os

import pytest

from lib.client import Api
from lib.cluster import Cluster

__all__ = ["cluster", "user", "other_user", "operator", "api", "anonymous", "log_marks", "pytest_runtest_makereport"]

LOG_BYTES_SHOWN = 6000

running = None  # the session's cluster, for the hooks below


@pytest.fixture(scope="session")
def cluster():
    global running
    made = Cluster(replicas=int(os.environ.get("EXPOPS_REPLICAS", "1")))
    try:
        with made:
            running = made
            yield made
            for process in made.all():
                process.stop()
            faults = made.check()
        assert not faults, "processes misbehaved:\n" + "\n".join(faults)
    finally:
        running = None


@pytest.fixture
def user(cluster):
    return cluster.user()


@pytest.fixture
def other_user(cluster):
    return cluster.user()


@pytest.fixture
def operator(cluster):
    return cluster.user(operator=True)


@pytest.fixture
def api(user):
    return user.api


@pytest.fixture
def anonymous(cluster):
    return Api(cluster.gateway_url)


@pytest.fixture(autouse=True)
def log_marks(request):
    """How long each log was when the test began."""
    request.node.log_marks = {name: len(text) for name, text in running.logs().items()} if running else {}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if not report.failed or running is None or call.when == "teardown":
        return
    marks = getattr(item, "log_marks", {})
    for name, text in running.logs().items():
        news = text[marks.get(name, 0):]
        if news:
            report.sections.append((f"log of {name}", news[-LOG_BYTES_SHOWN:]))

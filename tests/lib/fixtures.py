"""What every folder of black-box tests has: its conftest.py is `from lib.fixtures import *`.

    cluster      the running product, one for the whole session (lib.cluster.Cluster)
    pair         another one, with two replicas of every process behind balancers
    user         a new account with a key to everything that an account may do (lib.cluster.User)
    other_user   another one, whose things `user` must not see
    operator     a new account with the operator's scopes too
    api          user.api: a client whose answers are held against gateway/openapi.yaml (lib.client.Api)
    anonymous    a client without a key

A test that fails shows what each process logged meanwhile. The session fails when a process crashed, did not drain on
SIGTERM, or a sanitizer spoke, even where every test passed.
"""

from contextlib import contextmanager

import pytest

from lib.client import Api
from lib.cluster import Cluster

__all__ = ["cluster", "pair", "user", "other_user", "operator", "api", "anonymous", "log_marks", "pytest_runtest_makereport"]

LOG_BYTES_SHOWN = 3000

# A line for every request says little about a failure; the others do.
ROUTINE = '"message":"request finished"'

running = []  # the session's clusters, for the hook below


@contextmanager
def run_cluster(replicas):
    with Cluster(replicas) as made:
        running.append(made)
        try:
            yield made
        finally:
            running.remove(made)
            for process in made.all():
                process.stop()
            faults = made.check()
    assert not faults, "processes misbehaved: " + "\n".join(faults)


@pytest.fixture(scope="session")
def cluster():
    with run_cluster(1) as made:
        yield made


@pytest.fixture(scope="session")
def pair():
    with run_cluster(2) as made:
        yield made


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


def logs():
    """{(cluster, what): text} of every log."""
    return {(index, name): text for index, one in enumerate(running) for name, text in one.logs().items()}


@pytest.fixture(autouse=True)
def log_marks(request):
    """How long each log was when the test began."""
    request.node.log_marks = {name: len(text) for name, text in logs().items()}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if not report.failed or call.when == "teardown":
        return
    marks = getattr(item, "log_marks", {})
    for name, text in logs().items():
        news = [line for line in text[marks.get(name, 0):].splitlines() if ROUTINE not in line]
        if news:
            report.sections.append((f"log of {name[1]}", "\n".join(news)[-LOG_BYTES_SHOWN:]))

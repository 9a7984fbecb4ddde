"""Fixtures of all black-box tests: the conftest.py of api, fault and upgrade call register().

    cluster      the running product, one for the whole session (lib.system.cluster.Cluster); some folders and files have their own,
                 which ends with the last of the files that lib/schedule.py keeps together
    pair         a second one, with two replicas of every process behind balancers
    user         a new account with a key that has all scopes of an account (lib.system.cluster.User)
    other_user   a second account, whose data `user` must not see
    operator     a new account that has the scopes of an operator, too
    api          user.api: a client that checks its answers against gateway/openapi.yaml (lib.http.client.Api)
    anonymous    a client without a key

    code_host        the code host and tracker_a (lib.outside.counterparts.CodeHost), for `cluster`
    oauth_provider   tracker_b (lib.outside.counterparts.OAuthProvider)
    pair_code_host, pair_oauth_provider   the same for `pair`

A failed test shows what each process logged during the test. The session fails when a process crashed, did not drain on
SIGTERM, or wrote a sanitizer report, even if every test passed, and when the code host's own description had anything
against a request of ours.
"""

import sys
from contextlib import contextmanager

import pytest

from lib.check import messages
from lib.http.client import Api
from lib.schedule import unit_of
from lib.system.cluster import Cluster

LOG_BYTES_SHOWN = 3000

# The report of a failed test omits the log line of each request.
REQUEST_LINE = '"message":"request finished"'

running = []  # the session's clusters, for the hook below


def register(config):
    """Make these fixtures those of the session. A conftest.py that imports one has another of its own: of `cluster`, a second cluster."""
    module = sys.modules[__name__]
    if not config.pluginmanager.is_registered(module):
        config.pluginmanager.register(module)


@contextmanager
def run_cluster(cluster):
    """Start a cluster, show its logs when a test fails, and report the faults of its processes at the end."""
    with cluster as made:
        running.append(made)
        try:
            yield made
        finally:
            running.remove(made)
            made.stop_all()
            faults = made.check() + messages.faults(made)
    assert not faults, "faults of processes: " + "\n".join(faults)


@pytest.fixture(scope="session")
def cluster():
    with run_cluster(Cluster(1)) as made:
        yield made


@pytest.fixture(scope="session")
def pair():
    with run_cluster(Cluster(2)) as made:
        yield made


@contextmanager
def run_counterpart(counterpart):
    counterpart.start()
    try:
        yield counterpart
        faults = counterpart.check()
    finally:
        counterpart.stop()
    assert not faults, "violations of the code host's description:\n" + "\n".join(faults)


@pytest.fixture(scope="session")
def code_host(cluster):
    with run_counterpart(cluster.code_host) as made:
        yield made


@pytest.fixture(scope="session")
def oauth_provider(cluster):
    with run_counterpart(cluster.oauth_provider) as made:
        yield made


@pytest.fixture(scope="session")
def pair_code_host(pair):
    with run_counterpart(pair.code_host) as made:
        yield made


@pytest.fixture(scope="session")
def pair_oauth_provider(pair):
    with run_counterpart(pair.oauth_provider) as made:
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
    """(name, path) of every log."""
    return [item for one in running for item in one.log_paths().items()]


@pytest.fixture(autouse=True)
def log_marks(request):
    """Remember the size of each log at the start of the test."""
    request.node.log_marks = {path: path.stat().st_size for _, path in logs()}


def additional_clusters(session):
    """The definitions of the clusters that run beside the usual one, as fixtures of the session."""
    known = [one for definitions in session._fixturemanager._arg2fixturedefs.values() for one in definitions]
    return [one for one in known if one.scope == "session" and (one.argname, one.baseid) != ("cluster", "")
            and one.cached_result and isinstance(one.cached_result[0], Cluster)]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """End them after the last test of the files that share them: idle processes, with sanitizers, take a tenth of a processor."""
    if nextitem and unit_of(item.nodeid) != unit_of(nextitem.nodeid):
        for definition in additional_clusters(item.session):
            definition.finish(item._request)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if not report.failed or call.when == "teardown":
        return
    marks = getattr(item, "log_marks", {})
    for name, path in logs():
        text = path.read_bytes()[marks.get(path, 0):].decode(errors="replace")
        news = [line for line in text.splitlines() if REQUEST_LINE not in line]
        if news:
            report.sections.append((f"log of {name}", "\n".join(news)[-LOG_BYTES_SHOWN:]))

"""The node of a service vanishes while it has a request: its packets are dropped, and nothing is reset. A service that is only slow
acknowledges what it is sent, and is waited for.

Nothing here measures time. Which error comes says which limit has ended a request: without an answer for long it is a 504, a
connection that broke is a 503.
"""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.system.blackhole import Blackhole, can_drop_packets
from lib.http.client import Api
from lib.wait import wait_for

pytestmark = pytest.mark.skipif(not can_drop_packets(), reason="needs root and iptables")


@pytest.fixture
def started(cluster):
    """Starts processes that the other ones do not use."""
    made = []

    def start(name, **changes):
        process = cluster.separate(name, f"vanished-{len(made)}", **changes)
        made.append(process)
        process.start()
        process.wait_ready()
        return process

    yield start
    for process in reversed(made):
        process.resume()
        process.stop()
    assert [fault for process in made for fault in process.check()] == []


@pytest.fixture
def search(started):
    return started("svc-search")


@pytest.fixture
def pool():
    with ThreadPoolExecutor() as made:
        yield made


def busy(process, service):
    """Whether a request of the gateway waits for the service."""
    series = f'expops_upstream_connections{{service="{service}"}}'
    return any(line.startswith(series) and float(line.split()[-1]) > 0 for line in process.metrics().splitlines())


def test_a_request_to_a_vanished_node_fails_soon(started, search, pool, user):
    gateway = started("gateway", SEARCH_URL=search.url)
    api = Api(gateway.url, user.key)
    search.pause()
    waiting = pool.submit(api.post, "/search/assets", {"query": "attention"})
    wait_for(lambda: busy(gateway, "svc-search"), "request sent")
    with Blackhole(search.port):
        assert waiting.result().status_code == 503


def test_a_kept_connection_to_a_vanished_node_fails_soon(started, search, user):
    gateway = started("gateway", SEARCH_URL=search.url, WORKERS="1")
    api = Api(gateway.url, user.key)
    api.post("/search/assets", {"query": "attention"}, expect=200)
    with Blackhole(search.port):
        assert api.post("/search/assets", {"query": "attention"}).status_code == 503


def test_a_slow_answer_is_waited_for(started, search, pool, user):
    """It comes after another request has failed because its node vanished."""
    experiments = started("svc-experiments")
    gateway = started("gateway", SEARCH_URL=search.url, EXPERIMENTS_URL=experiments.url)
    api = Api(gateway.url, user.key)
    search.pause()
    slow = pool.submit(api.post, "/search/assets", {"query": "attention"})
    wait_for(lambda: busy(gateway, "svc-search"), "request sent")
    experiments.pause()
    lost = pool.submit(api.post, "/experiments", {"name": "Lost"})
    wait_for(lambda: busy(gateway, "svc-experiments"), "request sent")
    with Blackhole(experiments.port):
        assert lost.result().status_code == 503
    search.resume()
    assert slow.result().status_code == 200


def test_a_call_to_a_vanished_service_fails_soon(started, search, user):
    interests = started("svc-interests", SEARCH_URL=search.url)
    api = Api(started("gateway", INTERESTS_URL=interests.url).url, user.key)
    interest = api.post("/interests", {"name": "Lost", "context": "Attention for long sequences."}, expect=201).json()
    path = f"/experiment-histories/{interest['experiment_history_id']}/score-candidates"
    api.post(path, {"candidates": ["2401.00001"]}, expect=200)
    with Blackhole(search.port):
        assert api.post(path, {"candidates": ["2401.00001"]}).status_code == 503

"""A host name lists two replicas of svc-search, and one of them stops answering without closing its connections."""

import secrets

import pytest

from lib.http.client import Api
from lib.system.fake_names import FakeNames
from lib.system.servers import free_port

NAME = "svc-search.test"
CALLS = 6
READS = 40


class Named:
    """Processes that know svc-search by a host name (tests/lib/unit/fake_dns.c), with two replicas behind it."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.names = FakeNames(cluster)
        self.names.set(NAME, ["127.0.0.1", "127.0.0.2"])
        port = free_port()
        self.replicas = [self.separate("svc-search", LISTEN=f"127.0.0.{host}:{port}") for host in (1, 2)]
        # A third of this time is what the first replica gets. One worker, so that its calls take turns.
        self.interests = self.separate("svc-interests", REQUEST_TIMEOUT="6s", WORKERS="1", **self.by_name(port))
        self.gateway = self.separate("gateway", WORKERS="1", INTERESTS_URL=self.interests.url, **self.by_name(port))

    def by_name(self, port):
        """Settings with which a process looks svc-search up."""
        return {"SEARCH_URL": f"http://{NAME}:{port}", **self.names.settings()}

    def separate(self, name, **changes):
        process = self.cluster.separate(name, f"named-{secrets.token_hex(4)}", **changes)
        process.start()
        process.wait_ready()
        return process

    def stop(self):
        processes = [self.gateway, self.interests, *self.replicas]
        for process in processes:
            process.stop()
        assert [fault for process in processes for fault in process.check()] == []


@pytest.fixture
def named(cluster):
    made = Named(cluster)
    yield made
    for replica in made.replicas:
        replica.resume()
    made.stop()


@pytest.fixture
def api(named, user):
    return Api(named.gateway.url, user.key)


@pytest.mark.parametrize("frozen", [0, 1])
def test_scoring_uses_the_other_replica(named, api, frozen):
    """svc-interests asks svc-search for the papers of the ids."""
    interest = api.post("/interests", {"name": "Frozen", "context": "Attention for long sequences."}, expect=201).json()
    path = f"/experiment-histories/{interest['experiment_history_id']}/score-candidates"
    named.replicas[frozen].pause()
    for _ in range(CALLS):
        scored = api.post(path, {"candidates": ["2401.00001", {"title": "A text"}]}, expect=200).json()
        assert len(scored) == 1


def test_replicas_share_the_requests_of_the_gateway(named, api):
    for _ in range(READS):
        api.get("/search/stats", expect=200)
    counts = [replica.metric("expops_http_requests_total") for replica in named.replicas]
    assert min(counts) >= READS // 2, counts


def test_a_killed_replica_fails_no_read(named, api):
    for _ in range(4):
        api.get("/search/stats", expect=200)
    named.replicas[0].kill9()
    for _ in range(READS):
        api.get("/search/stats", expect=200)
    named.replicas[0].start()
    named.replicas[0].wait_ready()

"""Every process is restarted by SIGTERM, one replica at a time, while clients use the product: no request fails."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.fixtures import run_cluster
from lib.http.load import Load
from lib.system.named_cluster import NamedCluster

REQUESTS_BETWEEN = 200


@pytest.fixture(scope="module")
def cluster():
    """Replicas that are found by name; clients learn within a tenth of a second that a gateway is not ready."""
    with run_cluster(NamedCluster(DRAIN_DELAY="1s")) as made:
        yield made


def restart(process):
    process.restart()
    process.wait_ready()


@pytest.mark.parametrize("number", [0, 1])
def test_no_request_fails(cluster, number):
    """One replica of each process ends at the same time, which leaves one of each."""
    replicas = [several[number] for several in cluster.processes.values()]
    with Load(cluster.user(), cluster["gateway"]) as load, ThreadPoolExecutor(len(replicas)) as pool:
        load.go_on(REQUESTS_BETWEEN)
        list(pool.map(restart, replicas))
        load.go_on(REQUESTS_BETWEEN)
    assert load.failures == [], f"{len(load.failures)} of {load.total} requests"
    assert list(load.broken()) == []

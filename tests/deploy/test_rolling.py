"""deploy/roll with deploy/haproxy.cfg, as deploy/OPERATIONS.md tells operators: every container is replaced under load, and no request
fails."""

from types import SimpleNamespace

import httpx
import pytest

from lib.http import plain_http
from lib.http.client import Api
from lib.system.deployment import DEPLOY, SERVERS_IMAGE, base_image, docker
from lib.http.load import Load
from lib.system.servers import read_processes
from lib.wait import wait_for

REQUESTS, CLIENTS = 50_000, 8
STEP = 1_000
FAILURES_SHOWN = 10
PROCESSES = [name for name, _, _ in read_processes()]
ANY_PORT = "127.0.0.1:0"
BALANCER_IMAGE = "expops-test-balancer"
BALANCER = f"""
FROM {base_image()}
RUN apt-get update && apt-get install -y --no-install-recommends haproxy
COPY haproxy.cfg /etc/haproxy/haproxy.cfg
"""


@pytest.fixture(scope="module")
def deployment(deploy):
    """Two replicas of each process."""
    return deploy(ANY_PORT, **{name.replace("-", "_"): 2 for name in PROCESSES})


@pytest.fixture(scope="module")
def balancer(deployment, tmp_path_factory):
    folder = tmp_path_factory.mktemp("balancer")
    (folder / "Dockerfile").write_text(BALANCER)
    (folder / "haproxy.cfg").write_text((DEPLOY / "haproxy.cfg").read_text())
    docker("build", "-q", "-t", BALANCER_IMAGE, folder)
    made = deployment.run_beside(BALANCER_IMAGE, "haproxy", "-f", "/etc/haproxy/haproxy.cfg")
    wait_for(lambda: leads_to_a_gateway(made), "the load balancer has found a gateway")
    return made


def leads_to_a_gateway(balancer):
    try:
        return plain_http.get(f"{balancer.url}/api/v1.0/openapi.json").status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture
def user(deployment, balancer):
    key = deployment.create_user()
    return SimpleNamespace(key=key, api=Api(balancer.url, key, checked=False))


def containers(deployment):
    """{process: ids of its containers}"""
    return {name: {one["Id"] for one in deployment.containers(name)} for name in PROCESSES}


def test_every_container_is_replaced_under_load(deployment, balancer, user):
    before = containers(deployment)
    with Load(user, [balancer], CLIENTS) as load:
        deployment.roll()
        print(f"{load.total} requests while all containers were replaced")
        while load.total < REQUESTS:
            load.go_on(STEP)
    assert not load.failures, "\n".join([f"{len(load.failures)} of {load.total} requests", *map(str, load.failures[:FAILURES_SHOWN])])
    assert list(load.broken()) == []
    now = containers(deployment)
    assert {name: len(ids) for name, ids in now.items()} == {name: 2 for name in PROCESSES}
    assert not [name for name in PROCESSES if now[name] & before[name]]


def test_what_does_not_start_replaces_nothing(deployment, user):
    """The image of the servers has no svc-fleet."""
    before = containers(deployment)
    with pytest.raises(RuntimeError, match="a new container of svc-fleet does not become healthy; the others go on"):
        deployment.roll("svc-fleet", EXPOPS_IMAGE=SERVERS_IMAGE)
    assert containers(deployment) == before
    assert user.api.get("/fleet/runs").status_code == 200


def test_servers_are_not_replaced(deployment):
    before = deployment.containers("postgres")[0]["Id"]
    with pytest.raises(RuntimeError, match="postgres keeps data"):
        deployment.roll("postgres")
    assert deployment.containers("postgres")[0]["Id"] == before

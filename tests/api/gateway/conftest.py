"""Fixtures of the gateway's tests: gateways with other settings, and one in front of a service that sends any bytes."""

from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from lib.http.raw_http import RawService, exchange
from lib.system.servers import free_port

# Sent after each request. If it is answered with 404, gateway and test agree where the request before it ended.
END = b"GET /end HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


@dataclass
class Edge:
    """A gateway whose svc-experiments is `service`."""

    url: str
    service: RawService
    key: bytes

    def exchange(self, sent, heads=()):
        """Send bytes, with @KEY@ replaced by a valid key, and then END; read until the connection is closed."""
        return exchange(self.url, sent.replace(b"@KEY@", self.key) + END, heads)


@pytest.fixture(scope="session")
def start_gateway(cluster):
    """`with start_gateway(RATE_LIMIT="3") as process`: another gateway of the cluster, on its own port."""

    @contextmanager
    def start(**settings):
        process = cluster.add("gateway", LISTEN=f"127.0.0.1:{free_port()}", **settings)
        process.wait_ready()
        yield process
        process.stop()
        cluster["gateway"].remove(process)
        cluster.retired.append(process)

    return start


@pytest.fixture(scope="session")
def raw_gateway(cluster, start_gateway):
    service = RawService()
    with start_gateway(EXPERIMENTS_URL=service.url) as process:
        yield Edge(process.url, service, cluster.create_user().encode())
    service.close()


@pytest.fixture
def edge(raw_gateway):
    raw_gateway.service.forget()
    return raw_gateway

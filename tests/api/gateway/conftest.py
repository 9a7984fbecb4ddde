"""What the tests of HTTP have: a gateway of its own with a service of raw sockets behind it."""

from dataclasses import dataclass

import pytest

from lib.raw_http import RawService, exchange
from lib.servers import free_port

# What a whole request is followed by: when it is answered, the one before had the end that both sides thought.
END = b"GET /end HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


@dataclass
class Edge:
    """A gateway whose svc-experiments is `service`."""

    url: str
    service: RawService
    key: bytes

    def exchange(self, sent, heads=()):
        """Send bytes, and END behind them, with @KEY@ in them as a key; read until the connection is closed."""
        return exchange(self.url, sent.replace(b"@KEY@", self.key) + END, heads)


@pytest.fixture(scope="session")
def raw_gateway(cluster):
    service = RawService()
    listen = f"127.0.0.1:{free_port()}"
    process = cluster.add("gateway", LISTEN=listen, EXPERIMENTS_URL=service.url)
    process.wait_ready()
    yield Edge(f"http://{listen}", service, cluster.create_user().encode())
    process.stop()
    cluster["gateway"].remove(process)
    cluster.retired.append(process)
    service.close()


@pytest.fixture
def edge(raw_gateway):
    raw_gateway.service.forget()
    return raw_gateway

"""Fixtures of the gateway's tests: gateways with other settings, and one in front of a service that sends any bytes."""

from contextlib import contextmanager
from dataclasses import dataclass, replace

import pytest

from lib.http.raw_http import RawService, exchange
from lib.outside.certificate import make_certificate
from lib.system.servers import free_port

# Sent after each request. If it is answered with 404, gateway and test agree where the request before it ended.
END = b"GET /end HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


@dataclass
class Edge:
    """A gateway whose svc-experiments is `service`."""

    url: str
    tls_url: str
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
        process = cluster.add("gateway", **{"LISTEN": f"127.0.0.1:{free_port()}", **settings})
        process.wait_ready()
        yield process
        process.stop()
        cluster["gateway"].remove(process)
        cluster.retired.append(process)

    return start


@pytest.fixture(scope="session")
def start_tls_gateway(start_gateway):
    """As start_gateway, with a plain address and one with TLS. `pairs`: certificates with their keys."""

    @contextmanager
    def start(*pairs, **settings):
        files = [",".join(map(str, column)) for column in zip(*pairs, strict=True)]
        own = {
            "LISTEN": f"127.0.0.1:{free_port()},https://127.0.0.1:{free_port()}",
            "TLS_CERT_FILE": files[0],
            "TLS_KEY_FILE": files[1],
            "TLS_HANDSHAKE_RATE": "0",
        }
        with start_gateway(**own | settings) as process:
            yield process

    return start


@pytest.fixture(scope="module")
def service():
    """What a gateway of the module can have for a service."""
    made = RawService()
    yield made
    made.close()


@pytest.fixture(scope="session")
def raw_gateway(cluster, start_tls_gateway, tmp_path_factory):
    service = RawService()
    pair = make_certificate(tmp_path_factory.mktemp("tls"), "127.0.0.1")
    with start_tls_gateway(pair, EXPERIMENTS_URL=service.url) as process:
        yield Edge(process.url, process.tls_url, service, cluster.create_user().encode())
    service.close()


@pytest.fixture(params=["http", "https"])
def edge(raw_gateway, request):
    raw_gateway.service.forget()
    return raw_gateway if request.param == "http" else replace(raw_gateway, url=raw_gateway.tls_url)

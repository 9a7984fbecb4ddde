"""Behind a load balancer: only a trusted peer may set the client's address and scheme."""

import json

import pytest

from lib.http.raw_http import exchange
from lib.wait import wait_for

REQUEST = b"GET /api/v1.0/%s HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Request-Id: %s\r\nAuthorization: Bearer %s\r\n"


@pytest.fixture(scope="module")
def key(cluster):
    return cluster.create_user().encode()


@pytest.fixture(scope="module")
def trusting(start_gateway, service):
    """A gateway that trusts this machine and the network 10.0.0.0/8."""
    with start_gateway(EXPERIMENTS_URL=service.url, TRUSTED_PROXIES="127.0.0.0/8, 10.0.0.0/8") as process:
        yield process


@pytest.fixture(scope="module")
def untrusting(start_gateway, service):
    with start_gateway(EXPERIMENTS_URL=service.url) as process:
        yield process


def ask(process, key, fields, path=b"experiments", request_id=b"any"):
    answers = exchange(process.url, REQUEST % (path, request_id, key) + fields + b"\r\n")
    assert answers.statuses == [200]


def seen_client(service):
    """Address and scheme of the client, as the service received them."""
    request = service.requests[-1]
    return request.value("x-forwarded-for"), request.value("x-forwarded-proto")


@pytest.mark.parametrize(("fields", "client", "scheme"), [
    (b"X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\n", "192.0.2.1", "https"),
    (b"X-Forwarded-For: 6.6.6.6, 192.0.2.1, 10.1.2.3\r\nX-Forwarded-Proto: https\r\n", "192.0.2.1", "https"),
    (b"X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-For: 2001:db8::1\r\n", "2001:db8::1", "http"),
    (b"X-Forwarded-For: unknown\r\n", "127.0.0.1", "http"),
    (b"Connection: X-Forwarded-For\r\nX-Forwarded-For: 192.0.2.1\r\n", "192.0.2.1", "http"),
    (b"", "127.0.0.1", "http")])
def test_a_trusted_peer_sets_the_client(trusting, service, key, fields, client, scheme):
    ask(trusting, key, fields)
    assert seen_client(service) == (client, scheme)


def test_an_untrusted_peer_is_the_client(untrusting, service, key):
    ask(untrusting, key, b"X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\n")
    assert seen_client(service) == ("127.0.0.1", "http")


@pytest.mark.parametrize("path", [b"experiments", b"account/api-keys"])
def test_logs_name_the_client(trusting, key, path):
    """For requests that are passed on and for the gateway's own operations."""
    request_id = b"logged-" + path.replace(b"/", b"-")
    ask(trusting, key, b"X-Forwarded-For: 192.0.2.77\r\n", path, request_id)

    def logged():
        lines = [json.loads(line) for line in trusting.log().splitlines() if request_id.decode() in line]
        return [line for line in lines if line["message"] == "request finished"]

    (line,) = wait_for(logged, "the line in the log")
    assert line["peer"] == "192.0.2.77"


@pytest.mark.parametrize("value", ["localhost", "10.0.0.0/33", "10.0.0.1:80", "10.0.0.1;10.0.0.2"])
def test_an_invalid_setting_is_refused_at_start(cluster, value):
    with pytest.raises(RuntimeError, match="TRUSTED_PROXIES: "):
        cluster.run("gateway", "--show-config", TRUSTED_PROXIES=value)

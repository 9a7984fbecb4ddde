"""The PROXY protocol: what a load balancer that passes bytes on says of its client, and who is believed."""

import json
import socket
import ssl
import struct

import pytest

from lib.http.raw_http import PATIENCE_SECONDS, START_ANSWER, Reader, exchange, trusting_any
from lib.outside.certificate import make_certificate
from lib.wait import wait_for

LINE = b"PROXY TCP4 192.0.2.7 10.0.0.9 51234 443\r\n"
SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
VERSION_2 = SIGNATURE + b"\x21\x21" + struct.pack("!H", 39) + socket.inet_pton(socket.AF_INET6, "2001:db8::7") * 2 + b"\0\1\0\2\4\0\0"
LOCAL = SIGNATURE + b"\x20\0\0\0"
UNKNOWN = b"PROXY UNKNOWN\r\n"
UNSPECIFIED = SIGNATURE + b"\x21\0\0\0"
OPEN = b"GET /api/v1.0/version HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("tls"), "127.0.0.1")


@pytest.fixture(scope="module")
def gateway(start_tls_gateway, service, pair):
    """It trusts this machine, whose first address sends headers; an address may make one request without a key and one handshake a second."""
    settings = {"TRUSTED_PROXIES": "127.0.0.0/8", "PROXY_PROTOCOL": "127.0.0.1", "OPEN_RATE_LIMIT": "1", "TLS_HANDSHAKE_RATE": "1"}
    with start_tls_gateway(pair, **settings, EXPERIMENTS_URL=service.url) as process:
        yield process


@pytest.fixture(scope="module")
def request_head(cluster):
    key = cluster.create_user()
    return f"GET /api/v1.0/experiments HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {key}\r\n".encode()


def tls_port(process):
    return int(process.tls_url.rpartition(":")[2])


def version_2_with_tls(flags):
    """A header of a balancer in which TLS ends, with PP2_TYPE_SSL."""
    rest = socket.inet_aton("192.0.2.7") * 2 + b"\0\1\0\2" + b"\x20\0\5" + bytes([flags]) + bytes(4)
    return SIGNATURE + b"\x21\x11" + struct.pack("!H", len(rest)) + rest


@pytest.mark.parametrize(("header", "client"), [
    (LINE, "192.0.2.7"), (LINE.replace(b"TCP4", b"TCP6").replace(b"192.0.2.7 10.0.0.9", b"2001:db8::7 ::1"), "2001:db8::7"),
    (VERSION_2, "2001:db8::7"), (LOCAL, "127.0.0.1"), (UNKNOWN, "unknown")])
def test_the_header_names_the_client(gateway, service, request_head, header, client):
    service.forget()
    assert exchange(gateway.url, header + request_head + b"\r\n").statuses == [200]
    assert service.requests[-1].value("x-forwarded-for") == client


@pytest.mark.parametrize(("header", "client"), [
    (LINE, ("192.0.2.7", "http")), (UNKNOWN, ("unknown", "http")), (UNSPECIFIED, ("unknown", "http")), (LOCAL, ("6.6.6.6", "https"))])
def test_the_client_of_the_header_is_no_trusted_proxy(gateway, service, request_head, header, client):
    """Neither is one that the header does not name. The balancer itself may be one."""
    service.forget()
    fields = b"X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\n\r\n"
    assert exchange(gateway.url, header + request_head + fields).statuses == [200]
    seen = service.requests[-1]
    assert (seen.value("x-forwarded-for"), seen.value("x-forwarded-proto")) == client


def test_a_trusted_proxy_that_is_not_listed_sends_no_header(gateway, service, request_head):
    """As the services, which call the gateway from the network of the balancers."""
    service.forget()
    with socket.create_connection(("127.0.0.1", gateway.port), PATIENCE_SECONDS, source_address=("127.0.0.9", 0)) as connection:
        connection.sendall(request_head + b"X-Forwarded-For: 6.6.6.6\r\n\r\n")
        assert Reader(connection, START_ANSWER).message().status == 200
    assert service.requests[-1].value("x-forwarded-for") == "6.6.6.6"


@pytest.mark.parametrize(("flags", "scheme"), [(1, "https"), (0, "http")])
def test_tls_may_end_in_the_balancer(gateway, service, request_head, flags, scheme):
    service.forget()
    assert exchange(gateway.url, version_2_with_tls(flags) + request_head + b"\r\n").statuses == [200]
    seen = service.requests[-1]
    assert (seen.value("x-forwarded-for"), seen.value("x-forwarded-proto")) == ("192.0.2.7", scheme)


def test_it_comes_before_tls(gateway, service, request_head):
    service.forget()
    with socket.create_connection(("127.0.0.1", tls_port(gateway)), PATIENCE_SECONDS) as plain:
        plain.sendall(VERSION_2)
        with trusting_any().wrap_socket(plain) as connection:
            connection.sendall(request_head + b"\r\n")
            assert Reader(connection, START_ANSWER).message().status == 200
    seen = service.requests[-1]
    assert (seen.value("x-forwarded-for"), seen.value("x-forwarded-proto")) == ("2001:db8::7", "https")


@pytest.mark.parametrize("header", [LINE, VERSION_2])
def test_it_may_come_byte_by_byte(gateway, service, request_head, header):
    service.forget()
    with socket.create_connection(("127.0.0.1", gateway.port), PATIENCE_SECONDS) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in header:
            connection.sendall(bytes([byte]))
        connection.sendall(request_head + b"\r\n")
        assert Reader(connection, START_ANSWER).message().status == 200
    assert service.requests[-1].value("x-forwarded-for") in ("192.0.2.7", "2001:db8::7")


@pytest.mark.parametrize("sent", [
    b"", LINE[:20], LINE.replace(b"\r\n", b"\n"), LINE.replace(b"TCP4", b"UDP4"), VERSION_2.replace(b"\x21\x21", b"\x21\x22"),
    b"x" * 70000])
def test_a_connection_without_a_header_is_closed(gateway, sent):
    closed = gateway.metric("expops_http_proxy_headers_refused_total")
    with socket.create_connection(("127.0.0.1", gateway.port), PATIENCE_SECONDS) as connection:
        try:
            connection.sendall(sent + OPEN)
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(65536) == b""
        except OSError as error:  # it is over already
            assert not isinstance(error, TimeoutError)
    assert exchange(gateway.url, LOCAL + OPEN).statuses in ([200], [429])
    assert gateway.metric("expops_http_proxy_headers_refused_total") > closed


def test_limits_count_the_client(gateway):
    """One address may make one request a second, and others are not affected."""

    def sent_as(address):
        return exchange(gateway.url, LINE.replace(b"192.0.2.7", address) + OPEN).statuses[0]

    assert 429 in [sent_as(b"198.51.100.1") for _ in range(30)]
    assert {sent_as(b"198.51.100.%d" % number) for number in range(2, 30)} == {200}


@pytest.mark.parametrize(("header", "is_limited"), [(UNKNOWN, True), (LOCAL, False)])
def test_handshakes_of_unknown_clients_are_limited(gateway, header, is_limited):
    def is_refused():
        with socket.create_connection(("127.0.0.1", tls_port(gateway)), PATIENCE_SECONDS) as plain:
            plain.sendall(header)
            try:
                trusting_any().wrap_socket(plain)
            except (ssl.SSLError, ConnectionError):
                return True
            return False

    assert any(is_refused() for _ in range(30)) == is_limited


def test_logs_name_the_client(gateway, request_head):
    assert exchange(gateway.url, LINE.replace(b"192.0.2.7", b"192.0.2.99") + request_head + b"X-Request-Id: by-proxy\r\n\r\n").statuses == [200]

    def logged():
        lines = [json.loads(line) for line in gateway.log().splitlines() if "by-proxy" in line]
        return [line for line in lines if line["message"] == "request finished"]

    (line,) = wait_for(logged, "the line in the log")
    assert line["peer"] == "192.0.2.99"


def test_others_are_not_believed(start_tls_gateway, pair):
    """Who is not listed sends HTTP, and a header is no request."""
    with start_tls_gateway(pair, TRUSTED_PROXIES="127.0.0.1", PROXY_PROTOCOL="192.0.2.0/24") as process:
        assert exchange(process.url, OPEN).statuses == [200]
        assert exchange(process.tls_url, OPEN).statuses == [200]
        assert exchange(process.url, LINE + OPEN).statuses == [501]
        with socket.create_connection(("127.0.0.1", tls_port(process)), PATIENCE_SECONDS) as plain:
            plain.sendall(LINE)
            with pytest.raises((ssl.SSLError, OSError)):
                trusting_any().wrap_socket(plain)


def test_it_is_a_list(cluster):
    with pytest.raises(RuntimeError, match='PROXY_PROTOCOL: "on" is not a list of addresses and networks'):
        cluster.run("gateway", "--show-config", PROXY_PROTOCOL="on")

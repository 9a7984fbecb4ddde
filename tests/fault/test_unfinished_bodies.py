"""Bodies that are never sent completely: their memory is limited, each account has a share, and it is released."""

import re
import socket
import uuid

import pytest

from lib.http.client import PREFIX
from lib.http.identity import identity
from lib.system.servers import free_port
from lib.wait import wait_for

MIB = 1 << 20
BODY_MEMORY = 16 * MIB
BODIES_MAX = BODY_MEMORY // MIB - 1  # bodies that fit; each takes 1 MiB and a byte
SHARE_MAX = 8  # of one account: 9 MiB

# Process -> path of an operation that reads a body.
COLLECTORS = {"gateway": "/account/api-keys", "svc-interests": "/interests"}


class Collector:
    """A replica with little memory for bodies."""

    def __init__(self, cluster, name):
        self.cluster, self.name = cluster, name
        settings = {"LISTEN": f"127.0.0.1:{free_port()}", "BODY_MEMORY": str(BODY_MEMORY)}
        self.process = cluster.add(name, BODY_PAUSE="600s", BODY_TIMEOUT="600s", **settings)
        self.process.wait_ready()

    def account(self):
        """The head of a POST of a new account."""
        caller = {"Authorization": f"Bearer {self.cluster.create_user()}"}
        if self.name != "gateway":
            by = identity(self.cluster, self.name, account=str(uuid.uuid4()))
            caller = {"X-Expops-Identity": by.header("POST", PREFIX + COLLECTORS[self.name], "test"), "X-Request-Id": "test"}
        lines = [f"POST {PREFIX}{COLLECTORS[self.name]} HTTP/1.1", "Host: a", "Content-Type: application/json"]
        return "\r\n".join(lines + [f"{field}: {value}" for field, value in caller.items()])

    def send(self, account, length, body):
        connection = socket.create_connection(("127.0.0.1", self.process.port), timeout=120)
        connection.sendall(f"{account}\r\nContent-Length: {length}\r\n\r\n".encode() + body)
        return connection

    def send_half(self, account):
        return self.send(account, MIB, b" " * (MIB - 1))

    def body_bytes(self):
        return self.process.metric("expops_http_body_bytes")

    def refused(self):
        """{reason: requests refused}"""
        rows = re.findall(r'^expops_http_body_refused_total\{reason="(\w+)"\} (\d+)$', self.process.metrics(), re.M)
        return {reason: int(count) for reason, count in rows}


@pytest.fixture(params=COLLECTORS)
def collector(cluster, request):
    made = Collector(cluster, request.param)
    yield made
    made.process.stop()
    cluster[made.name].remove(made.process)
    cluster.retired.append(made.process)


def answer(connection):
    """The head of the answer, and as much of the body as came with it."""
    text = b""
    while b"\r\n\r\n" not in text:
        piece = connection.recv(65536)
        assert piece, text
        text += piece
    return text.decode()


def assert_refused(connection, status):
    with connection:
        text = answer(connection)
    assert text.startswith(f"HTTP/1.1 {status} "), text
    assert "\r\nRetry-After: " in text
    assert "application/problem+json" in text


def close_all(collector, connections):
    for connection in connections:
        connection.close()
    wait_for(lambda: collector.body_bytes() == 0, "all bodies are released")


def test_unfinished_bodies_share_one_limit(collector):
    accounts = [collector.account() for _ in range(4)]
    half = [collector.send_half(accounts[number % 3]) for number in range(BODIES_MAX)]
    wait_for(lambda: collector.body_bytes() == BODIES_MAX * (MIB + 1), "all bodies are in memory")

    assert_refused(collector.send_half(accounts[3]), 503)
    with collector.send(accounts[3], 2, b"{}") as small:
        assert answer(small).startswith("HTTP/1.1 400 ")
    assert collector.refused() == {"all": 1, "share": 0}
    assert collector.body_bytes() <= BODY_MEMORY

    for connection in half[1:]:
        connection.close()
    wait_for(lambda: collector.body_bytes() == MIB + 1, "the others are released")
    half[0].sendall(b" ")
    assert answer(half[0]).startswith("HTTP/1.1 400 ")
    close_all(collector, half)


def test_an_account_has_a_share(collector):
    account, other = collector.account(), collector.account()
    half = [collector.send_half(account) for _ in range(SHARE_MAX)]
    wait_for(lambda: collector.body_bytes() == SHARE_MAX * (MIB + 1), "all bodies are in memory")

    assert_refused(collector.send_half(account), 429)
    assert collector.refused() == {"all": 0, "share": 1}
    with collector.send(other, MIB // 2, b" " * (MIB // 2)) as whole:
        assert answer(whole).startswith("HTTP/1.1 400 ")
    close_all(collector, half)


def test_what_is_parsed_counts(collector):
    account = collector.account()
    dense = b'{"a":[1' + b",1" * (MIB // 2 - 10) + b"]}"
    with collector.send(account, len(dense), dense) as refused:
        assert answer(refused).startswith("HTTP/1.1 413 ")
    text = b'{"a":"' + b"text " * (MIB // 5 - 10) + b'"}'
    with collector.send(account, len(text), text) as taken:
        assert answer(taken).startswith("HTTP/1.1 400 ")
    wait_for(lambda: collector.body_bytes() == 0, "all is released")

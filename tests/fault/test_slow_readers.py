"""Clients that ask for large answers and do not read them: memory is limited, and others are served."""

import contextlib
import socket

import pytest

from lib.http.client import PREFIX
from lib.wait import wait_for

MIB = 1 << 20
ANSWER_MEMORY = 64 * MIB  # the default
READERS = 30
PAGE = 100
ESCAPED = "\u0001" * 3400  # six bytes each in JSON: as large as a text may be
RECEIVE_BYTES = 4096


@pytest.fixture(scope="module")
def greedy(cluster):
    """An account with the largest possible page of experiments."""
    user = cluster.user()
    body = {"name": "n" * 500, "hypothesis": ESCAPED, "decision": ESCAPED, "target_metric": "€" * 500, "tags": ["€" * 64] * 32}
    for number in range(PAGE):
        urls = {name: f"https://a.example/{number}/" + "u" * 2000 for name in ("pr_url", "ticket_url")}
        user.api.post("/experiments", body | urls, expect=201)
    return user


def ask(cluster, user):
    """A client that asks for the page and does not read."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
    connection.settimeout(120)
    connection.connect(("127.0.0.1", cluster.ports["gateway"]))
    head = f"GET {PREFIX}/experiments?limit={PAGE} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {user.key}\r\n\r\n"
    connection.sendall(head.encode())
    return connection


def test_slow_readers_do_not_keep_others_out(cluster, greedy, user):
    (service,), (gateway,) = cluster["svc-experiments"], cluster["gateway"]
    before = {process: process.memory_bytes() for process in (service, gateway)}
    size = len(greedy.api.get(f"/experiments?limit={PAGE}", expect=200, checked=False).content)
    assert size > 4 * MIB
    with contextlib.ExitStack() as readers:
        silent = [readers.enter_context(ask(cluster, greedy)) for _ in range(READERS)]
        heads = [connection.recv(12, socket.MSG_PEEK) for connection in silent]
        assert {head for head in heads} <= {b"HTTP/1.1 200", b"HTTP/1.1 429"}
        assert b"HTTP/1.1 200" in heads
        for number in range(3):
            made = user.api.post("/experiments", {"name": f"of another account {number}"}, expect=201).json()
            assert user.api.get("/experiments", expect=200).json()[0]["id"] == made["id"]
        assert service.metric("expops_http_answer_bytes") <= ANSWER_MEMORY / 4
        assert gateway.metric("expops_http_unsent_bytes") <= READERS * MIB / 2
        for process, bytes_before in before.items():
            assert process.memory_bytes() < bytes_before + 2 * ANSWER_MEMORY
    wait_for(lambda: service.metric("expops_http_answer_bytes") == 0, "the memory of the answers is released")
    greedy.api.get(f"/experiments?limit={PAGE}", expect=200, checked=False)

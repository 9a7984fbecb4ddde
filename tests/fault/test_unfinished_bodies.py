"""Bodies that are never sent completely: their memory is limited, and released."""

import socket

import pytest

from lib.client import PREFIX
from lib.identity import identity
from lib.servers import free_port
from lib.wait import wait_for

MIB = 1 << 20
BODY_MEMORY = 16 * MIB
BODIES_MAX = BODY_MEMORY // MIB - 1  # bodies that fit; each takes 1 MiB and a byte

# Process -> path of an operation that reads a body.
COLLECTORS = {"gateway": "/account/api-keys", "svc-interests": "/interests"}


@pytest.fixture(params=COLLECTORS)
def collector(cluster, user, request):
    """(process, head): a replica with little memory for bodies, and the head of a POST to it."""
    name = request.param
    listen = f"127.0.0.1:{free_port()}"
    timeouts = {"BODY_PAUSE": "600s", "BODY_TIMEOUT": "600s"}
    process = cluster.add(name, LISTEN=listen, BODY_MEMORY=str(BODY_MEMORY), **timeouts)
    process.wait_ready()
    caller = {"Authorization": f"Bearer {user.key}"}
    if name != "gateway":
        value = identity(cluster, name).header("POST", PREFIX + COLLECTORS[name], "test")
        caller = {"X-Expops-Identity": value, "X-Request-Id": "test"}
    lines = [f"POST {PREFIX}{COLLECTORS[name]} HTTP/1.1", "Host: a", "Content-Type: application/json"]
    lines += [f"{field}: {value}" for field, value in caller.items()]
    yield process, "\r\n".join(lines)
    process.stop()
    cluster[name].remove(process)
    cluster.retired.append(process)


def send(process, head, length, body):
    connection = socket.create_connection(("127.0.0.1", process.port), timeout=120)
    connection.sendall(f"{head}\r\nContent-Length: {length}\r\n\r\n".encode() + body)
    return connection


def answer(connection):
    """The head of the answer, and as much of the body as came with it."""
    text = b""
    while b"\r\n\r\n" not in text:
        piece = connection.recv(65536)
        assert piece, text
        text += piece
    return text.decode()


def body_bytes(process):
    return process.metric("expops_http_body_bytes")


def test_unfinished_bodies_share_one_limit(collector):
    process, head = collector
    half = [send(process, head, MIB, b" " * (MIB - 1)) for _ in range(BODIES_MAX)]
    wait_for(lambda: body_bytes(process) == BODIES_MAX * (MIB + 1), "all bodies are in memory")

    with send(process, head, MIB, b" " * (MIB - 1)) as late:
        text = answer(late)
        assert text.startswith("HTTP/1.1 503 "), text
        assert "\r\nRetry-After: " in text
        assert "application/problem+json" in text
    with send(process, head, 2, b"{}") as small:
        assert answer(small).startswith("HTTP/1.1 400 ")
    assert process.metric("expops_http_body_refused_total") == 1
    assert body_bytes(process) <= BODY_MEMORY

    half[0].sendall(b" ")
    assert answer(half[0]).startswith("HTTP/1.1 400 ")
    for connection in half:
        connection.close()
    wait_for(lambda: body_bytes(process) == 0, "all bodies are released")

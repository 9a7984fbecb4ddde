"""Bodies that are sent and never finished: what they hold in memory is bounded, and given back."""

import socket

import pytest

from lib.client import PREFIX
from lib.identity import signed
from lib.servers import free_port
from lib.wait import wait_for

MIB = 1 << 20
BODY_MEMORY = 16 * MIB
FITTING = BODY_MEMORY // MIB - 1  # each holds its MiB and a byte

# A process that collects bodies, and an operation of its own.
COLLECTORS = {"gateway": "/account/api-keys", "svc-interests": "/interests"}


@pytest.fixture(params=COLLECTORS)
def collector(cluster, user, request):
    """A replica with little memory for bodies, and the head of a POST to it."""
    name = request.param
    listen = f"127.0.0.1:{free_port()}"
    patient = {"BODY_TIMEOUT": "600s", "REQUEST_TIMEOUT": "600s"}
    process = cluster.add(name, LISTEN=listen, BODY_MEMORY=str(BODY_MEMORY), **patient)
    process.wait_ready()
    caller = {"Authorization": f"Bearer {user.key}"}
    if name != "gateway":
        caller = signed(cluster, "personal")
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
    """The answer's head, and its body as far as it has come with it."""
    text = b""
    while b"\r\n\r\n" not in text:
        piece = connection.recv(65536)
        assert piece, text
        text += piece
    return text.decode()


def held(process):
    return process.metric("expops_http_body_bytes")


def test_half_sent_bodies_are_bounded_together(collector):
    process, head = collector
    half = [send(process, head, MIB, b" " * (MIB - 1)) for _ in range(FITTING)]
    wait_for(lambda: held(process) == FITTING * (MIB + 1), "all of them are held")

    with send(process, head, MIB, b" " * (MIB - 1)) as late:
        text = answer(late)
        assert text.startswith("HTTP/1.1 503 "), text
        assert "\r\nRetry-After: " in text
        assert "application/problem+json" in text
    with send(process, head, 2, b"{}") as small:
        assert answer(small).startswith("HTTP/1.1 400 ")
    assert process.metric("expops_http_body_refused_total") == 1
    assert held(process) <= BODY_MEMORY

    half[0].sendall(b" ")
    assert answer(half[0]).startswith("HTTP/1.1 400 ")
    for connection in half:
        connection.close()
    wait_for(lambda: held(process) == 0, "nothing is held")

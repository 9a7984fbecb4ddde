"""Clients that connect and send nothing, or too little, and clients that shut down sending."""

import contextlib
import resource
import socket

import pytest

from lib.http import plain_http
from lib.http.client import PREFIX
from lib.http.raw_http import START_ANSWER, Reader

LIMIT = 256
SILENT = 400
ADDRESSES = [f"127.0.0.{number}" for number in range(2, 10)]  # of the silent clients
ROUNDS = 3

# What a silent client sends before it falls silent.
BEGINNINGS = {
    "nothing": b"",
    "part of a head": b"GET /api/v1.0/experiments HTTP/1.1\r\nHost: a\r\nX-A: ",
    "a head and a part of a body": b"POST /api/v1.0/account/api-keys HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{",
}


def limit_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT))


@pytest.fixture(params=["CONNECTIONS_MAX", "descriptors"])
def gateway(cluster, request):
    """A gateway with room for 256 connections, or with 256 descriptors."""
    is_setting = request.param == "CONNECTIONS_MAX"
    process = cluster.separate("gateway", "connections", **({"CONNECTIONS_MAX": str(LIMIT)} if is_setting else {}))
    process.start(preexec_fn=None if is_setting else limit_descriptors)
    process.wait_ready()
    yield process
    process.stop()
    assert process.check() == []


def connect_silent(process, number, beginning):
    connection = socket.create_connection(("127.0.0.1", process.port), 120, source_address=(ADDRESSES[number % len(ADDRESSES)], 0))
    with contextlib.suppress(ConnectionError):
        connection.sendall(beginning)
    return connection


@pytest.mark.parametrize("beginning", BEGINNINGS.values(), ids=BEGINNINGS)
def test_silent_connections_do_not_keep_others_out(gateway, user, beginning):
    with contextlib.ExitStack() as silent:
        for _ in range(ROUNDS):
            for number in range(SILENT):
                silent.enter_context(connect_silent(gateway, number, beginning))
            answer = plain_http.get(f"{gateway.url}{PREFIX}/projects", headers={"Authorization": f"Bearer {user.key}"})
            assert answer.status_code == 200
        assert gateway.metric("expops_http_connections_replaced_total") > SILENT


def test_the_limit_of_descriptors_is_raised(cluster):
    """A process raises its soft limit to the hard one."""
    process = cluster.separate("gateway", "descriptors")
    process.start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, 4 * LIMIT)))
    process.wait_ready()
    assert resource.prlimit(process.popen.pid, resource.RLIMIT_NOFILE) == (4 * LIMIT, 4 * LIMIT)
    process.stop()
    assert process.check() == []


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_client_that_shuts_down_sending_gets_its_answer(cluster, user, method):
    body = b'{"name": "half closed"}' if method == "POST" else b""
    head = f"{method} {PREFIX}/projects HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {user.key}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", cluster["gateway"][0].port), 120) as connection:
        connection.sendall(head.encode() + body)
        connection.shutdown(socket.SHUT_WR)
        reader = Reader(connection, START_ANSWER)
        assert reader.message().status == (201 if body else 200)
        assert reader.message() is None

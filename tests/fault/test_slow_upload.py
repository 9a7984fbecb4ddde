"""A body that takes longer than REQUEST_TIMEOUT to arrive."""

import json
import socket
import time

from lib.http.client import PREFIX
from lib.http.raw_http import START_ANSWER, Reader

REQUEST_SECONDS = 1
UPLOAD_SECONDS = 3
PIECE_BYTES = 1000
PIECE_SECONDS = 0.05  # the pace of the client


def pieces(name):
    """The pieces of a body that creates an experiment, at the pace of a slow client."""
    body = json.dumps({"name": name, "hypothesis": "h" * 10_000}).encode()
    body += b" " * (int(UPLOAD_SECONDS / PIECE_SECONDS) * PIECE_BYTES - len(body))
    return [body[start : start + PIECE_BYTES] for start in range(0, len(body), PIECE_BYTES)]


def test_the_upload_is_not_part_of_the_request_timeout(cluster, user):
    limit = {"REQUEST_TIMEOUT": f"{REQUEST_SECONDS}s"}
    service = cluster.separate("svc-experiments", "slow-upload", **limit)
    gateway = cluster.separate("gateway", "slow-upload", EXPERIMENTS_URL=service.url, **limit)
    for process in (service, gateway):
        process.start()
        process.wait_ready()
    parts = pieces("slow")
    head = f"POST {PREFIX}/experiments HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {user.key}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {sum(map(len, parts))}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", gateway.port), 120) as connection:
        connection.sendall(head.encode())
        for part in parts:
            connection.sendall(part)
            time.sleep(PIECE_SECONDS)
        answer = Reader(connection, START_ANSWER).message()
    assert answer.status == 201, answer.content
    for process in (gateway, service):
        process.stop()
        assert process.check() == []

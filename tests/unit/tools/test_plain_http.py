"""tests/lib/http/plain_http.py sends again what a server says that it has not handled, and nothing else."""

import httpx
import pytest

from lib.http import plain_http

END_OF_IDLE = (408, b"")  # as http_server_drain() ends a connection
TOO_SLOW = (408, b'{"error": "timeout"}')
OK = (200, b"{}")


@pytest.mark.parametrize(
    "answers, seen",
    [
        ([OK], 200),
        ([END_OF_IDLE, OK], 200),
        ([END_OF_IDLE, END_OF_IDLE], 408),
        ([TOO_SLOW], 408),
        ([(503, b"")], 503),
    ],
)
def test_what_was_not_handled_is_sent_again(monkeypatch, answers, seen):
    left = [httpx.Response(status, content=content, headers={"Content-Length": str(len(content))}) for status, content in answers]
    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", lambda transport, request: left.pop(0))
    assert plain_http.client().post("http://127.0.0.1:1/", json={"name": "x"}).status_code == seen
    assert left == []

"""A request with content is authorised again when all of it is there: what a key loses meanwhile, the request loses too."""

import json
import socket
from contextlib import contextmanager

import pytest

from lib.http.client import PREFIX
from lib.http.raw_http import HEAD_END, PATIENCE_SECONDS, START_ANSWER, Reader

LOCAL = "/account/api-keys"  # an operation that the gateway answers itself
SENT = "/experiments"  # of a service
BODIES = {LOCAL: {"name": "made", "scopes": ["account:write"]}, SENT: {"name": "made"}}
SCOPES = ["account:write", "experiments:write", "search:read"]

FRAMINGS = {
    "length": lambda body: (f"Content-Length: {len(body)}", body[:1], body[1:]),
    "chunked": lambda body: ("Transfer-Encoding: chunked", b"1\r\n" + body[:1] + b"\r\n", b"%x\r\n%s\r\n0\r\n\r\n" % (len(body) - 1, body[1:])),
}


def make(api, kind):
    return api.post("/account/api-keys", {"name": "sends slowly", "kind": kind, "scopes": SCOPES}, expect=201).json()


@contextmanager
def begun(api, key, path, framing):
    """A request whose head was accepted, and a byte of whose content was sent. Gives a function that sends the rest and returns
    the answer."""
    field, first, rest = FRAMINGS[framing](json.dumps(BODIES[path]).encode())
    head = [f"POST {PREFIX}{path} HTTP/1.1", "Host: a", f"Authorization: Bearer {key}", "Content-Type: application/json", "Expect: 100-continue", field]
    host, _, port = api.url.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), PATIENCE_SECONDS) as connection:
        reader = Reader(connection, START_ANSWER)
        connection.sendall("\r\n".join(head).encode() + HEAD_END)
        assert reader.message().status == 100
        connection.sendall(first)

        def finish():
            connection.sendall(rest)
            return reader.message()

        yield finish


def names(api, path):
    listed = api.get(path, expect=200).json()
    return [item["name"] for item in (listed["keys"] if path == LOCAL else listed)]


REVOKED = ("POST", "/revoke", None)
DELETED = ("DELETE", "", None)
NARROWED = ("PATCH", "", {"scopes": ["search:read"]})


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize(("kind", "change", "status", "error"), [
    ("personal", REVOKED, 401, "invalid_token"),
    ("personal", DELETED, 401, "invalid_token"),
    ("personal", NARROWED, 403, "insufficient_scope"),
    ("automation", REVOKED, 401, "invalid_token"),
    ("automation", DELETED, 401, "invalid_token"),
])  # fmt: skip
def test_what_a_key_loses_during_the_content(api, kind, change, status, error, path, framing):
    made = make(api, kind)
    method, suffix, body = change
    with begun(api, made["key"], path, framing) as finish:
        api.request(method, f"/account/api-keys/{made['id']}{suffix}", body, expect=200)
        answer = finish()
    assert (answer.status, json.loads(answer.content)["error"]) == (status, error)
    assert "made" not in names(api, path)


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize(("kind", "path", "status"), [
    ("personal", LOCAL, 201),
    ("personal", SENT, 201),
    ("automation", LOCAL, 403),  # such a key makes no keys
    ("automation", SENT, 201),
])  # fmt: skip
def test_a_key_that_keeps_its_rights(api, kind, path, status, framing):
    with begun(api, make(api, kind)["key"], path, framing) as finish:
        assert finish().status == status
    assert ("made" in names(api, path)) == (status == 201)

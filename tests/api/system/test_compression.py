"""gzip of JSON answers."""

import gzip
import json
import socket

import pytest

from lib.http.client import PREFIX
from lib.http.raw_http import START_ANSWER, Reader

SMALL, LARGE = 3, 60  # experiments; more than 1 KiB, and more than is compressed at once
HYPOTHESIS = "A longer warm-up keeps the loss from diverging. " * 40


@pytest.fixture(scope="module")
def owner(cluster):
    return cluster.user()


@pytest.fixture(scope="module", autouse=True)
def experiments(owner):
    for number in range(LARGE):
        owner.api.post("/experiments", {"name": f"Number {number}", "hypothesis": HYPOTHESIS}, expect=201)


@pytest.fixture
def get(cluster, owner):
    """get(target, accept_encoding, method): the answer as it was sent."""

    def request(target, accept_encoding=None, method="GET"):
        lines = [f"{method} {PREFIX}{target} HTTP/1.1", "Host: a", f"Authorization: Bearer {owner.key}"]
        lines += [] if accept_encoding is None else [f"Accept-Encoding: {accept_encoding}"]
        with socket.create_connection(("127.0.0.1", cluster.ports["gateway"]), 120) as connection:
            connection.sendall("\r\n".join([*lines, "", ""]).encode())
            return Reader(connection, START_ANSWER).message(lambda message: method != "HEAD")

    return request


PAGES = {"small": f"/experiments?limit={SMALL}", "large": f"/experiments?limit={LARGE}", "description": "/openapi.json"}


def varies_by(answer):
    """The fields of requests that the answer names; it may do so in several fields of its own."""
    return {word.strip() for name, value in answer.fields if name.lower() == "vary" for word in value.split(",")}


@pytest.mark.parametrize("target", PAGES.values(), ids=PAGES)
def test_json_is_compressed_when_the_client_asks(get, target):
    plain, packed = get(target), get(target, "br, gzip;q=0.5")
    assert plain.value("content-encoding") is None
    assert packed.value("content-encoding") == "gzip"
    forms = {"Accept"} if target.startswith("/experiments") else set()  # JSON or CSV
    assert varies_by(plain) == varies_by(packed) == {"Accept-Encoding"} | forms
    assert gzip.decompress(packed.content) == plain.content
    assert len(packed.content) < len(plain.content) / 2
    json.loads(plain.content)


@pytest.mark.parametrize("accepted", [None, "", "br", "gzip;q=0", "*;q=0", "identity;q=1, gzip;q=0.5", "gzip;q=two"])
def test_json_is_plain_when_the_client_does_not_want_gzip(get, accepted):
    answer = get(PAGES["small"], accepted)
    assert answer.status == 200
    assert answer.value("content-encoding") is None
    assert len(json.loads(answer.content)) == SMALL


def test_short_answers_are_plain(get):
    answer = get("/projects", "gzip")
    assert (answer.status, answer.content) == (200, b"[]")
    assert answer.value("content-encoding") is answer.value("vary") is None


@pytest.mark.parametrize("accepted", [None, "gzip"])
@pytest.mark.parametrize("target", PAGES.values(), ids=PAGES)
def test_HEAD_has_the_fields_of_GET(get, target, accepted):
    def fields(answer):
        changing = {"date", "x-request-id", "transfer-encoding"}
        return [(name, value) for name, value in answer.fields if name not in changing]

    assert fields(get(target, accepted, "HEAD")) == fields(get(target, accepted))


def test_the_forms_have_different_strong_tags(get, owner):
    made = owner.api.post("/experiments", {"name": "Tagged", "hypothesis": HYPOTHESIS}, expect=201).json()
    target = f"/experiments/{made['id']}"
    assert get(target).value("etag") == '"1"'
    tag = get(target, "gzip").value("etag")
    assert tag == '"1-gzip"'
    owner.api.put(target, {"outcome": "ship"}, headers={"If-Match": tag}, expect=200)
    owner.api.put(target, {"outcome": "abandon"}, headers={"If-Match": tag}, expect=412)


def test_a_compressed_answer_to_HTTP_1_0_ends_with_the_connection(cluster, owner):
    head = f"GET {PREFIX}{PAGES['large']} HTTP/1.0\r\nAuthorization: Bearer {owner.key}\r\nAccept-Encoding: gzip\r\n\r\n"
    with socket.create_connection(("127.0.0.1", cluster.ports["gateway"]), 120) as connection:
        connection.sendall(head.encode())
        text = b"".join(iter(lambda: connection.recv(65536), b""))
    fields, _, content = text.partition(b"\r\n\r\n")
    assert b"Transfer-Encoding" not in fields
    assert len(json.loads(gzip.decompress(content))) == LARGE

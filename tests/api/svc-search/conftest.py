"""Fixtures of the tests of svc-search.

Most tests of a session share one index. Each test stores papers with its own ids (`new_id`) and its own words (`word`),
so that it does not find papers of other tests. What a built-in embedder says depends on all papers; files that test this have a
`cluster` of their own.
"""

import itertools
import json
import secrets

import pytest

from lib.http import plain_http
from lib.http.identity import identity
from lib.outside.stub_server import StubServer
from lib.wait import wait_for
from lib.scenario.words import new_word

numbers = itertools.count(int(secrets.token_hex(2), 16) % 50000)


@pytest.fixture
def db(cluster):
    """A connection to the schema as the owner of the database."""
    with cluster.postgres.connect("search") as connection:
        yield connection


@pytest.fixture
def new_id():
    """new_id(): an arXiv id that no other test uses."""
    return lambda: f"9801.{next(numbers):05}"


@pytest.fixture
def word():
    """A word that is in no paper of another test."""
    return new_word()


@pytest.fixture
def author():
    """A family name that no other test uses."""
    return new_word().capitalize()


@pytest.fixture
def put(operator, new_id):
    """put(title=..., ...): store a new paper; returns the JSON of the answer."""

    def store(**members):
        return operator.api.put(f"/search/assets/{new_id()}", members, expect=200).json()

    return store


def search(api, query, **members):
    """The ids of the hits that contain a word of the query, best first. Others are only similar in meaning."""
    hits = api.post("/search/assets", {"query": query, **members}, expect=200).json()
    return [hit["arxiv_id"] for hit in hits if hit["highlights"]]


@pytest.fixture
def found(api):
    """found(query, ids): wait until the papers that contain a word of the query are exactly these, in any order."""

    def wait(query, ids, **members):
        def is_found():
            assert set(search(api, query, **members)) == set(ids)
            return True

        wait_for(is_found, f"{query} finds the papers")

    return wait


@pytest.fixture
def internal(cluster):
    """internal(path, body, kind="service"): call svc-search directly, as another service does."""

    def call(path, body, kind="service"):
        sender = identity(cluster, "svc-search", kind)
        return plain_http.post(cluster.url("svc-search") + path, json=body, auth=sender)

    return call


@pytest.fixture
def stub_server():
    """stub_server(answer): start a StubServer; it is closed after the test."""
    made = []

    def start(answer):
        made.append(StubServer(answer))
        return made[-1]

    yield start
    for server in made:
        server.close()


@pytest.fixture
def paper_file(tmp_path):
    """paper_file(rows): write a file of JSON lines; a row that is a string is written unchanged."""

    def write(rows, name="papers.jsonl"):
        path = tmp_path / name
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return path

    return write

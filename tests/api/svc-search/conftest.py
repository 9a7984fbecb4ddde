"""What the tests of svc-search have: papers of their own, a look into the schema, and servers that stand in for others.

All tests of a session share one index. Each makes papers under ids of its own (`new_id`) with words of its own (`word`),
so that none finds another's.
"""

import itertools
import json
import secrets

import httpx
import pytest

from lib.identity import signed
from lib.stand_in import StandIn
from lib.wait import PATIENCE_SECONDS, wait_for
from lib.words import new_word

numbers = itertools.count(int(secrets.token_hex(2), 16) % 50000)


@pytest.fixture
def db(cluster):
    """The schema, as the owner of the database sees it."""
    with cluster.postgres.connect("search") as connection:
        yield connection


@pytest.fixture
def new_id():
    """new_id(): an arXiv id that no other test has."""
    return lambda: f"9801.{next(numbers):05}"


@pytest.fixture
def word():
    """A word that no other test's papers hold."""
    return new_word()


@pytest.fixture
def put(operator, new_id):
    """put(title=..., ...): store a new paper; the answer."""

    def store(**members):
        return operator.api.put(f"/search/assets/{new_id()}", members, expect=200).json()

    return store


def search(api, query, **members):
    """The ids that a search finds by the query's words, in order; others it may find by meaning."""
    hits = api.post("/search/assets", {"query": query, **members}, expect=200).json()
    return [hit["arxiv_id"] for hit in hits if hit["highlights"]]


@pytest.fixture
def found(api):
    """found(query, ids): wait until the query's words find just these, in any order."""

    def wait(query, ids, **members):
        def finds_them():
            assert set(search(api, query, **members)) == set(ids)
            return True

        wait_for(finds_them, f"{query} finds them")

    return wait


@pytest.fixture
def internal(cluster):
    """internal(path, body, kind="service"): ask svc-search as another process of the cluster would."""

    def call(path, body, kind="service"):
        return httpx.post(cluster.url("svc-search") + path, json=body, headers=signed(cluster, kind), timeout=PATIENCE_SECONDS)

    return call


@pytest.fixture
def stand_in():
    """stand_in(answer): a StandIn that is closed at the end of the test."""
    made = []

    def start(answer):
        made.append(StandIn(answer))
        return made[-1]

    yield start
    for server in made:
        server.close()


@pytest.fixture
def paper_file(tmp_path):
    """paper_file(rows): a file of JSON lines; a row may be text, which is written as it is."""

    def write(rows, name="papers.jsonl"):
        path = tmp_path / name
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return path

    return write

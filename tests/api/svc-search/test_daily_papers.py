"""Hugging Face's daily papers, in a replica of their own, against a stub of their server."""

import json
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from lib.system.search_replica import replica  # noqa: F401
from lib.tables import search as search_tables
from lib.wait import wait_for

DAYS = 4


def item(paper, **members):
    return {"paper": {"id": paper, "title": "T", "upvotes": 12, **members}, "publishedAt": "2026-11-20T00:00:00.000Z"}


@pytest.fixture
def pace(db):
    """pace(): seconds until the next run, None: it is due; nothing is known before and after the test."""
    db.autocommit = True
    search_tables.free_turns(db, "daily_papers")
    yield lambda: search_tables.next_turn(db, "daily_papers")
    search_tables.free_turns(db, "daily_papers")


@pytest.fixture
def read(pace, replica, stub_server):  # noqa: F811
    """read(answers): a replica asks a server with these answers, the last one again and again, until it has ended; returns the server."""

    def start(answers, **settings):
        left = list(answers)

        def answer(request):
            now = left.pop(0) if len(left) > 1 else left[0]
            now(request) if callable(now) else request.reply(200, json.dumps(now), Content_Type="application/json")

        stub = stub_server(answer)
        stub.replica = replica(DAILY_PAPERS_URL=stub.url + "/api/daily_papers", **settings)
        wait_for(lambda: pace() is not None, "the run ends")
        return stub

    return start


def test_repositories_and_votes_of_known_papers(read, pace, put, api):
    papers = [put(title=f"Paper {number}")["arxiv_id"] for number in range(4)]
    known = put(title="With code", github_url="https://github.com/acme/first")["arxiv_id"]
    days = [
        [item(papers[0], githubRepo="http://www.github.com/Acme/Ranker/tree/main"), item(known, githubRepo="https://github.com/acme/other"), item("9999.99999")],
        [item(papers[1], upvotes=None, githubRepo="https://evil.example/acme/x"), item(papers[2], upvotes=-1), {"paper": None}, 5, item("no id")],
        [item(papers[0], upvotes=40), item(papers[3] + "v2", upvotes=2**40, githubRepo="https://github.com/orgs/acme")],
        [],
    ]  # fmt: skip
    stub = read(days)
    asked = [parse_qs(urlsplit(path).query) for _, path, _, _ in stub.requests]
    today = datetime.strptime(asked[0]["date"][0], "%Y-%m-%d").date()
    assert datetime.now(UTC).date() - today <= timedelta(days=1)
    assert asked == [{"date": [str(today - timedelta(days=ago))], "limit": ["100"]} for ago in range(DAYS)]
    shown = [api.get(f"/search/assets/{paper}", expect=200).json() for paper in [*papers, known]]
    assert [(paper["github_url"], paper["upvotes"]) for paper in shown] == [
        ("https://github.com/Acme/Ranker", 40), (None, None), (None, None), (None, None), ("https://github.com/acme/first", 12),
    ]  # fmt: skip
    assert 23 * 3600 < pace() <= 24 * 3600


def test_two_replicas_ask_once(read, stub_server, replica, pace):  # noqa: F811
    stub = read([[]])
    replica(DAILY_PAPERS_URL=stub.url + "/api/daily_papers")
    assert len(stub.requests) == DAYS


def too_many(request):
    request.reply(429, "slow down", Retry_After="3600")


def a_page(request):
    request.reply(200, "<!doctype html><title>Hello</title>", Content_Type="text/html")


def huge(request):
    request.reply(200, b"[" + b" " * (5 << 20) + b"]")


def cut_off(request):
    request.cut('[{"paper": {"id": "2401.0')


def an_object(request):
    request.reply(200, '{"error": "gone"}')


@pytest.mark.parametrize("fault", [too_many, a_page, huge, cut_off, an_object])
def test_a_fault_of_the_other_side_does_no_harm(read, pace, put, api, fault):
    paper = put(title="Paper")["arxiv_id"]
    stub = read([[item(paper)], fault])
    assert len(stub.requests) <= 3  # a connection that breaks is tried once more
    assert api.get(f"/search/assets/{paper}", expect=200).json()["upvotes"] == 12
    assert 0.9 * 3600 < pace() <= 3600
    api.get("/search/stats", expect=200)


def test_it_is_off_by_default(cluster, db):
    assert search_tables.next_turn(db, "daily_papers") is None

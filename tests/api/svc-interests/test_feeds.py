"""Atom feeds of recommended papers."""

import json
import re
import time
import uuid
from xml.parsers import expat

import feedparser
import pytest

from lib.http import plain_http
from lib.tables import common
from lib.tables import interests as interests_tables

FEEDS = "/papers/recommended/feeds"
ATOM = "application/atom+xml; charset=utf-8"
HOSTILE = 'A <b>title</b> & "quotes" ]]> \x0b\x1f\ufffe \u00e9\U0001f600 <script>alert(1)</script>'


@pytest.fixture
def interest(interests):
    made = interests.ready(daily_count=5)
    interests.refresh(made)
    return made


@pytest.fixture
def feed(api):
    """feed(**members): the address of a new feed."""
    return lambda **members: api.post(FEEDS, members, expect=201).json()["url"]


def read(url, status=200, **fields):
    answer = plain_http.get(url, headers=fields)
    assert answer.status_code == status, answer.text
    return answer


def parsed(url):
    """The feed as expat accepts it, by a feed reader's library."""
    answer = read(url)
    expat.ParserCreate().Parse(answer.content, True)
    found = feedparser.parse(answer.content)
    assert not found.bozo, found.bozo_exception
    return found


def test_a_feed_has_what_was_recommended(api, interests, papers, interest, feed, cluster):
    url = feed(interest_id=interest["id"])
    assert re.fullmatch(re.escape(cluster.gateway_url) + r"/api/v1\.0/feeds/[A-Za-z0-9_-]{43}", url)
    found, shown = parsed(url), interests.recommended(interest)
    assert {entry.id for entry in found.entries} == {f"urn:uuid:{one['recommendation_id']}" for one in shown}
    by_id = {f"urn:uuid:{one['recommendation_id']}": one for one in shown}
    for entry in found.entries:
        one = by_id[entry.id]
        assert (entry.title, entry.link) == (one["title"], one["url"])
        assert {tag.term for tag in entry.tags} == set(one["resource"]["categories"])
        assert one["reasoning"] in entry.summary and f"Score {one['relevance_score']:.2f}" in entry.summary
        assert entry.updated == entry.published == one["recommended_at"]
    assert found.feed.title == f"expops: {interest['name']}" and found.feed.author == "expops"
    links = {link.rel: link.href for link in found.feed.links}
    assert links == {"self": url, "alternate": f"{cluster.gateway_url}/console/?interest={interest['id']}"}
    assert found.feed.updated == max(one["recommended_at"] for one in shown)


def test_a_feed_of_all_interests_and_a_least_score(api, interests, interest, feed):
    other = interests.ready(name="Another", daily_count=3)
    interests.refresh(other)
    assert len(parsed(feed()).entries) == 8
    scores = sorted(one["relevance_score"] for one in interests.recommended(interest))
    assert len(parsed(feed(interest_id=interest["id"], min_score=scores[2])).entries) == sum(score >= scores[2] for score in scores)
    assert parsed(feed(min_score=1)).entries == []


def test_the_newest_fifty_are_in_a_feed(db, interest, feed):
    for n in range(1, 61):
        interests_tables.add_recommendation(db, interest["id"], f"2402.{n:05}", title=str(n), minutes=n)
    assert [entry.title for entry in parsed(feed(interest_id=interest["id"])).entries] == [str(n) for n in range(60, 10, -1)]


def test_texts_from_outside_stay_texts(db, interests, interest, feed):
    paper = interests.recommended(interest)[0]
    interests_tables.set_paper_text(db, paper["resource_id"], HOSTILE, HOSTILE)
    answer = read(feed(interest_id=interest["id"]))
    interests_tables.set_paper_text(db, paper["resource_id"], paper["title"], paper["abstract"])  # other tests read it, too
    texts = []
    parser = expat.ParserCreate()
    parser.CharacterDataHandler = texts.append
    parser.Parse(answer.content, True)
    kept = re.sub("[\x0b\x1f\ufffe]", "", HOSTILE)
    assert "".join(texts).count(kept) == 2 and b"<script>" not in answer.content


def test_a_reader_that_knows_the_feed_gets_304(db, interests, interest, feed):
    url = feed(interest_id=interest["id"])
    interests_tables.move_recommendations(db, interest["id"], "2 minutes")
    interests_tables.move_changes(db, interest["id"], "2 minutes")
    first = read(url)
    assert first.headers["content-type"] == ATOM and first.headers["cache-control"] == "private, max-age=900"
    etag, modified = first.headers["etag"], first.headers["last-modified"]
    assert time.strptime(modified, "%a, %d %b %Y %H:%M:%S GMT")
    for fields in ({"If-None-Match": etag}, {"If-Modified-Since": modified}, {"If-None-Match": etag, "If-Modified-Since": "x"}):
        again = read(url, 304, **fields)
        assert again.content == b"" and again.headers["last-modified"] == modified
        assert (again.headers["etag"], again.headers["vary"]) == (etag, first.headers["vary"])
    read(url, **{"If-None-Match": '"other"', "If-Modified-Since": modified})
    read(url, **{"If-Modified-Since": "Sat, 01 Jan 2000 00:00:00 GMT"})
    interests.refresh(interest)
    assert read(url, **{"If-None-Match": etag}).headers["etag"] != etag


def test_a_reader_that_knows_only_the_time_gets_what_has_changed(api, db, interests, interest, feed):
    """The name of the interest, and a paper, without a newer paper."""
    url, paper = feed(interest_id=interest["id"]), interests.recommended(interest)[0]
    interests_tables.move_recommendations(db, interest["id"], "1 hour")
    interests_tables.move_changes(db, interest["id"], "1 hour")
    modified = read(url).headers["last-modified"]
    read(url, 304, **{"If-Modified-Since": modified})
    api.put(f"/interests/{interest['id']}", {"name": "Another name"}, expect=200)
    assert "expops: Another name" in read(url, **{"If-Modified-Since": modified}).text
    interests_tables.move_changes(db, interest["id"], "2 minutes")
    later = read(url).headers["last-modified"]
    interests_tables.set_paper_text(db, paper["resource_id"], "Another title", paper["abstract"])
    answer = read(url, **{"If-Modified-Since": later})
    interests_tables.set_paper_text(db, paper["resource_id"], paper["title"], paper["abstract"])  # other tests read it, too
    assert later != modified and "Another title" in answer.text


def test_no_time_is_told_that_later_papers_can_have(db, interest, feed):
    """It is of whole seconds: a reader that comes within a run of several interests would have the others' papers a day later."""
    url = feed()
    made = max(entry.updated_parsed for entry in parsed(url).entries)
    first = read(url)
    assert "last-modified" not in first.headers
    interests_tables.add_recommendation(db, interest["id"], "2402.00001")
    assert read(url, **{"If-Modified-Since": time.strftime("%a, %d %b %Y %H:%M:%S GMT", made)}).content != first.content
    read(url, 304, **{"If-None-Match": read(url).headers["etag"]})


def test_an_address_is_shown_once_and_stored_nowhere(cluster, api, db, interest, feed):
    url = feed(interest_id=interest["id"], min_score=0.25)
    (listed,) = api.get(FEEDS, expect=200).json()
    assert (listed["interest_id"], listed["min_score"]) == (interest["id"], 0.25) and "url" not in listed
    token = url.rpartition("/")[2]
    assert token not in common.rows_as_text(db, "feed")
    read(url)
    assert token not in str(cluster.logs())
    api.delete(f"{FEEDS}/{listed['id']}", expect=200)
    read(url, 404)
    api.problem("DELETE", f"{FEEDS}/{listed['id']}", 404, "not_found")
    told = [json.loads(line) for line in cluster["svc-interests"][0].log().splitlines() if f'"feed_id":"{listed["id"]}"' in line]
    assert [one["message"] for one in told] == ["feed deleted"], "a restore brings it back"
    assert api.get(FEEDS, expect=200).json() == []


def test_a_feed_goes_with_its_interest(cluster, api, interest, feed):
    url = feed(interest_id=interest["id"])
    api.delete(f"/interests/{interest['id']}", expect=200)
    read(url, 404)
    told = [json.loads(line) for line in cluster["svc-interests"][0].log().splitlines() if f'"interest_id":"{interest["id"]}"' in line]
    assert [one["message"] for one in told] == ["interest deleted"], "a restore brings both back"


def test_other_tokens_are_404(anonymous, feed, interest):
    url = feed()
    for token in (url.rpartition("/")[2][:-1] + "~", "x", "x" * 43, "x" * 500, "..%2f" + "x" * 38):
        assert plain_http.get(url.rpartition("/")[0] + "/" + token).status_code in (400, 404)


def test_feeds_are_of_an_account(api, other_user, interest, feed):
    feed(interest_id=interest["id"])
    (mine,) = api.get(FEEDS, expect=200).json()
    assert other_user.api.get(FEEDS, expect=200).json() == []
    other_user.api.problem("DELETE", f"{FEEDS}/{mine['id']}", 404, "not_found")
    other_user.api.problem("POST", FEEDS, 404, "not_found", {"interest_id": interest["id"]})
    api.problem("POST", FEEDS, 404, "not_found", {"interest_id": str(uuid.uuid4())})


def test_an_account_has_twenty_feeds(api, feed):
    for _ in range(20):
        feed()
    problem = api.problem("POST", FEEDS, 409, "conflict", {})
    assert "20 feeds" in problem["detail"]


@pytest.mark.parametrize("body, field", [({"min_score": 2}, "min_score"), ({"min_score": "x"}, "min_score"), ({"interest_id": 5}, "interest_id")])
def test_a_fault_names_its_field(api, body, field):
    problem = api.problem("POST", FEEDS, 400, "invalid_request", body)
    assert [fault["field"] for fault in problem["errors"]] == [field]

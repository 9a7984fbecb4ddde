"""GET /search/assets/{arxiv_id}/similar."""

import secrets
import uuid

import pytest

from lib.http.client import Api
from lib.tables import interests as interests_tables


def faults(document):
    return {fault["field"] for fault in document["errors"]}


@pytest.fixture
def alike(put, word, found):
    """Four papers on the same word, of four years; returns their ids, the oldest first."""
    papers = [
        put(title=f"{word} {number}", abstract=f"All about {word}, again and again.", published_at=f"202{number}-01-01T00:00:00.000Z")
        for number in range(4)
    ]
    found(word, [paper["arxiv_id"] for paper in papers])
    return [paper["arxiv_id"] for paper in papers]


def similar(api, paper, word, **params):
    """The ids of the similar papers that have the word; others are only similar in meaning."""
    answer = api.get(f"/search/assets/{paper}/similar", params=params, expect=200)
    assert answer.headers["X-Search-Strategy"] in ("hybrid", "lexical")
    return [hit["arxiv_id"] for hit in answer.json() if word in hit["title"]]


@pytest.fixture
def interest(cluster, api, alike):
    """An interest for which the third paper was recommended."""
    body = {"name": f"Interest {secrets.token_hex(4)}", "context": "Nothing that is in the papers of this test.", "is_active": False}
    made = api.post("/interests", body, expect=201).json()
    with cluster.postgres.connect("interests") as db:
        interests_tables.add_recommendation(db, made["id"], alike[2])
    return made["id"]


def test_similar_papers_without_the_paper_itself(api, alike, word):
    assert set(similar(api, alike[0], word)) == set(alike[1:])
    assert set(similar(api, alike[0] + "v3", word)) == set(alike[1:])


def test_limit_and_since(api, alike, word):
    assert len(similar(api, alike[0], word, limit=1)) == 1
    assert set(similar(api, alike[0], word, since="2022-01-01")) == set(alike[2:])
    assert similar(api, alike[0], word, since="2024-01-02") == []
    for params in ({"limit": 0}, {"since": "soon"}, {"exclude_seen_by": "me"}, {"query": "x"}):
        document = api.problem("GET", f"/search/assets/{alike[0]}/similar", 400, "invalid_request", params=params)
        assert faults(document) == set(params)


def test_an_id_with_a_slash(operator, api, word, found):
    first, second = f"hep-th/98{secrets.randbelow(10**5):05}", f"hep-th/99{secrets.randbelow(10**5):05}"
    for paper in (first, second):
        operator.api.put(f"/search/assets/{paper}", {"title": word, "abstract": f"On {word}."}, expect=200)
    found(word, [first, second])
    assert similar(api, first, word) == [second]
    assert similar(api, first.replace("/", "%2F"), word) == [second]
    answer = api.get(f"/search/assets/{first}/similar", expect=200)
    api.get(f"/search/assets/{first}/similar", headers={"If-None-Match": answer.headers["ETag"]}, expect=304)


@pytest.mark.parametrize("paper", ["9801.99999", "nothing", "similar"])
def test_a_paper_that_does_not_exist(api, paper):
    api.problem("GET", f"/search/assets/{paper}/similar", 404, "not_found")


def test_papers_that_an_interest_has_seen_are_left_out(api, alike, word, interest):
    assert set(similar(api, alike[0], word, exclude_seen_by=interest)) == {alike[1], alike[3]}
    (nearest,) = api.get(f"/search/assets/{alike[0]}/similar", params={"exclude_seen_by": interest, "limit": 1}, expect=200).json()
    assert nearest["arxiv_id"] in {alike[1], alike[3]}


def test_an_interest_of_nobody_or_of_another_account(cluster, api, alike, interest):
    path = f"/search/assets/{alike[0]}/similar"
    api.problem("GET", path, 404, "not_found", params={"exclude_seen_by": str(uuid.uuid4())})
    cluster.user().api.problem("GET", path, 404, "not_found", params={"exclude_seen_by": interest})


def test_what_was_recommended_is_shown_only_to_who_may_list_it(cluster, api, alike, interest):
    def key(**body):
        answer = api.post("/account/api-keys", {"name": "k", "kind": "automation", **body}, expect=201)
        return Api(cluster.gateway_url, answer.json()["key"])

    path, params = f"/search/assets/{alike[0]}/similar", {"exclude_seen_by": interest}
    searching = key(scopes=["search:read"])
    searching.get(path, expect=200)
    assert searching.problem("GET", path, 403, "insufficient_scope", params=params)["scope"] == "recommendations:read"
    scopes = ["search:read", "recommendations:read"]
    key(scopes=scopes, interest_id=interest).get(path, params=params, expect=200)
    key(scopes=scopes, interest_id=str(uuid.uuid4())).problem("GET", path, 403, "forbidden", params=params)
    key(scopes=scopes, repo="acme/elsewhere").problem("GET", path, 403, "forbidden", params=params)

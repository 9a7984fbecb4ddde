"""The digest in pages of interests, and its entity tag: what has not changed is neither made nor sent."""

import uuid

import pytest

from lib.http import plain_http
from lib.http.identity import identity
from lib.tables import interests as interests_tables
from lib.wait import wait_for

PATH = "/papers/recommended/digest"


@pytest.fixture
def interest(interests):
    """With five recommendations of today."""
    made = interests.ready(daily_count=5)
    interests.refresh(made)
    return interests.get(made)


def digest(api, tag=None, **params):
    """The answer to a request for the digest."""
    return api.get(PATH, params=params, headers={"If-None-Match": tag} if tag else {}, expect=304 if tag else 200)


def listed(answer):
    return [one["id"] for one in answer.json()["interests"]]


def test_interests_come_in_pages(interests, api):
    made = [interests.create()["id"] for _ in range(3)][::-1]
    interests.create(is_active=False)
    whole = digest(api)
    assert whole.headers["X-Total-Count"] == "3" and listed(whole) == made and "Link" not in whole.headers
    page = digest(api, limit_interests=1, offset=1, limit=7)
    assert page.headers["X-Total-Count"] == "3" and listed(page) == [made[1]]
    target = f"</api/v1.0{PATH}?limit_interests=1&offset=%d&limit=7>; rel=\"%s\""
    assert page.headers["Link"] == ", ".join([target % (2, "next"), target % (0, "prev")])
    assert listed(digest(api, offset=3)) == []
    for params in ({"limit_interests": 0}, {"limit_interests": "all"}, {"offset": -1}):
        problem = api.problem("GET", PATH, 400, "invalid_request", params=params)
        assert {error["field"] for error in problem["errors"]} == set(params)


def test_total_counts_the_papers_of_the_page(interests, interest, api):
    interests.ready()
    assert [digest(api, limit_interests=1, offset=offset).json()["total"] for offset in (0, 1)] == [0, 5]


def fail_pool(db, interest):
    """When no task renews it any more: its end would make it ready again."""
    wait_for(lambda: not interests_tables.open_tasks(db, interest), "nothing is computed")
    interests_tables.set_pool_status(db, interest, "failed")


def changes(interests, interest, db):
    """What changes the digest of an account, each with the interest that it is done to."""
    paper = interests.recommended(interest)[0]
    asset = interests_tables.known_paper(db, paper["resource_id"])
    feedback = f"/papers/recommended/{paper['recommendation_id']}/feedback"
    address = f"/interests/{interest['id']}"
    api = interests.api
    return {
        "liked": lambda: interests.feedback(paper, "like"),
        "saved": lambda: interests.feedback(paper, "save"),
        "taken back": lambda: api.delete(feedback, params={"signal": "like"}, expect=200),
        "contradicted": lambda: interests.feedback(paper, "dislike"),
        "refreshed": lambda: interests.refresh(interest),
        "fewer a day": lambda: api.put(address, {"daily_count": 2}, expect=200),
        "withdrawn": lambda: interests_tables.set_asset(db, paper["resource_id"], {**asset, "withdrawn": True}),
        "dropped": lambda: interests_tables.drop_recommendation(db, paper["recommendation_id"]),
        "renamed": lambda: (api.put(address, {"name": f"Renamed {uuid.uuid4()}"}, expect=200), interests.wait_pool(interest)),
        "another context": lambda: (api.put(address, {"context": "Graphs of molecules."}, expect=200), interests.wait_pool(interest)),
        "no pool": lambda: fail_pool(db, interest["id"]),
        "inactive": lambda: interests.toggle(interest),
        "active": lambda: interests.toggle(interest),
        "another": lambda: interests.ready(),
        "deleted": lambda: api.delete(address, expect=200),
    }


def test_each_change_has_another_tag(interests, interest, api, db):
    """The paper that is changed has its old text again after the test: others read it."""
    paper = interests.recommended(interest)[0]["resource_id"]
    asset = interests_tables.known_paper(db, paper)
    try:
        for name, change in changes(interests, interest, db).items():
            before = digest(api, limit=10)
            change()
            now = api.get(PATH, params={"limit": 10}, headers={"If-None-Match": before.headers["ETag"]}, expect=200)
            assert now.json() != before.json() and now.headers["ETag"] != before.headers["ETag"], name
    finally:
        interests_tables.set_asset(db, paper, asset)


def test_what_is_not_shown_changes_no_tag(interests, other_interests, interest, api, db):
    paper = interests.recommended(interest)[0]
    interests.feedback(paper, "like")
    tag = digest(api).headers["ETag"]
    interests.feedback(paper, "like")
    other_interests.refresh(other_interests.ready())
    interests_tables.change_unseen(db, interest["id"])
    answer = digest(api, tag)
    assert answer.content == b"" and answer.headers["ETag"] == tag
    assert digest(api, f'"x", W/{tag}').headers["ETag"] == tag


def test_a_known_digest_is_not_computed(interest, api, db):
    """Its papers are not even read: their table is locked meanwhile."""
    tag = digest(api).headers["ETag"]
    with db.transaction():
        interests_tables.refuse_digest_reads(db)
        digest(api, tag)


@pytest.mark.parametrize("coding", ["gzip", "identity"])
def test_a_304_has_the_tag_and_the_vary_of_the_200(interest, api, coding):
    fields = {"Accept-Encoding": coding}
    first = api.get(PATH, headers=fields, expect=200)
    again = api.get(PATH, headers=fields | {"If-None-Match": first.headers["ETag"]}, expect=304)
    assert (again.headers["ETag"], again.headers["Vary"]) == (first.headers["ETag"], first.headers["Vary"])


def test_tags_are_of_one_account_and_of_what_a_key_sees(interests, interest, api, other_user):
    interests.create()
    tag = digest(api).headers["ETag"]
    other_user.api.get(PATH, headers={"If-None-Match": tag}, expect=200)
    body = {"name": "limited", "kind": "automation", "scopes": ["recommendations:read"], "interest_id": interest["id"]}
    of_one = api.as_key(api.post("/account/api-keys", body, expect=201).json()["key"]).get(PATH, headers={"If-None-Match": tag}, expect=200)
    assert listed(of_one) == [interest["id"]] and of_one.headers["ETag"] != tag


def ask_process(cluster, process, account, **params):
    answer = plain_http.get(f"{process.url}/api/v1.0{PATH}", params=params, headers={"Accept-Encoding": "identity"},
                       auth=identity(cluster, "svc-interests", account=account))
    assert answer.status_code == 200
    return answer.json()


def test_papers_that_do_not_fit_into_memory_are_read_again(cluster, interests, interest, account):
    """Also a paper of two interests, whose recommendations come in one digest."""
    same = interests.ready(context=interest["context"], daily_count=10)
    interests.refresh(same)
    process = cluster.separate("svc-interests", "small", RECOMMENDED_PAPER_CACHE="16KiB", WORKERS="1")
    process.start()
    process.wait_ready()
    try:
        whole = ask_process(cluster, cluster["svc-interests"][0], account, limit=10)
        papers = [paper["resource_id"] for one in whole["interests"] for paper in one["recommendations"]]
        assert len(set(papers)) < len(papers)
        assert [ask_process(cluster, process, account, limit=10) for _ in range(2)] == [whole, whole]
    finally:
        process.stop()


@pytest.mark.usefixtures("second")
def test_replicas_agree_on_the_tag(cluster, interests, interest, account):
    """Also after one was killed, right after it had answered the change."""
    first, other = cluster["svc-interests"][:2]

    def ask(process, status, tag=None):
        fields = {"Accept-Encoding": "identity"} | ({"If-None-Match": tag} if tag else {})
        answer = plain_http.get(f"{process.url}/api/v1.0{PATH}", headers=fields, auth=identity(cluster, "svc-interests", account=account))
        assert answer.status_code == status
        return answer.headers["ETag"]

    tag = ask(first, 200)
    assert ask(other, 304, tag) == tag
    paper = interests.recommended(interest)[0]
    rated = plain_http.post(f"{other.url}/api/v1.0/papers/recommended/{paper['recommendation_id']}/feedback", json={"signal": "like"},
                       auth=identity(cluster, "svc-interests", account=account))
    other.kill9()
    assert rated.status_code == 200
    now = ask(first, 200, tag)
    assert now != tag
    other.start()
    other.wait_ready()
    assert ask(other, 304, now) == now

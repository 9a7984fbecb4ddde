"""Recommendations: refresh, list by period, digest, feedback."""

import re
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import pytest

from lib.tables import common
from lib.tables import interests as interests_tables
from lib.wait import wait_for

ABSENT = "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b"
OTHER_CONTEXT = "Computer vision on small devices: pruned and quantised networks for detection and segmentation."


def faults(document):
    return {fault["field"] for fault in document["errors"]}


def ids(recommendations):
    return [one["resource_id"] for one in recommendations]


@pytest.fixture
def interest(interests):
    """An interest with five recommendations of today."""
    made = interests.ready(daily_count=5)
    interests.refresh(made)
    return made


def test_refresh_reports_its_result(interests):
    made = interests.ready(daily_count=4)
    task = interests.refresh(made)
    assert task["kind"] == "recommendations_refresh"
    assert task["progress"] == 100
    assert task["result"] == {
        "interests": [{"interest_id": made["id"], "recommended": 4, "pool_size": interests.get(made)["pool_size"]}]
    }
    assert "4 recommendations" in task["message"]
    assert interests.get(made)["last_recommendation_at"] is not None


def test_recommendations_have_every_member(interests, papers, interest):
    shown = interests.recommended(interest)
    assert len(shown) == 5
    assert [one["rank"] for one in shown] == [1, 2, 3, 4, 5]
    scores = [one["relevance_score"] for one in shown]
    assert scores == sorted(scores, reverse=True) and scores[0] > scores[-1]
    for one in shown:
        paper = papers[one["resource_id"]]
        assert (one["title"], one["abstract"]) == (paper["title"], paper["abstract"])
        assert one["url"] == f"https://arxiv.org/abs/{one['resource_id']}"
        assert (one["interest_id"], one["interest_name"]) == (interest["id"], interest["name"])
        assert one["resource"]["arxiv_id"] == one["resource_id"]
        assert one["reasoning"] and one["suggested_experiment"] != ""


def test_a_paper_that_an_earlier_version_stored_has_every_member(interests, interest, db):
    """It kept no source, and a part of the abstract. The paper has its text again after the test: others read it."""
    before = interests.recommended(interest)[0]
    paper = before["resource_id"]
    asset = interests_tables.known_paper(db, paper)
    kept = {name: value for name, value in asset.items() if name not in ("source", "doi")}
    try:
        interests_tables.set_asset(db, paper, {**kept, "abstract": "Cut"})
        assert interests.recommended(interest)[0] == before
    finally:
        interests_tables.set_asset(db, paper, asset)


def test_best_recommendations_match_the_interest(interests, interest):
    words = ("retriev", "rank", "search", "question", "quer", "document", "rag")
    for one in interests.recommended(interest)[:3]:
        text = (one["title"] + " " + one["abstract"]).lower()
        assert any(word in text for word in words), one["title"]


def test_an_interest_in_an_author_brings_the_papers(interests, papers):
    author = papers["2504.02921"]["authors"].split(", ")[0]
    made = interests.ready(name=f"Papers by {author}", context=f"What {author} and colleagues have published.")
    interests.refresh(made, num_results=3)
    best = interests.recommended(made)[0]
    assert best["resource_id"] == "2504.02921"
    assert best["reasoning"].startswith(f"By {author}")


def test_two_refreshes_at_once_recommend_different_papers(cluster, interests, db):
    made = interests.ready(daily_count=4)
    with cluster.postgres.connect("interests") as other, other.transaction():
        interests_tables.refuse_recommendations(other)
        tasks = []
        for count in (1, 2):  # one after the other: a second task that finds the first one waiting is the same
            tasks.append(interests.start_refresh(made))
            wait_for(lambda: common.blocked(db, "interests") == count, f"{count} have selected their papers")
    results = [interests.api.wait_task(task)["result"]["interests"] for task in tasks]
    assert [one["recommended"] for (one,) in results] == [4, 4]
    assert len(set(ids(interests.recommended(made)))) == 8


def test_num_results_overrides_daily_count(interests):
    made = interests.ready(daily_count=2)
    interests.refresh(made, num_results=7)
    assert len(interests.recommended(made)) == 7
    interests.refresh(made)
    assert len(interests.recommended(made)) == 9


def test_papers_are_recommended_once_until_the_context_changes(api, interests):
    made = interests.ready_broad()
    for _ in range(4):
        interests.refresh(made, num_results=50)
    first = ids(interests.recommended(made, limit=50)) + ids(interests.recommended(made, limit=50, offset=50))
    assert len(first) == len(set(first)) > 50
    api.put(f"/interests/{made['id']}", {"name": made["name"] + " again"}, expect=200)
    interests.wait_pool(made)
    interests.refresh(made, num_results=3)
    newest = sorted(interests.recommended(made, limit=50), key=lambda one: one["recommended_at"])[-3:]
    assert set(ids(newest)) & set(first)


def test_refresh_without_an_interest_refreshes_the_active_ones(interests, api):
    first, second = interests.ready(daily_count=2), interests.ready(daily_count=3, context=OTHER_CONTEXT)
    inactive = interests.ready(is_active=False)
    task = interests.refresh()
    assert {(one["interest_id"], one["recommended"]) for one in task["result"]["interests"]} == {
        (first["id"], 2),
        (second["id"], 3),
    }
    assert interests.recommended(inactive) == []
    assert len(interests.refresh(inactive)["result"]["interests"]) == 1
    assert len(interests.recommended(inactive)) == 3
    assert ids(interests.recommended(first)) != ids(interests.recommended(second))


def test_refresh_before_the_pool_is_built(interests):
    made = interests.create()
    task = interests.refresh(made)
    assert task["result"]["interests"][0]["recommended"] == 3


def test_refresh_of_an_account_without_interests(interests, api):
    task = api.wait_task(api.post("/papers/recommended/refresh", expect=202))
    assert (task["status"], task["result"]) == ("completed", {"interests": []})


def test_refresh_refuses_invalid_input(api, other_user):
    theirs = other_user.api.post("/interests", {"name": "Theirs", "context": "x"}, expect=201).json()
    path = "/papers/recommended/refresh"
    for interest in (theirs["id"], ABSENT):
        api.problem("POST", path, 404, "not_found", {"interest_id": interest})
    document = api.problem("POST", path, 400, "invalid_request", {"interest_id": "x", "num_results": 51})
    assert faults(document) == {"interest_id", "num_results"}
    api.problem("POST", path, 400, "invalid_request", {"num_results": 0})


def test_refresh_task_is_visible_to_its_account_only(api, interests, other_user):
    answer = api.post("/papers/recommended/refresh", {}, expect=202)
    task = answer.json()["task_id"]
    assert answer.json()["status_url"] == f"/api/v1.0/papers/recommended/refresh/{task}"
    api.wait_task(answer)
    other_user.api.problem("GET", f"/papers/recommended/refresh/{task}", 404, "not_found")
    api.problem("GET", f"/papers/recommended/refresh/{ABSENT}", 404, "not_found")


def test_task_of_another_kind_is_404(api, interests, db):
    made = interests.ready()
    task = common.tasks(db, "pool_build", interest_id=made["id"])[0].id
    api.problem("GET", f"/papers/recommended/refresh/{task}", 404, "not_found")


def test_idempotency_key_starts_one_task(api, interests):
    key = {"Idempotency-Key": str(uuid.uuid4())}
    first = api.post("/papers/recommended/refresh", {}, headers=key, expect=202).json()
    again = api.post("/papers/recommended/refresh", {}, headers=key, expect=202).json()
    assert again["task_id"] == first["task_id"]


def test_concurrent_refreshes_recommend_no_paper_twice(api, interests):
    made = interests.ready(daily_count=5)
    body = {"interest_id": made["id"]}
    started = [api.post("/papers/recommended/refresh", body, expect=202) for _ in range(4)]
    tasks = {one.json()["status_url"]: api.wait_task(one) for one in started}  # equal ones that wait are one task
    counts = [task["result"]["interests"][0]["recommended"] for task in tasks.values()]
    shown = ids(interests.recommended(made, limit=50))
    assert len(shown) == len(set(shown)) == sum(counts) >= 5


@pytest.mark.parametrize(
    ("interval", "periods"),
    [
        ("0 days", {"today", "week", "month", "all"}),
        ("1 day", {"week", "month", "all"}),
        ("6 days", {"week", "month", "all"}),
        ("7 days", {"month", "all"}),
        ("29 days", {"month", "all"}),
        ("30 days", {"all"}),
        ("400 days", {"all"}),
    ],
)
def test_period_limits_list_and_digest(api, interests, db, interest, interval, periods):
    interests_tables.move_recommendations(db, interest["id"], interval)
    for period in ("today", "week", "month", "all"):
        assert len(interests.recommended(period=period)) == (5 if period in periods else 0), period
        digest = api.get("/papers/recommended/digest", params={"period": period}, expect=200).json()
        assert (digest["period"], digest["total"]) == (period, 5 if period in periods else 0)
    assert len(interests.recommended()) == (5 if "today" in periods else 0)


def test_list_pages(api, interests, interest):
    whole = ids(interests.recommended(interest))
    page = api.get("/papers/recommended", params={"limit": 2, "offset": 2}, expect=200)
    assert ids(page.json()) == whole[2:4]
    assert page.headers["X-Total-Count"] == "5"
    assert interests.recommended(offset=5) == []


def test_list_as_bibtex_has_each_paper_once(api, interests, interest):
    """Also where a paper is recommended for two interests."""
    other = interests.ready()
    for one in (interest, other):
        interests.refresh(one, num_results=5)
    answer = api.get("/papers/recommended", params={"limit": 50}, headers={"Accept": "application/x-bibtex"}, expect=200)
    listed = [item["resource_id"] for item in interests.recommended(limit=50)]
    keys = re.findall(r"^@misc\{arXiv:([^,]+),$", answer.text, re.MULTILINE)
    assert len(set(listed)) < len(listed) and keys == list(dict.fromkeys(listed))
    headers = {"Accept": "application/x-bibtex", "If-None-Match": answer.headers["ETag"]}
    api.get("/papers/recommended", params={"limit": 50}, headers=headers, expect=304)


def test_list_of_all_interests_is_ordered_by_relevance(interests, interest):
    second = interests.ready(context=OTHER_CONTEXT)
    interests.refresh(second)
    shown = interests.recommended(limit=1000)
    scores = [one["relevance_score"] for one in shown]
    assert len(shown) == 8 and scores == sorted(scores, reverse=True)
    assert len(interests.recommended(second)) == 3


def test_list_has_at_most_50_items(interests):
    made = interests.ready_broad()
    interests.refresh(made, num_results=50)
    interests.refresh(made, num_results=50)
    assert len(interests.recommended(made, limit=1000)) == 50
    assert len(interests.recommended(made)) == 20


def test_the_funnel_counts_what_became_of_papers(api, interests, interest, db, other_user):
    path = "/papers/recommended"
    papers = api.get(path, params={"limit": 50}, expect=200).json()
    first, second, third = [paper["recommendation_id"] for paper in papers[:3]]
    for id, signal in [(first, "like"), (first, "save"), (first, "implemented"), (second, "dismiss"), (third, "dislike")]:
        api.post(f"{path}/{id}/feedback", {"signal": signal}, expect=200)
    scores = {first: 0.8, second: 0.79, third: 0}
    for id, score in scores.items():
        interests_tables.set_score(db, id, score)
    seen = api.get(f"{path}/funnel", expect=200).json()
    assert {name: seen[name] for name in ("days", "recommended", "liked", "disliked", "implemented")} == {
        "days": 30, "recommended": len(papers), "liked": 1, "disliked": 2, "implemented": 1}  # fmt: skip
    assert seen["since"] == (datetime.now(timezone.utc).date() - timedelta(days=29)).isoformat()
    assert [(band["from"], band["liked"], band["disliked"]) for band in seen["bands"]] == [(0.8, 1, 0), (0.6, 0, 1), (0.4, 0, 0), (0, 0, 1)]
    interests_tables.move_recommendations(db, interest["id"], "40 days")
    assert api.get(f"{path}/funnel", expect=200).json()["recommended"] == 0
    assert api.get(f"{path}/funnel?days=60", expect=200).json()["recommended"] == len(papers)
    assert other_user.api.get(f"{path}/funnel", expect=200).json()["recommended"] == 0
    api.problem("GET", f"{path}/funnel?days=0", 400, "invalid_request")


def test_list_of_another_account_is_empty(interests, other_interests, interest):
    assert other_interests.recommended(interest) == []
    assert other_interests.recommended(period="all") == []
    assert interests.recommended({"id": ABSENT}) == []


@pytest.mark.parametrize("path", ["/papers/recommended", "/papers/recommended/digest"])
@pytest.mark.parametrize("params", [{"period": "year"}, {"source_type": "code_repo"}, {"limit": "0"}, {"limit": "x"}])
def test_invalid_queries_are_refused(api, path, params):
    document = api.problem("GET", path, 400, "invalid_request", params=params)
    assert faults(document) == set(params)


def test_lists_can_be_limited_to_a_source(api, interests, interest):
    for source, count in [("arxiv_paper", 5), ("biorxiv_paper", 0), ("medrxiv_paper", 0)]:
        assert len(interests.recommended(source_type=source)) == count
        digest = api.get("/papers/recommended/digest", params={"source_type": source}, expect=200).json()
        assert (digest["source_types"], digest["total"]) == ([source], count)


def test_invalid_interest_id_is_refused(api):
    api.problem("GET", "/papers/recommended", 400, "invalid_request", params={"interest_id": "x"})


def test_digest_lists_active_interests(api, interests, interest):
    empty = interests.create()
    interests.create(is_active=False)
    digest = api.get("/papers/recommended/digest", expect=200).json()
    assert digest["period"] == "today" and digest["source_types"] == ["arxiv_paper", "biorxiv_paper", "medrxiv_paper"]
    assert [one["id"] for one in digest["interests"]] == [empty["id"], interest["id"]]
    first, second = digest["interests"]
    assert (first["count"], first["recommendations"]) == (0, [])
    assert "computed" in first["message"] and second["message"] is None
    assert (second["count"], second["daily_count"], second["name"]) == (5, 5, interest["name"])
    assert second["recommendations"] == interests.recommended(interest)
    assert digest["total"] == 5


def in_digest(api, interest, **params):
    rows = api.get("/papers/recommended/digest", params=params, expect=200).json()["interests"]
    (found,) = (row for row in rows if row["id"] == interest["id"])
    return found


def test_digest_says_that_nothing_was_computed(api, interests):
    made = interests.ready()
    shown = in_digest(api, made)
    assert (shown["pool_status"], shown["count"]) == ("ready", 0) and "refresh" in shown["message"]
    interests.refresh(made, num_results=3)
    shown = in_digest(api, made)
    assert (shown["count"], shown["message"]) == (3, None)
    api.put(f"/interests/{made['id']}", {"context": "Graph neural networks for molecules."}, expect=200)
    shown = in_digest(api, made)
    assert shown["count"] == 0 and "computed" in shown["message"]
    assert in_digest(api, made, period="all")["message"] is None


@pytest.mark.parametrize(
    ("status", "words"), [("building", "being searched"), ("stale", "being searched"), ("failed", "has failed")],
)  # fmt: skip
def test_digest_says_why_nothing_was_computed(api, interests, db, status, words):
    made = interests.ready()
    interests_tables.set_pool_status(db, made["id"], status)
    shown = in_digest(api, made)
    assert shown["pool_status"] == status and words in shown["message"]


def test_digest_without_papers_after_a_computation_says_nothing(api, interests, interest, db):
    interests_tables.drop_recommendations(db, interest["id"])
    shown = in_digest(api, interest)
    assert (shown["count"], shown["message"]) == (0, None)


def test_digest_limits(api, interests):
    made = interests.ready()
    interests.refresh(made, num_results=20)
    for limit, count in ((None, 5), (1, 1), (10, 10), (99, 10)):
        params = {} if limit is None else {"limit": limit}
        digest = api.get("/papers/recommended/digest", params=params, expect=200).json()
        assert digest["interests"][0]["count"] == len(digest["interests"][0]["recommendations"]) == count
        assert digest["total"] == count


def test_digest_without_interests(api):
    digest = api.get("/papers/recommended/digest", expect=200).json()
    assert (digest["interests"], digest["total"]) == ([], 0)


@pytest.mark.parametrize("signal", ["like", "dislike", "save", "dismiss", "implemented"])
def test_feedback_counts_once(interests, db, interest, signal):
    paper = interests.recommended(interest)[0]
    first = interests.feedback(paper, signal)
    assert (first["recommendation_id"], first["signal"]) == (paper["recommendation_id"], signal)
    assert interests.feedback(paper, signal) == first
    rows = interests_tables.feedback_of(db, paper["recommendation_id"])
    assert rows == [signal]


def test_feedback_is_shown_and_taken_back(interests, interest):
    paper = interests.recommended(interest)[0]
    path = f"/papers/recommended/{paper['recommendation_id']}/feedback"

    def signals():
        return next(one["signals"] for one in interests.recommended(interest) if one["resource_id"] == paper["resource_id"])

    assert paper["signals"] == []
    interests.feedback(paper, "like")
    interests.feedback(paper, "save")
    assert signals() == ["save", "like"]
    removed = interests.api.delete(path, params={"signal": "save"}, expect=200).json()
    assert removed == {"recommendation_id": paper["recommendation_id"], "signal": "save", "removed": True}
    assert signals() == ["like"]
    assert interests.api.delete(path, params={"signal": "save"}, expect=200).json()["removed"] is False


def test_feedback_is_taken_back_by_its_owner_only(interests, other_user, interest):
    paper = interests.recommended(interest)[0]
    path = f"/papers/recommended/{paper['recommendation_id']}/feedback"
    other_user.api.delete(path, params={"signal": "like"}, expect=404)
    assert faults(interests.api.problem("DELETE", path, 400, "invalid_request")) == {"signal"}


def test_opposite_feedback_revokes_earlier_feedback(interests, db, interest):
    paper = interests.recommended(interest)[0]
    for signal in ("like", "save", "dislike", "dismiss"):
        interests.feedback(paper, signal)
    rows = interests_tables.feedback_of(db, paper["recommendation_id"])
    assert rows == ["dislike", "dismiss"]
    interests.feedback(paper, "implemented")
    rows = interests_tables.feedback_of(db, paper["recommendation_id"])
    assert rows == ["implemented"]


def test_of_opposite_feedback_at_once_one_is_left(cluster, db, interests, interest):
    paper = interests.recommended(interest)[0]["recommendation_id"]
    account = interests_tables.account_of(db, interest["id"])
    with cluster.postgres.connect("interests") as first, ThreadPoolExecutor() as pool:
        with first.transaction():
            interests_tables.give_feedback(first, account, paper, "like", ["dislike", "dismiss"])
            second = pool.submit(interests_tables.give_feedback, db, account, paper, "dislike", ["like", "save", "implemented"])
            with cluster.postgres.connect("interests") as watcher:
                wait_for(lambda: common.blocked_by(watcher, first), "the second one waits")
        second.result()
    assert interests_tables.feedback_of(db, paper) == ["dislike"]


def test_feedback_refuses_invalid_input(api, interests, other_user, interest):
    paper = interests.recommended(interest)[0]["recommendation_id"]
    path = f"/papers/recommended/{paper}/feedback"
    for body in ({}, {"signal": "love"}, {"signal": None}, {"signal": 1}):
        document = api.problem("POST", path, 400, "invalid_request", body)
        assert faults(document) == {"signal"}
    other_user.api.problem("POST", path, 404, "not_found", {"signal": "like"})
    api.problem("POST", f"/papers/recommended/{ABSENT}/feedback", 404, "not_found", {"signal": "like"})
    api.problem("POST", "/papers/recommended/x/feedback", 400, "invalid_request", {"signal": "like"})


def refreshed_paper(interests, interest, db, arxiv_id):
    """A paper as svc-interests knows it after a refresh of an interest that has it as a candidate."""
    interests.refresh(interest)
    return interests_tables.known_paper(db, arxiv_id)


def test_a_withdrawn_paper_is_not_recommended(operator, interests, papers, db):
    """The best candidate is withdrawn before the first refresh; its abstract is put back after the test."""
    first = interests.ready(daily_count=1)
    interests.refresh(first)
    [best] = ids(interests.recommended(first))
    path = f"/search/assets/{best}"
    abstract = papers[best]["abstract"]
    try:
        said = f"{abstract} This paper has been withdrawn by the author due to an error in Section 3."
        assert operator.api.put(path, {"abstract": said}, expect=200).json()["withdrawn"] is True
        wait_for(lambda: refreshed_paper(interests, first, db, best)["withdrawn"], "the change is indexed")
        second = interests.ready(daily_count=1)
        interests.refresh(second, num_results=50)
        shown = ids(interests.recommended(second, limit=100))
        assert len(shown) > 1 and best not in shown
    finally:
        operator.api.put(path, {"abstract": abstract}, expect=200)
    wait_for(lambda: not refreshed_paper(interests, first, db, best)["withdrawn"], "the change is indexed")
    third = interests.ready(daily_count=1)
    interests.refresh(third)
    assert ids(interests.recommended(third)) == [best]


def test_a_pool_that_stays_the_same_is_not_written(interests, db):
    """Nor locked, which writes it, too."""
    interest = interests.ready()
    before = interests_tables.pool_writes(db, interest["id"])
    interests.refresh(interest)
    assert interests_tables.pool_writes(db, interest["id"]) == before


def test_a_paper_is_carried_when_it_is_new_or_has_changed(operator, interests, db):
    interest = interests.ready_broad(daily_count=1)
    interests.refresh(interest)
    before = interests_tables.paper_writes(db)
    interests.refresh(interest)
    assert interests_tables.paper_writes(db) == before
    changed = min(interests_tables.pool_of(db, interest["id"]))
    url = f"https://github.com/acme/{uuid.uuid4()}"
    operator.api.put(f"/search/assets/{changed}", {"github_url": url}, expect=200)
    wait_for(lambda: refreshed_paper(interests, interest, db, changed)["github_url"] == url, "the change is known")
    assert interests_tables.paper_writes(db) > before

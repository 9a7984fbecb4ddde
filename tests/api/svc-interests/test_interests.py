"""Interests and their pools: create, read, list, update, toggle, delete."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.tables import common
from lib.tables import interests as interests_tables

OTHER_CONTEXT = "Computer vision on small devices: pruned and quantised networks for detection."
ABSENT = "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b"


def faults(document):
    return {fault["field"] for fault in document["errors"]}


def test_create_returns_the_interest_with_defaults(api):
    made = api.post("/interests", {"name": "Search", "context": "retrieval"}, expect=201).json()
    assert (made["daily_count"], made["is_active"]) == (3, True)
    assert (made["pool_status"], made["pool_size"]) == ("building", 0)
    assert made["model_provider"] is made["source_repo_url"] is made["project_id"] is None
    assert made["last_recommendation_at"] is None
    for name in ("id", "experiment_history_id"):
        assert uuid.UUID(made[name]).version == 7


def test_create_takes_every_writable_field(api):
    body = {
        "name": "Everything",
        "context": "all of it",
        "daily_count": 50,
        "is_active": False,
        "model_provider": "anthropic",
        "source_repo_url": "https://github.com/acme/ranker",
        "project_id": str(uuid.uuid4()),
    }
    made = api.post("/interests", {**body, "pool_size": 7, "id": ABSENT, "nonsense": 1}, expect=201).json()
    assert {name: made[name] for name in body} == body
    assert made["pool_size"] == 0 and made["id"] != ABSENT


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"name", "context"}),
        ({"name": "", "context": " \n "}, {"name", "context"}),
        ({"name": "x" * 201, "context": "x" * 50001}, {"name", "context"}),
        ({"name": None, "context": 7}, {"name", "context"}),
        ({"name": "x", "context": "x", "daily_count": 0}, {"daily_count"}),
        ({"name": "x", "context": "x", "daily_count": 51}, {"daily_count"}),
        ({"name": "x", "context": "x", "daily_count": 2.5}, {"daily_count"}),
        ({"name": "x", "context": "x", "daily_count": None}, {"daily_count"}),
        ({"name": "x", "context": "x", "is_active": "yes"}, {"is_active"}),
        ({"name": "x", "context": "x", "source_repo_url": "ftp://example.org"}, {"source_repo_url"}),
        ({"name": "x", "context": "x", "project_id": "7"}, {"project_id"}),
        ({"name": "x", "context": "x", "model_provider": "x" * 65}, {"model_provider"}),
    ],
)
def test_create_reports_every_fault(api, body, fields):
    document = api.problem("POST", "/interests", 400, "invalid_request", body)
    assert faults(document) == fields


def test_longest_values_are_accepted(api):
    body = {"name": "ü" * 200, "context": "ü" * 50000}
    made = api.post("/interests", body, expect=201).json()
    assert {name: made[name] for name in body} == body


def test_name_is_unique_in_the_account_ignoring_case(api, other_user):
    made = api.post("/interests", {"name": "Ranking", "context": "x"}, expect=201).json()
    api.problem("POST", "/interests", 409, "conflict", {"name": "  rANKING ", "context": "y"})
    other_user.api.post("/interests", {"name": "Ranking", "context": "x"}, expect=201)
    second = api.post("/interests", {"name": "Another", "context": "x"}, expect=201).json()
    api.problem("PUT", f"/interests/{second['id']}", 409, "conflict", {"name": "RANKING"})
    assert api.get(f"/interests/{second['id']}", expect=200).json()["name"] == "Another"
    api.put(f"/interests/{made['id']}", {"name": "ranking"}, expect=200)


def test_name_is_free_again_after_delete(api):
    body = {"name": "Once more", "context": "x"}
    made = api.post("/interests", body, expect=201).json()
    api.delete(f"/interests/{made['id']}", expect=200)
    api.post("/interests", body, expect=201)


def test_interests_that_are_made_at_once_do_not_affect_each_other(api, interests, user, db):
    """Each has its own answer and its own task, also where the name of another one is taken."""
    names = [f"At once {i % 30}" for i in range(34)]
    with ThreadPoolExecutor(len(names)) as pool:
        answers = list(pool.map(lambda name: api.post("/interests", {"name": name, "context": f"about {name}"}), names))
    made = [answer.json() for answer in answers if answer.status_code == 201]
    assert sorted(answer.status_code for answer in answers) == [201] * 30 + [409] * 4
    assert {one["name"] for one in made} == set(names)
    for answer, name in zip(answers, names):
        if answer.status_code == 201:
            assert (answer.json()["name"], answer.json()["context"]) == (name, f"about {name}")
    tasks = [(task.input["interest_id"], task.request_id) for task in common.tasks(db, "pool_build") if str(task.account_id) == user.account]
    requests = {answer.json()["id"]: answer.headers["x-request-id"] for answer in answers if answer.status_code == 201}
    assert sorted(tasks) == sorted(requests.items())
    for one in made:
        interests.wait_pool(one)


def test_idempotency_key_creates_one_interest(api):
    body = {"name": "Only one", "context": "x"}
    key = {"Idempotency-Key": str(uuid.uuid4())}
    first = api.post("/interests", body, headers=key, expect=201).json()
    again = api.post("/interests", body, headers=key, expect=201).json()
    assert again == first
    assert len(api.get("/interests", expect=200).json()) == 1
    api.problem("POST", "/interests", 422, "idempotency_key_reused", {**body, "context": "y"}, headers=key)


def test_idempotency_key_of_a_conflict_creates_nothing(api):
    api.post("/interests", {"name": "Taken", "context": "x"}, expect=201)
    key = {"Idempotency-Key": str(uuid.uuid4())}
    api.problem("POST", "/interests", 409, "conflict", {"name": "Taken", "context": "x"}, headers=key)
    assert len(api.get("/interests", expect=200).json()) == 1


def test_list_is_newest_first_in_pages(api):
    made = [api.post("/interests", {"name": f"n{i}", "context": "x", "is_active": i % 2 == 0}, expect=201).json()["id"]
            for i in range(5)]
    newest = made[::-1]
    answer = api.get("/interests", expect=200)
    assert [one["id"] for one in answer.json()] == newest
    assert answer.headers["X-Total-Count"] == "5"
    page = api.get("/interests", params={"limit": 2, "offset": 2}, expect=200)
    assert [one["id"] for one in page.json()] == newest[2:4]
    assert 'rel="next"' in page.headers["Link"] and 'rel="prev"' in page.headers["Link"]
    assert api.get("/interests", params={"offset": 9}, expect=200).json() == []
    assert len(api.get("/interests", params={"limit": 1000}, expect=200).json()) == 5


@pytest.mark.parametrize("params", [{"limit": "0"}, {"limit": "x"}, {"limit": "-1"}, {"offset": "-1"}, {"limit": ""}])
def test_list_refuses_invalid_queries(api, params):
    document = api.problem("GET", "/interests", 400, "invalid_request", params=params)
    assert faults(document) == set(params)


def test_interests_that_are_read_at_once_do_not_affect_each_other(api, other_user):
    mine = [api.post("/interests", {"name": f"Read at once {i}", "context": "x"}, expect=201).json() for i in range(3)]
    other = other_user.api.post("/interests", {"name": "Of another one", "context": "x"}, expect=201).json()
    asked = [one["id"] for one in mine] + [other["id"], ABSENT]
    with ThreadPoolExecutor(8 * len(asked)) as pool:
        answers = list(pool.map(lambda id: api.get(f"/interests/{id}"), 8 * asked))
    for id, answer in zip(8 * asked, answers):
        assert answer.status_code == (404 if id in (other["id"], ABSENT) else 200)
        assert answer.json().get("id", id) == id


def test_get_has_an_empty_history(api):
    made = api.post("/interests", {"name": "Alone", "context": "x"}, expect=201).json()
    got = api.get(f"/interests/{made['id']}", expect=200).json()
    assert got["experiment_history"] == ""
    assert got.keys() - made.keys() == {"experiment_history", "context_sources", "model"}
    assert (got["context_sources"], got["model"]) == ([], None)


def test_update_changes_the_given_members_only(api, interests):
    made = interests.ready(model_provider="anthropic")
    path = f"/interests/{made['id']}"
    changed = api.put(path, {"daily_count": 9, "source_repo_url": "https://example.org/r"}, expect=200).json()
    assert (changed["daily_count"], changed["source_repo_url"]) == (9, "https://example.org/r")
    assert changed["model_provider"] == "anthropic"
    assert "pool_invalidated" not in changed
    assert changed["pool_status"] == "ready" and changed["pool_size"] == made["pool_size"] > 0
    assert changed["updated_at"] > made["updated_at"]
    cleared = api.put(path, {"model_provider": None, "source_repo_url": None}, expect=200).json()
    assert cleared["model_provider"] is cleared["source_repo_url"] is None


def test_update_with_the_body_of_a_get_changes_nothing(api):
    made = api.post("/interests", {"name": "Back", "context": "x"}, expect=201).json()
    read = api.get(f"/interests/{made['id']}", expect=200).json()
    again = api.put(f"/interests/{made['id']}", read, expect=200).json()
    assert "pool_invalidated" not in again
    assert (again["name"], again["context"]) == (made["name"], made["context"])


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"body"}),
        ({"id": ABSENT, "pool_size": 3, "unknown": 1}, {"body"}),
        ({"name": None}, {"name"}),
        ({"context": ""}, {"context"}),
        ({"daily_count": 51, "is_active": None}, {"daily_count", "is_active"}),
    ],
)
def test_update_refuses_invalid_input(api, body, fields):
    made = api.post("/interests", {"name": "Stays", "context": "x"}, expect=201).json()
    document = api.problem("PUT", f"/interests/{made['id']}", 400, "invalid_request", body)
    assert faults(document) == fields
    now = api.get(f"/interests/{made['id']}", expect=200).json()
    assert (now["name"], now["context"], now["daily_count"]) == ("Stays", "x", 3)


@pytest.mark.parametrize("change", [{"context": OTHER_CONTEXT}, {"name": "Vision on devices"}])
def test_new_name_or_context_rebuilds_the_pool(api, interests, change):
    made = interests.ready()
    changed = api.put(f"/interests/{made['id']}", change, expect=200).json()
    assert changed["pool_invalidated"] == made["pool_size"] > 0
    assert (changed["pool_status"], changed["pool_size"]) == ("stale", 0)
    assert interests.wait_pool(made)["pool_size"] > 0


def test_same_name_and_context_keep_the_pool(api, interests):
    made = interests.ready()
    again = api.put(f"/interests/{made['id']}", {"name": made["name"], "context": made["context"]}, expect=200).json()
    assert "pool_invalidated" not in again
    assert (again["pool_status"], again["pool_size"]) == ("ready", made["pool_size"])


def test_rebuilt_pool_matches_the_new_context(api, interests, db):
    made = interests.ready()
    best = lambda: list(interests_tables.pool_of(db, made["id"]))[:10]  # noqa: E731
    before = best()
    api.put(f"/interests/{made['id']}", {"context": OTHER_CONTEXT}, expect=200)
    interests.wait_pool(made)
    assert best() != before


def test_toggle_keeps_the_pool(api, interests):
    made = interests.ready()
    path = f"/interests/{made['id']}/toggle"
    off = api.post(path, expect=200).json()
    assert off["is_active"] is False and off["pool_size"] == made["pool_size"]
    assert api.post(path, expect=200).json()["is_active"] is True


def test_a_second_pause_is_no_new_version(api, interests):
    path = f"/interests/{interests.create(is_active=False)['id']}"
    for action in ("pause-agent", "resume-agent"):
        before = api.get(path, expect=200)
        first = api.post(f"{path}/{action}", expect=200).json()
        after = api.get(path, expect=200)
        assert first["updated_at"] > before.json()["updated_at"] and after.headers["ETag"] != before.headers["ETag"]
        assert api.post(f"{path}/{action}", expect=200).json() == first
        assert api.get(path, expect=200).headers["ETag"] == after.headers["ETag"]


def test_delete_deletes_all_rows_of_the_interest(api, interests, db):
    made = interests.ready()
    interests.refresh(made)
    interests.feedback(interests.recommended(made)[0], "like")
    assert api.delete(f"/interests/{made['id']}", expect=200).json() == {"id": made["id"], "deleted": True}
    api.problem("GET", f"/interests/{made['id']}", 404, "not_found")
    api.problem("DELETE", f"/interests/{made['id']}", 404, "not_found")
    assert interests.recommended(period="all") == []
    assert common.tables_with(db, ["interest"], id=made["id"]) == []
    assert common.tables_with(db, ["pool_entry", "recommendation", "preference_model"], interest_id=made["id"]) == []


OWN = [
    ("GET", "/interests/{id}", None),
    ("PUT", "/interests/{id}", {"daily_count": 5}),
    ("DELETE", "/interests/{id}", None),
    ("POST", "/interests/{id}/toggle", None),
]


@pytest.mark.parametrize(("method", "path", "body"), OWN)
def test_interest_of_another_account_is_404(api, other_user, method, path, body):
    theirs = other_user.api.post("/interests", {"name": "Theirs", "context": "x"}, expect=201).json()
    for interest in (theirs["id"], ABSENT):
        api.problem(method, path.format(id=interest), 404, "not_found", body)
    now = other_user.api.get(f"/interests/{theirs['id']}", expect=200).json()
    assert (now["daily_count"], now["is_active"]) == (3, True)
    assert api.get("/interests", expect=200).json() == []


@pytest.mark.parametrize(("method", "path", "body"), OWN)
def test_invalid_id_is_400(api, method, path, body):
    document = api.problem(method, path.format(id="seven"), 400, "invalid_request", body)
    assert faults(document) == {"interest_id"}


def test_papers_linked_in_the_context_are_searched_with(interests, papers, db):
    named = next(paper for paper in papers.values() if "diffusion" in paper["title"].lower())
    made = interests.ready(context=f"https://arxiv.org/abs/{named['id']}v1")
    pool = list(interests_tables.pool_of(db, made["id"]))
    assert len(pool) == made["pool_size"]
    assert named["id"] not in pool
    assert any("diffusion" in papers[paper]["title"].lower() for paper in pool[:5])


def test_many_pools_are_built_at_once(api, interests):
    made = [interests.create(context=f"retrieval of kind {i}") for i in range(8)]
    for interest in made:
        assert interests.wait_pool(interest)["pool_size"] > 0


def test_pool_build_of_a_deleted_interest_completes(api, db):
    made = api.post("/interests", {"name": "Short-lived", "context": "x"}, expect=201).json()
    api.delete(f"/interests/{made['id']}", expect=200)
    (task,) = common.tasks(db, "pool_build", interest_id=made["id"])
    assert common.wait_ended(db, task.id)[0] == "completed"

"""Projects and their experiments."""

import uuid

import pytest

from lib.tables import experiments as experiments_tables
from lib.wait import wait_for


def test_create_read_update_delete(api):
    made = api.post("/projects", {"name": " Ranking ", "description": "Order of results."}, expect=201).json()
    assert (made["name"], made["description"], made["experiments_count"]) == ("Ranking", "Order of results.", 0)
    assert made["created_at"] == made["updated_at"]
    path = f"/projects/{made['id']}"
    assert api.get(path, expect=200).json() == made
    now = api.put(path, {"name": "Ranking and recall"}, expect=200).json()
    assert now == {**made, "name": "Ranking and recall", "updated_at": now["updated_at"]}
    assert now["updated_at"] > made["updated_at"]
    assert api.put(path, {"description": None}, expect=200).json()["description"] is None
    assert api.delete(path, expect=200).json() == {"id": made["id"], "deleted": True}
    for method, body in (("GET", None), ("PUT", {"name": "x"}), ("DELETE", None)):
        assert api.problem(method, path, 404, "not_found", body)["detail"] == "no such project"


def test_the_list_is_newest_first(api):
    ids = [api.post("/projects", {"name": str(number)}, expect=201).json()["id"] for number in range(4)][::-1]
    answer = api.get("/projects", expect=200)
    assert [project["id"] for project in answer.json()] == ids
    assert answer.headers["x-total-count"] == "4"
    page = api.get("/projects", params={"limit": 1, "offset": 1}, expect=200)
    assert [project["id"] for project in page.json()] == ids[1:2]
    assert {"next", "prev"} <= set(page.links)


def test_a_name_is_unique_in_the_account(api, other_user):
    first = api.post("/projects", {"name": "Ranking"}, expect=201).json()
    second = api.post("/projects", {"name": "ranking"}, expect=201).json()
    other_user.api.post("/projects", {"name": "Ranking"}, expect=201)
    detail = "a project of this name exists"
    assert api.problem("POST", "/projects", 409, "conflict", {"name": "Ranking"})["detail"] == detail
    path = f"/projects/{second['id']}"
    assert api.problem("PUT", path, 409, "conflict", {"name": "Ranking"})["detail"] == detail
    api.put(f"/projects/{first['id']}", {"name": "Ranking", "description": "its own"}, expect=200)


def test_concurrent_creations_of_a_name_succeed_once(api, at_once):
    answers = at_once(8, lambda _: api.post("/projects", {"name": "Wanted"}))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 7


def test_an_idempotency_key_creates_once(api):
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    first, again = (api.post("/projects", {"name": "Once"}, headers=headers, expect=201) for _ in range(2))
    assert first.json() == again.json()


def test_a_conflict_under_an_idempotency_key_is_409(api):
    api.post("/projects", {"name": "Taken"}, expect=201)
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    api.problem("POST", "/projects", 409, "conflict", {"name": "Taken"}, headers=headers)


@pytest.mark.parametrize("method, body", [("GET", None), ("PUT", {"name": "mine"}), ("DELETE", None)])
def test_another_account_gets_404(api, other_user, make_project, method, body):
    project = make_project()
    other_user.api.problem(method, f"/projects/{project['id']}", 404, "not_found", body)
    assert other_user.api.get("/projects").json() == []
    assert api.get(f"/projects/{project['id']}", expect=200).json() == project


def test_a_project_counts_its_experiments_and_names_them(api, make, make_project):
    project, other = make_project(), make_project()
    members = [make(project_id=project["id"]) for _ in range(3)]
    make(project_id=other["id"])
    assert api.get(f"/projects/{project['id']}").json()["experiments_count"] == 3
    api.put(f"/projects/{project['id']}", {"name": "Renamed"}, expect=200)
    assert {item["project_name"] for item in api.get("/experiments", params={"project_id": project["id"]}).json()} == {
        "Renamed"
    }
    api.put(f"/experiments/{members[0]['id']}", {"project_id": other["id"]}, expect=200)
    api.delete(f"/experiments/{members[1]['id']}", expect=200)
    counts = {item["id"]: item["experiments_count"] for item in api.get("/projects").json()}
    assert counts == {project["id"]: 1, other["id"]: 2}


def test_experiments_of_a_deleted_project_are_kept(api, make, make_project):
    project, other = make_project(), make_project()
    members = [make(project_id=project["id"])["id"] for _ in range(3)]
    bystander = make(project_id=other["id"])
    api.delete(f"/projects/{project['id']}", expect=200)
    for member in members:
        now = api.get(f"/experiments/{member}", expect=200)
        assert (now.json()["project_id"], now.json()["project_name"]) == (None, None)
        (entry,) = now.json()["history"]
        assert (entry["field"], entry["from"], entry["to"]) == ("project_id", project["id"], None)
        assert entry["by"] is not None
        assert now.headers["etag"] == '"2"'
    assert api.get(f"/experiments/{bystander['id']}").json() == bystander


def test_no_experiment_keeps_a_deleted_project(api, make_project, at_once):
    """Experiments are created while the project is deleted: each is detached, or refused with 400."""
    project = make_project()["id"]

    def join_or_delete(number):
        if number == 4:
            return api.delete(f"/projects/{project}")
        return api.post("/experiments", {"name": f"member {number}", "project_id": project})

    answers = at_once(12, join_or_delete)
    assert answers.pop(4).status_code == 200
    assert {answer.status_code for answer in answers} <= {201, 400}
    made = [answer.json()["id"] for answer in answers if answer.status_code == 201]
    for experiment in made:
        now = api.get(f"/experiments/{experiment}", expect=200).json()
        assert now["project_id"] is None
        assert [entry["field"] for entry in now["history"]] == ["project_id"]


@pytest.fixture
def large_project(db, user, make_project):
    """A project with 3,000 experiments."""
    project = make_project(name="large")
    experiments_tables.fill_project(db, user.account, project["id"], 3000)
    return project


def test_a_large_project_is_gone_at_once_and_its_experiments_follow(cluster, api, db, user, make, make_project, large_project):
    """Also when the process that deletes it is killed."""
    project = large_project["id"]
    experiment = api.get("/experiments", params={"project_id": project, "offset": 2999}, expect=200).json()[0]["id"]
    interest = api.post("/interests", {"name": "own", "context": "Sparse attention.", "project_id": project}, expect=201).json()["id"]
    key = {"name": "limited", "kind": "automation", "scopes": ["experiments:read"], "interest_id": interest}
    limited = api.as_key(api.post("/account/api-keys", key, expect=201).json()["key"])
    limited.get(f"/experiments/{experiment}", expect=200)
    with cluster.postgres.connect("experiments") as other, other.transaction():
        experiments_tables.lock_experiment(other, experiment)
        api.delete(f"/projects/{project}", expect=200)
        assert experiments_tables.members(db, project)[0] >= 1
        api.problem("GET", f"/projects/{project}", 404, "not_found")
        assert api.get("/projects", expect=200).json() == []
        assert make_project(name="large")["experiments_count"] == 0
        shown = [api.get(f"/experiments/{experiment}", expect=200).json(), api.get("/experiments", params={"offset": 2999}, expect=200).json()[0]]
        assert [(one["id"], one["project_id"], one["project_name"]) for one in shown] == [(experiment, None, None)] * 2
        assert api.get("/experiments", params={"project_id": project}, expect=200).json() == []
        assert limited.get("/experiments", expect=200).json() == []
        limited.problem("GET", f"/experiments/{experiment}", 404, "not_found")
        api.problem("POST", "/experiments", 400, "invalid_request", {"name": "late", "project_id": project})
        outside = make()["id"]
        api.problem("PUT", f"/experiments/{outside}", 400, "invalid_request", {"project_id": project})
        cluster.kill9("svc-experiments")
    cluster.recover()
    wait_for(lambda: experiments_tables.members(db, project) == (0, 3000), "its experiments belong to no project")
    (entry,) = api.get(f"/experiments/{experiment}", expect=200).json()["history"]
    assert (entry["field"], entry["from"], entry["to"]) == ("project_id", project, None) and entry["by"] is not None

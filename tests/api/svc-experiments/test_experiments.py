"""Single experiments: create, read, update, delete, and their history."""

import json
import uuid

import pytest

from lib.tables import common
from lib.tables import experiments as experiments_tables

DETAIL_ONLY = {
    "source_type", "source_ref", "launch_context", "ab_test_config", "ab_test_results", "linked_resources",
    "pipeline_status", "branch_name", "history",
}
STATUSES = ["draft", "running", "complete", "analyzing", "shipped", "iterating", "rejected", "abandoned"]
NULLABLE = [
    "hypothesis", "outcome", "decision", "observed_delta", "delta_confidence", "target_metric", "pr_url", "pr_status",
    "external_ticket_id", "ticket_source", "ticket_url", "launch_context", "ab_test_config", "ab_test_results",
]


def changes(experiment):
    """The history as (field, from, to), oldest first."""
    return [(entry["field"], entry["from"], entry["to"]) for entry in reversed(experiment["history"])]


def fault_fields(problem):
    return [fault["field"] for fault in problem["errors"]]


# ---- create ----


def test_a_name_is_enough(api):
    answer = api.post("/experiments", {"name": "  Larger batch\n"}, expect=201)
    made = answer.json()
    assert answer.headers["etag"] == '"1"'
    assert made["name"] == "Larger batch"
    known = {name: value for name, value in made.items() if value is not None}
    assert known == {
        "id": made["id"], "name": "Larger batch", "status": "draft", "tags": [], "created_via": "api",
        "source_type": "manual", "linked_resources": [], "pipeline_status": "idle", "history": [],
        "created_at": made["created_at"], "updated_at": made["created_at"],
    }
    assert api.get(f"/experiments/{made['id']}", expect=200).json() == made


def test_every_member_can_be_set_at_creation(api, make_project, writable, fixed):
    project = make_project()
    body = {**writable, **fixed, "project_id": project["id"]}
    made = api.post("/experiments", body, expect=201).json()
    assert {name: made[name] for name in body} == body
    assert made["project_name"] == project["name"]
    assert made["history"] == []


def test_a_list_leaves_out_the_detail(api, writable, fixed):
    made = api.post("/experiments", {**writable, **fixed}, expect=201).json()
    (listed,) = api.get("/experiments", expect=200).json()
    assert listed == {name: value for name, value in made.items() if name not in DETAIL_ONLY}


def test_an_idempotency_key_creates_once(api):
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    first, again = (api.post("/experiments", {"name": "Once"}, headers=headers, expect=201) for _ in range(2))
    assert first.json() == again.json()
    assert first.headers["etag"] == again.headers["etag"]
    assert api.get("/experiments").headers["x-total-count"] == "1"


@pytest.mark.parametrize("project", ["019c1363-49c0-781f-a8e2-5d940ed90475", "another's"])
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_an_unknown_project_is_400(api, other_user, make, method, project):
    if project == "another's":
        project = other_user.api.post("/projects", {"name": "Theirs"}, expect=201).json()["id"]
    path = "/experiments" if method == "POST" else f"/experiments/{make()['id']}"
    document = api.problem(method, path, 400, "invalid_request", {"name": "x", "project_id": project})
    assert fault_fields(document) == ["project_id"]


NESTED_FAULTS = [
    ({"launch_context": {"resource": "2205.14135"}}, "launch_context.resource"),
    ({"launch_context": {"resource": {"url": 7}}}, "launch_context.resource.url"),
    ({"launch_context": {"key_methods": {}}}, "launch_context.key_methods"),
    ({"launch_context": {"key_methods": [{}, "tiling"]}}, "launch_context.key_methods[1]"),
    ({"launch_context": {"key_methods": [{"name": None}]}}, "launch_context.key_methods[0].name"),
    ({"launch_context": {"task_description": ["x"]}}, "launch_context.task_description"),
    ({"linked_resources": ["x"]}, "linked_resources[0]"),
    ({"linked_resources": [{"type": "a"}, {"id": "b"}]}, "linked_resources[1].type"),
    ({"linked_resources": [{"type": ""}]}, "linked_resources[0].type"),
    ({"linked_resources": [{"type": "a", "url": 7}]}, "linked_resources[0].url"),
    ({"tags": ["x"] * 33}, "tags"),
    ({"tags": ["ä" * 65]}, "tags"),
    ({"tags": ["x", None]}, "tags"),
    ({"tags": [""]}, "tags"),
]


@pytest.mark.parametrize("body, field", NESTED_FAULTS)
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_nested_members_are_checked(api, make, method, body, field):
    path = "/experiments" if method == "POST" else f"/experiments/{make()['id']}"
    document = api.problem(method, path, 400, "invalid_request", {"name": "x", **body})
    assert fault_fields(document) == [field]


TOO_LARGE = {
    "two bytes a character": {"hypothesis": "€" * 7000},
    "escapes": {"decision": "\u0001" * 4000},
    "launch_context": {"launch_context": {"implementation_plan": "p" * 65_536}},
    "a member that is not named": {"launch_context": {"mine": ["x" * 1000] * 70}},
    "ab_test_config": {"ab_test_config": {"a": "x" * 65_536}},
    "ab_test_results": {"ab_test_results": {"a": "\n" * 32_768}},
    "linked_resources": {"linked_resources": [{"type": "t", "title": "x" * 1000}] * 70},
    "pr_url": {"pr_url": "https://a.example/" + "ü" * 1500},
}


@pytest.mark.parametrize("body", TOO_LARGE.values(), ids=TOO_LARGE)
def test_values_are_limited_in_bytes(api, make, body):
    made = make()
    answer = api.put(f"/experiments/{made['id']}", body, expect=400).json()
    assert [fault["field"] for fault in answer["errors"]] == list(body)
    assert "bytes as JSON" in answer["errors"][0]["message"]


def test_values_at_the_limits_are_accepted(make):
    body = {
        "name": "ä" * 500, "tags": ["ä" * 64] * 32, "hypothesis": "ß" * 10000, "observed_delta": 1.7976931348623157e308,
        "linked_resources": [{"type": "t", "id": str(number), "title": None, "url": None} for number in range(100)],
    }
    made = make(**body)
    assert {name: made[name] for name in body} == body


def test_links_always_have_all_members(make):
    (link,) = make(linked_resources=[{"type": "dashboard", "colour": "red"}])["linked_resources"]
    assert link == {"type": "dashboard", "id": None, "title": None, "url": None}


@pytest.mark.parametrize("delta", [0, -0.0, 12, 0.1, -1e-300, 1e300, 3.0000000000000004])
def test_a_delta_keeps_its_exact_value(api, make, delta):
    made = make(observed_delta=delta)
    assert api.get(f"/experiments/{made['id']}").json()["observed_delta"] == delta


# ---- read ----


@pytest.mark.parametrize("method, body", [("GET", None), ("PUT", {"status": "running"}), ("DELETE", None)])
def test_another_account_gets_404(api, other_user, make, method, body):
    made = make()
    for path in (f"/experiments/{made['id']}", f"/experiments/{uuid.uuid4()}"):
        assert other_user.api.problem(method, path, 404, "not_found", body)["detail"] == "no such experiment"
    assert other_user.api.get("/experiments", expect=200).json() == []
    assert api.get(f"/experiments/{made['id']}", expect=200).json() == made


def test_a_long_history_is_cut_to_its_newest_entries(api, make, db):
    """The number and the size of the entries are bounded."""
    made = make()
    experiments_tables.add_history(db, made["id"], "hypothesis", 6, was=json.dumps("x" * 1_000_000))
    shown = api.get(f"/experiments/{made['id']}", expect=200).json()["history"]
    assert [entry["to"] for entry in shown] == [6, 5, 4, 3]
    experiments_tables.add_history(db, made["id"], "decision", 1200)
    shown = api.put(f"/experiments/{made['id']}", {"status": "running"}, expect=200).json()["history"]
    assert len(shown) == 1000
    assert [shown[0]["field"], shown[1]["to"], shown[-1]["to"]] == ["status", 1200, 202]


# ---- update ----


def test_only_given_members_change(api, make, writable, fixed):
    made = make(**writable, **fixed)
    answer = api.put(f"/experiments/{made['id']}", {"decision": "Ship it."}, expect=200)
    now = answer.json()
    assert now["decision"] == "Ship it."
    moving = {"decision", "history", "updated_at"}
    assert {k: v for k, v in now.items() if k not in moving} == {k: v for k, v in made.items() if k not in moving}
    assert now["updated_at"] > made["updated_at"]
    assert answer.headers["etag"] == '"2"'
    assert api.get(f"/experiments/{made['id']}").json() == now


def test_everything_writable_can_be_changed(api, make, make_project, writable):
    made, project = make(), make_project()
    body = {**writable, "project_id": project["id"]}
    now = api.put(f"/experiments/{made['id']}", body, expect=200).json()
    assert {name: now[name] for name in body} == body
    assert sorted(changes(now)) == sorted((name, made[name], value) for name, value in body.items())
    assert len({entry["at"] for entry in now["history"]}) == 1


def test_null_clears(api, make, make_project, writable):
    made = make(**writable, project_id=make_project()["id"])
    cleared = dict.fromkeys([*NULLABLE, "project_id"])
    now = api.put(f"/experiments/{made['id']}", cleared, expect=200).json()
    assert {name: now[name] for name in cleared} == cleared
    assert now["project_name"] is None
    assert sorted(name for name, _, _ in changes(now)) == sorted(cleared)


@pytest.mark.parametrize("name", ["name", "status", "tags", "linked_resources"])
def test_null_is_refused_where_it_is_not_allowed(api, make, name):
    document = api.problem("PUT", f"/experiments/{make()['id']}", 400, "invalid_request", {name: None})
    assert fault_fields(document) == [name]


def test_arrays_can_be_emptied(api, make, writable):
    made = make(**writable)
    now = api.put(f"/experiments/{made['id']}", {"tags": [], "linked_resources": []}, expect=200).json()
    assert (now["tags"], now["linked_resources"]) == ([], [])


def test_an_unchanged_experiment_can_be_sent_back(api, make, writable, fixed):
    made = make(**writable, **fixed)
    answer = api.put(f"/experiments/{made['id']}", made, expect=200)
    assert answer.json() == made
    assert answer.headers["etag"] == '"1"'


def test_read_only_members_are_ignored(api, make, fixed):
    made = make(**fixed)
    body = {
        "id": str(uuid.uuid4()), "created_via": "web", "source_type": "ticket", "source_ref": "T-1", "history": [],
        "created_at": "2020-01-01T00:00:00.000Z", "pipeline_status": "completed", "branch_name": "b",
        "account_id": str(uuid.uuid4()), "version": 7,
    }
    api.problem("PUT", f"/experiments/{made['id']}", 400, "invalid_request", body)
    now = api.put(f"/experiments/{made['id']}", {**body, "status": "running"}, expect=200).json()
    assert changes(now) == [("status", "draft", "running")]
    assert {name: now[name] for name in body if name in made and name != "history"} == {
        name: made[name] for name in body if name in made and name != "history"
    }


def test_a_status_may_follow_any_other(api, make):
    path = f"/experiments/{make()['id']}"
    walk = [after for before in STATUSES for after in (before, *STATUSES)]
    for status in walk:
        assert api.put(path, {"status": status}, expect=200).json()["status"] == status
    walk = ["draft", *walk]
    steps = [("status", before, after) for before, after in zip(walk, walk[1:]) if before != after]
    assert changes(api.get(path).json()) == steps


def test_history_names_the_key(user, make):
    made = make()
    other = user.api.post("/account/api-keys", {"name": "second"}, expect=201).json()
    keys = {key["name"]: key["id"] for key in user.api.get("/account/api-keys").json()["keys"]}
    first = next(key for name, key in keys.items() if name != "second")
    user.api.put(f"/experiments/{made['id']}", {"status": "running"}, expect=200)
    now = user.api.as_key(other["key"]).put(f"/experiments/{made['id']}", {"status": "complete"}, expect=200).json()
    assert [(entry["to"], entry["by"]) for entry in now["history"]] == [("complete", other["id"]), ("running", first)]
    assert now["history"][0]["at"] == now["updated_at"]


def test_equal_values_are_no_change(api, make, writable):
    made = make(**writable)
    answer = api.put(f"/experiments/{made['id']}", writable, expect=200)
    assert answer.headers["etag"] == '"1"'
    assert answer.json() == made


# ---- versions ----


@pytest.mark.parametrize("match", ['"1"', "*", '"7", "1"', 'W/"9", "1"', ',"1",'])
def test_a_matching_version_is_changed(api, make, match):
    path = f"/experiments/{make()['id']}"
    answer = api.put(path, {"status": "running"}, headers={"If-Match": match}, expect=200)
    assert answer.headers["etag"] == '"2"' == api.get(path).headers["etag"]


@pytest.mark.parametrize("match", ['"2"', 'W/"1"', '"01"', '"1 "', "1", '"7", "8"', '"x"', '""', "x*"])
def test_another_version_is_412(api, make, match):
    made = make()
    path = f"/experiments/{made['id']}"
    document = api.problem("PUT", path, 412, "precondition_failed", {"status": "running"}, headers={"If-Match": match})
    assert document["detail"] == "the experiment has changed meanwhile"
    assert api.get(path).json() == made


def test_an_unknown_experiment_is_404_with_any_version(api):
    path = f"/experiments/{uuid.uuid4()}"
    api.problem("PUT", path, 404, "not_found", {"status": "running"}, headers={"If-Match": "*"})


def test_a_wrong_body_is_400_with_any_version(api, make):
    path = f"/experiments/{make()['id']}"
    api.problem("PUT", path, 400, "invalid_request", {"status": 7}, headers={"If-Match": '"7"'})


# ---- delete ----


def test_only_a_matching_version_is_deleted(api, make):
    path = f"/experiments/{make()['id']}"
    api.put(path, {"status": "running"}, expect=200)
    for match in ('"1"', 'W/"2"', '"x"'):
        api.problem("DELETE", path, 412, "precondition_failed", headers={"If-Match": match})
    assert api.get(path, expect=200).headers["etag"] == '"2"'
    api.delete(path, headers={"If-Match": '"1", "2"'}, expect=200)
    api.problem("DELETE", path, 404, "not_found", headers={"If-Match": "*"})


def test_a_deleted_experiment_is_404(api, make, db):
    made, kept = make(), make()
    path = f"/experiments/{made['id']}"
    api.put(path, {"status": "running"}, expect=200)
    api.post(f"/implement/experiments/{made['id']}/report", {"status": "running"}, expect=200)
    assert api.delete(path, expect=200).json() == {"id": made["id"], "deleted": True}
    for method, body in (("GET", None), ("PUT", {"status": "draft"}), ("DELETE", None)):
        api.problem(method, path, 404, "not_found", body)
    assert [item["id"] for item in api.get("/experiments").json()] == [kept["id"]]
    assert common.tables_with(db, ["experiment_history", "implementation", "report"], experiment_id=made["id"]) == []

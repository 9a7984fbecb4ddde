"""X-Ignored-Fields: the members of a body that no operation reads. Generated from api.def and openapi.yaml."""

import json
import re
import uuid

import pytest

from lib.http import api_def, openapi
from lib.http.api_def import absent_target, by_id
from lib.http.contract import contract

DESCRIBED = openapi.operations()
OPERATIONS = [op for op in api_def.operations() if op.body != "NONE" and not {"GONE", "OPEN"} & set(op.flags)]
KEEPS_ALL = {"fleet_run_report"}  # members that telemetry does not name are stored and returned
NAMING = [op for op in OPERATIONS if op.id not in KEEPS_ALL]

# Operations that write a whole resource, which a client can have read before.
WRITES = [
    "api_key_create", "api_key_update", "experiment_create", "experiment_update", "project_create", "project_update",
    "interest_create", "interest_update", "asset_put", "identity_link_create", "build_create", "eval_run_create",
    "template_create", "template_update",
]  # fmt: skip


@pytest.fixture
def send(cluster, all_scopes, op):
    """send(body): call the operation under test; returns the answer."""
    if op.process not in cluster.processes:
        pytest.skip(f"{op.process} is not part of the cluster")
    target = absent_target(op)
    return lambda body: all_scopes.request(op.method, target, body)


def ignored(answer):
    return answer.headers.get("x-ignored-fields")


def properties(schema):
    schema = contract().resolve(schema)
    parts = [part for word in ("allOf", "anyOf", "oneOf") for part in schema.get(word, [])]
    return set(schema.get("properties", {})).union(*map(properties, parts))


def answered(operation):
    """The members of what the operation answers with success."""
    found = [contract().resolve(row) for status, row in operation.node["responses"].items() if str(status) in ("200", "201")]
    return set().union(*(properties(content["schema"]) for row in found for content in row.get("content", {}).values()))


def resource(operation):
    """The members of the resource that the operation writes, as any operation shows it."""
    one = re.compile(re.escape(operation.path) + r"(/\{[^/]+\})?")
    reads = [other for other in DESCRIBED.values() if other.method == "GET" and one.fullmatch(other.path)]
    lists = {"keys", "presets"}
    return answered(operation).union(*(answered(other) for other in reads)) - lists


@by_id(NAMING)
def test_an_unknown_member_is_named(send, op):
    assert ignored(send({"nosuch": 1})) == "nosuch"


@by_id(OPERATIONS)
def test_members_that_are_read_are_not_named(send, op):
    assert ignored(send(dict.fromkeys(properties(DESCRIBED[op.id].body_schema), []))) is None


@by_id([op for op in OPERATIONS if op.id in WRITES])
def test_members_of_the_resource_are_not_named(send, op):
    answer = send({**dict.fromkeys(resource(DESCRIBED[op.id])), "nosuch": None})
    assert ignored(answer) == "nosuch"


@by_id([op for op in OPERATIONS if op.id in KEEPS_ALL])
def test_what_is_kept_is_not_named(send, op):
    assert ignored(send({"nosuch": 1})) is None


def test_an_update_that_sends_back_what_was_read(api):
    for path, body in {"/projects": {"name": "p"}, "/experiments": {"name": "e"}, "/interests": {"name": "i", "context": "x"}}.items():
        made = api.post(path, body, expect=201).json()
        read = api.get(f"{path}/{made['id']}", expect=200).json()
        assert ignored(api.put(f"{path}/{made['id']}", read, expect=200)) is None
        assert ignored(api.put(f"{path}/{made['id']}", {**read, "nmae": "x"}, expect=200)) == "nmae"


def test_nested_members_are_named_where_they_are_ignored(api, operator):
    messages = [{"role": "user", "content": "x"}, {"rol": 1, "role": "user", "content": "y", "c": 2}]
    answer = api.post("/fleet/agents/chat", {"repo": "acme/ranker", "messages": messages, "mesages": []})
    assert ignored(answer) == "mesages, messages[1].rol, messages[1].c"
    answer = api.post("/fleet/agents/artifact/evidence", {"artifact": {"run_id": "1", "ulr": "x"}})
    assert ignored(answer) == "artifact.ulr"
    candidates = ["2205.14135", {"title": "t", "abstrct": "a"}]
    answer = api.post(f"/experiment-histories/{uuid.uuid4()}/score-candidates", {"candidates": candidates, "top": 1})
    assert set(ignored(answer).split(", ")) == {"top", "candidates[1].abstrct"}
    summary = {"total": 1, "classified": 0, "by_class": {"own": 1}, "totl": 2}
    answer = operator.api.put("/search/assets/2205.14135", {"title": "t", "reference_summary": summary}, expect=200)
    assert ignored(answer) == "reference_summary.totl"


def test_free_objects_have_no_ignored_members(api):
    free = {"anything": {"at": ["all"]}}
    body = {"name": "free", "launch_context": {**free, "resource": free}, "ab_test_config": free, "ab_test_results": free}
    links = [{"type": "page", **free}]
    assert ignored(api.post("/experiments", {**body, "linked_resources": links}, expect=201)) is None


NAMES = {
    "a,b": "a%2Cb",
    "two words": "two%20words",
    "x\r\nEvil: 1": "x%0D%0AEvil%3A%201",
    'q"uote': "q%22uote",
    "größe": "gr%C3%B6%C3%9Fe",
    "a.b[0]": "a%2Eb%5B0%5D",
    "50%": "50%25",
    "": "",
    "ok-_~9": "ok-_~9",
}


def test_names_are_escaped(api):
    answer = api.post("/projects", {"name": "escaped", **dict.fromkeys(NAMES)}, expect=201)
    assert ignored(answer).split(", ") == list(NAMES.values())
    assert "evil" not in answer.headers


def test_long_names_and_lists_are_cut(api):
    answer = api.post("/projects", {"name": "long", "n" * 5000: 1}, expect=201)
    assert ignored(answer) == "n" * 100 + "..."
    answer = api.post("/projects", {"name": "wide", "ü" * 1000: 1}, expect=201)
    assert ignored(answer) == "%C3%BC" * 17 + "..."
    answer = api.post("/projects", {"name": "many", **{f"m{number}": 1 for number in range(20_000)}}, expect=201)
    names = ignored(answer).split(", ")
    assert names[:3] == ["m0", "m1", "m2"] and names[-1] == "..." and len(ignored(answer)) < 1100


def test_a_replayed_answer_names_them_too(api):
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    first = api.post("/projects", {"name": "again", "nmae": 1}, headers=headers, expect=201)
    second = api.post("/projects", {"name": "again", "nmae": 1}, headers=headers, expect=201)
    assert ignored(first) == ignored(second) == "nmae"
    assert second.headers["idempotent-replayed"] == "true"


def test_a_problem_names_them(api):
    answer = api.post("/projects", {"nmae": "x"}, expect=400)
    assert ignored(answer) == "nmae"
    assert json.loads(answer.content)["errors"] == [{"field": "name", "message": "is required"}]

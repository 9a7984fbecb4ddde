"""Templates: their versions, their lock, what a spec may say, and the secret that nobody reads."""

import pytest

from lib.scenario.evalenv import SECRET, SECRET_BYTES, SPEC
from lib.tables import evalenv as evalenv_tables

PATH = "/eval-env/templates"


def test_create_read_update(api, template):
    made = template(name=" Recall ", description="of the ranker")
    path = f"{PATH}/{made['template_id']}"
    assert (made["name"], made["spec"], made["version"], made["locked"]) == ("Recall", SPEC, 1, False)
    assert api.get(path, expect=200).json() == made
    changed = api.put(path, {"description": None}, expect=200).json()
    assert (changed["description"], changed["version"], changed["digest"]) == (None, 2, made["digest"])
    assert api.get(PATH, expect=200).json() == [changed]


def test_every_version_is_kept(api, template, db):
    made = template()
    api.put(f"{PATH}/{made['template_id']}", {"spec": {**SPEC, "command": "other"}}, expect=200)
    kept = evalenv_tables.kept_versions(db, made["template_id"])
    assert [(version, spec["command"]) for version, spec, _ in kept] == [(1, SPEC["command"]), (2, "other")]
    assert kept[0][2] == made["digest"] != kept[1][2]


def versions(db, template):
    return [version for version, _, _ in evalenv_tables.kept_versions(db, template["template_id"])]


def test_the_last_versions_are_kept_and_those_of_runs(api, template, db, bounded):
    made = template()
    path, bounds = f"{PATH}/{made['template_id']}", bounded(TEMPLATE_VERSIONS_MAX="3")
    for version in range(2, 8):
        assert bounds.request("PUT", path, {"description": str(version)}).json()["version"] == version
        if version in (2, 4):
            run = api.post("/eval-env/runs", {"template_id": made["template_id"]}, expect=201).json()
            assert run["template_version"] == version
    assert versions(db, made) == [2, 4, 5, 6, 7]
    assert api.get(path, expect=200).json()["version"] == 7


def test_templates_of_an_account_are_bounded(bounded, other_user, at_once):
    bounds = bounded(TEMPLATES_MAX="3")
    answers = at_once(6, lambda number: bounds.post(PATH, {"name": str(number), "spec": SPEC}))
    assert sorted(answer.status_code for answer in answers) == [201] * 3 + [409] * 3
    answer = bounds.post(PATH, {"name": "one more", "spec": SPEC})
    assert (answer.status_code, answer.json()["error"]) == (409, "conflict")
    assert "as many templates as it may" in answer.json()["detail"]
    assert bounds.post(PATH, {"name": "1", "spec": SPEC}, user=other_user).status_code == 201


def test_equal_specs_have_equal_digests(template):
    first, second = template(spec=SPEC), template(spec=dict(reversed(SPEC.items())))
    assert first["digest"] == second["digest"]


def test_a_locked_template_never_changes(api, template):
    path = f"{PATH}/{template()['template_id']}"
    locked = api.post(f"{path}/lock", expect=200).json()
    assert locked["locked"] and api.post(f"{path}/lock", expect=200).json() == locked
    api.problem("PUT", path, 409, "conflict", {"description": "other"})
    assert api.get(path, expect=200).json() == locked


def test_a_name_is_unique_in_the_account(api, template, other_user):
    first, second = template(name="Recall"), template(name="Precision")
    api.problem("POST", PATH, 409, "conflict", {"name": first["name"], "spec": SPEC})
    api.problem("PUT", f"{PATH}/{second['template_id']}", 409, "conflict", {"name": first["name"]})
    other_user.api.post(PATH, {"name": first["name"], "spec": SPEC}, expect=201)


def test_another_account_sees_nothing(template, other_user):
    path = f"{PATH}/{template()['template_id']}"
    other_user.api.problem("GET", path, 404, "not_found")
    other_user.api.problem("PUT", path, 404, "not_found", {"name": "mine"})
    other_user.api.problem("POST", f"{path}/lock", 404, "not_found")
    assert other_user.api.get(PATH, expect=200).json() == []


SPECS = {
    "neither": ({}, {"spec"}),
    "both": ({"image": "a", "containerfile": "FROM a"}, {"spec"}),
    "image with a space": ({"image": "a b"}, {"spec.image"}),
    "image that is an option": ({"image": "--privileged"}, {"spec.image"}),
    "kinds": ({"image": 1, "command": 2, "env": [], "resources": 1, "metrics": {}, "dataset": 3},
              {"spec.image", "spec.command", "spec.env", "spec.resources", "spec.metrics", "spec.dataset"}),  # fmt: skip
    "empty command": ({"image": "a", "command": []}, {"spec.command"}),
    "word": ({"image": "a", "command": ["a", 1]}, {"spec.command"}),
    "variable": ({"image": "a", "env": {"A=B": "c"}}, {"spec.env"}),
    "value": ({"image": "a", "env": {"A": 1}}, {"spec.env"}),
    "resources": ({"image": "a", "resources": {"cpus": [], "memory_mb": "4Gi", "pids": None, "network": "none", "timeout_seconds": True}},
                  {f"spec.resources.{name}" for name in ("cpus", "memory_mb", "pids", "network", "timeout_seconds")}),
    "resources that cannot be applied": ({"image": "a", "resources": {"gpus": 1, "memory": "4Gi", "": 1, "Cpus": 1}},
                                         {f"spec.resources.{name}" for name in ("gpus", "memory", "", "Cpus")}),
    "least": ({"image": "a", "resources": {"cpus": 0, "memory_mb": 15, "pids": 0, "timeout_seconds": 0}},
              {f"spec.resources.{name}" for name in ("cpus", "memory_mb", "pids", "timeout_seconds")}),
    "most": ({"image": "a", "resources": {"cpus": 1024.5, "memory_mb": 1 << 25, "pids": 1e7, "timeout_seconds": 604801}},
             {f"spec.resources.{name}" for name in ("cpus", "memory_mb", "pids", "timeout_seconds")}),
    "fractions": ({"image": "a", "resources": {"cpus": 0.5, "memory_mb": 100.5, "pids": 1.5, "timeout_seconds": 0.5}},
                  {f"spec.resources.{name}" for name in ("memory_mb", "pids", "timeout_seconds")}),
    "metric": ({"image": "a", "metrics": [1]}, {"spec.metrics"}),
    "metric twice": ({"image": "a", "metrics": ["a", {"name": "a"}]}, {"spec.metrics"}),
    "goal": ({"image": "a", "metrics": [{"name": "a", "goal": "up", "unit": 1}]}, {"spec.metrics"}),
}


@pytest.mark.parametrize("case", SPECS)
def test_each_fault_of_a_spec_is_named(api, case):
    spec, fields = SPECS[case]
    faults = api.problem("POST", PATH, 400, "invalid_request", {"name": "x", "spec": spec})["errors"]
    assert {fault["field"] for fault in faults} == fields


def test_resources_are_kept(template):
    resources = {"cpus": 0.5, "memory_mb": 64, "pids": 10, "network": True, "timeout_seconds": 60}
    assert template(spec={**SPEC, "resources": resources})["spec"]["resources"] == resources
    assert template(spec={**SPEC, "resources": {}})["spec"]["resources"] == {}


def test_the_secret_is_sealed_and_never_shown(api, template, db):
    made = template(webhook_secret=SECRET)
    path = f"{PATH}/{made['template_id']}"
    assert made["has_webhook_secret"] and SECRET not in api.get(path).text
    stored = evalenv_tables.sealed_secret(db, made["template_id"])
    assert stored and SECRET.encode() not in stored and SECRET_BYTES not in stored
    assert api.put(path, {"name": "kept"}, expect=200).json()["has_webhook_secret"]
    assert not api.put(path, {"webhook_secret": None}, expect=200).json()["has_webhook_secret"]


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_AAAA", "secret", SECRET[:-1], SECRET + "A" * 100])
def test_a_secret_has_its_form(api, secret):
    body = {"name": "x", "spec": SPEC, "webhook_secret": secret}
    fault, = api.problem("POST", PATH, 400, "invalid_request", body)["errors"]
    assert fault["field"] == "webhook_secret" and "AAAA" not in fault["message"]

"""svc-experiments seed FILE --user UUID."""

import json
import uuid

import pytest

from lib.system.servers import ROOT

SAMPLE = ROOT / "deploy" / "sample" / "experiments.json"


@pytest.fixture
def seed(cluster, user):
    """seed(FILE): run the command for `user`; returns its output."""
    owner = user.account
    return lambda file: cluster.run("svc-experiments", "seed", file, "--user", owner)


def listed(api, path):
    return {item["name"]: item for item in api.get(path, params={"limit": 100}, expect=200).json()}


def test_the_sample_is_loaded(api, seed):
    sample = json.loads(SAMPLE.read_text(encoding="utf-8"))
    made = (len(sample["projects"]), len(sample["experiments"]))
    assert seed(SAMPLE) == "created %d projects and %d experiments\n" % made
    projects, experiments = listed(api, "/projects"), listed(api, "/experiments")
    assert {p["name"]: p["description"] for p in sample["projects"]} == {
        name: project["description"] for name, project in projects.items()
    }
    assert set(experiments) == {experiment["name"] for experiment in sample["experiments"]}
    for experiment in sample["experiments"]:
        detail = api.get(f"/experiments/{experiments[experiment['name']]['id']}", expect=200).json()
        assert detail["created_via"] == "seed"
        assert detail["project_name"] == experiment.pop("project")
        assert {name: detail[name] for name in experiment} == experiment
    actionable = {item["name"] for item in api.get("/implement/experiments/actionable").json()}
    assert actionable == {e["name"] for e in sample["experiments"] if e["launch_context"] and not e["pr_url"]}


def test_a_second_run_changes_nothing(api, seed):
    seed(SAMPLE)
    mine = next(iter(listed(api, "/experiments").values()))
    api.put(f"/experiments/{mine['id']}", {"decision": "my own"}, expect=200)
    before = listed(api, "/experiments")
    assert seed(SAMPLE) == "created 0 projects and 0 experiments\n"
    assert listed(api, "/experiments") == before


def test_concurrent_runs_duplicate_nothing(api, seed, at_once):
    outputs = at_once(3, lambda _: seed(SAMPLE))
    assert sum(not output.startswith("created 0 projects and 0 ") for output in outputs) == 1
    assert api.get("/experiments").headers["x-total-count"] == "8"


def test_missing_experiments_are_added(api, seed, tmp_path):
    api.post("/projects", {"name": "Mine"}, expect=201)
    file = tmp_path / "more.json"
    body = {"experiments": [{"name": "A", "project": "Mine"}, {"name": "B", "created_via": "web", "id": "x"}]}
    file.write_text(json.dumps(body))
    assert seed(file) == "created 0 projects and 2 experiments\n"
    found = listed(api, "/experiments")
    assert (found["A"]["project_name"], found["B"]["project_name"]) == ("Mine", None)
    assert found["B"]["created_via"] == "seed"


INVALID_FILES = [
    ("no file", None, "no such file"),
    ("not JSON", "{", "at byte"),
    ("an array", "[]", "is not a JSON object"),
    ("no name", '{"experiments": [{}]}', "experiments[0].name is required"),
    ("an invalid status", '{"experiments": [{"name": "A"}, {"name": "B", "status": "x"}]}', "experiments[1].status must be"),
    ("nested", '{"experiments": [{"name": "A", "launch_context": {"resource": 7}}]}', "launch_context.resource must be"),
    ("no list", '{"projects": {}}', "projects must be an array"),
    ("a project", '{"projects": [{"name": ""}]}', "projects[0].name must not be empty"),
    ("no such project", '{"experiments": [{"name": "A"}, {"name": "B", "project": "Nowhere"}]}', 'no project "Nowhere"'),
]


@pytest.mark.parametrize("text, why", [row[1:] for row in INVALID_FILES], ids=[row[0] for row in INVALID_FILES])
def test_an_invalid_file_loads_nothing(api, seed, tmp_path, text, why):
    file = tmp_path / "wrong.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(RuntimeError) as failure:
        seed(file)
    assert why in str(failure.value)
    assert str(file) in str(failure.value)
    assert api.get("/experiments").json() == [] and api.get("/projects").json() == []


@pytest.mark.parametrize("arguments", [[], ["FILE"], ["--user", "UUID"], ["FILE", "--user", "me"], ["FILE", "x", "--user", "UUID"],
                                   ["FILE", "--colour"], ["FILE", "--user"]])
def test_invalid_arguments_are_refused(cluster, arguments):
    known = {"FILE": SAMPLE, "UUID": uuid.uuid4()}
    with pytest.raises(RuntimeError, match="svc-experiments seed.*: 2\n"):
        cluster.run("svc-experiments", "seed", *(known.get(word, word) for word in arguments))

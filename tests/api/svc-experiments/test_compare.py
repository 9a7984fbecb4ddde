"""Experiments beside each other, and lists as CSV."""

import csv
import io

import pytest
from lib.http.client import nested

PLAN = {"metrics": [{"key": "conversion", "kind": "proportion"}], "mode": "fixed", "planned_n": 1000}
COMPARE = "/experiments/compare"


def sums(control, treatment):
    return {"metrics": [{"key": "conversion", "arms": [{"arm": "control", "n": 1000, "successes": control}, {"arm": "treatment", "n": 1000, "successes": treatment}]}]}


def ids(*experiments):
    return ",".join(e["id"] for e in experiments)


@pytest.fixture
def measured(api, make):
    """measured(control, treatment, **members): an experiment with results."""

    def create(control, treatment, **members):
        made = make(ab_test_config=PLAN, **members)
        api.post(f"/experiments/{made['id']}/results", sums(control, treatment), expect=201)
        return made

    return create


def lines(answer):
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Vary"] and answer.text.endswith("\r\n")
    return list(csv.DictReader(io.StringIO(answer.text)))


CSV = {"Accept": "text/csv"}


# ---- compare ----


def test_fields_that_nest_as_deep_as_a_request_may(api, make):
    one, other = make(launch_context={"deep": nested(62)}), make()
    compared = api.get(f"{COMPARE}?ids={ids(one, other)}", expect=200).json()
    (values,) = [field["values"] for field in compared["fields"] if field["field"] == "launch_context"]
    assert values == [{"deep": nested(62)}, None]
    assert len(lines(api.get("/experiments", headers=CSV, expect=200))) == 2
    api.get(f"/experiments/{one['id']}/evidence", expect=200)


def test_what_differs_comes_first_and_intervals_stand_side_by_side(api, measured, make):
    one, two = measured(120, 150, tags=["a"], outcome="ship"), measured(120, 121, tags=["a"])
    bare = make(tags=["a"])
    compared = api.get(f"{COMPARE}?ids={ids(one, two, bare)}", expect=200).json()
    assert [e["id"] for e in compared["experiments"]] == [one["id"], two["id"], bare["id"]]
    fields = {f["field"]: f for f in compared["fields"]}
    assert fields["outcome"]["values"] == ["ship", None, None] and fields["outcome"]["differs"] is True
    assert fields["tags"]["differs"] is False and fields["verdict"]["values"] == ["better", "unclear", None]
    differing = [f["differs"] for f in compared["fields"]]
    assert differing == sorted(differing, reverse=True)
    (metric,) = compared["metrics"]
    assert (metric["key"], metric["kind"], metric["comparable"], metric["why_not"]) == ("conversion", "proportion", True, None)
    first, second, third = metric["values"]
    assert (first["n"], first["mean"], first["delta_confidence"]) == (1000, 0.15, "significant")
    assert first["relative"] == pytest.approx(0.25) and first["relative_low"] < second["relative_high"]
    assert (third["id"], third["n"], third["relative"], third["delta_confidence"]) == (bare["id"], None, None, None)


def test_figures_of_different_things_are_not_comparable(api, measured, make):
    one = measured(120, 150)
    other = make(ab_test_config={"metrics": [{"key": "conversion", "kind": "mean"}]})
    rows = [{"arm": arm, "example": i, "metrics": {"conversion": i % 3 + (arm == "treatment")}} for arm in ("control", "treatment") for i in range(12)]
    api.post(f"/experiments/{other['id']}/results", {"rows": rows}, expect=201)
    (metric,) = api.get(f"{COMPARE}?ids={ids(one, other)}", expect=200).json()["metrics"]
    assert (metric["comparable"], metric["why_not"]) == (False, "The experiments measure it in different ways.")
    same_kind = make(ab_test_config={"metrics": [{"key": "conversion", "kind": "proportion"}]})
    rows = [{**row, "metrics": {"conversion": int(row["example"] % 3 == 0)}} for row in rows]
    api.post(f"/experiments/{same_kind['id']}/results", {"rows": rows}, expect=201)
    (metric,) = api.get(f"{COMPARE}?ids={ids(one, same_kind)}", expect=200).json()["metrics"]
    assert (metric["comparable"], metric["why_not"]) == (False, "The experiments count different things: units, examples or runs.")
    (metric,) = api.get(f"{COMPARE}?ids={ids(one, make())}", expect=200).json()["metrics"]
    assert metric["comparable"] is False and "Only one" in metric["why_not"]


def test_the_word_of_an_experiment_is_beside_the_metric_that_speaks(api, make):
    made = [make(ab_test_config={**PLAN, "metrics": [*PLAN["metrics"], {"key": "click", "kind": "proportion"}]}) for _ in range(2)]
    for experiment in made:
        given = sums(120, 200)
        given["metrics"].append({**sums(500, 501)["metrics"][0], "key": "click"})
        api.post(f"/experiments/{experiment['id']}/results", given, expect=201)
    compared = api.get(f"{COMPARE}?ids={ids(*made)}", expect=200).json()["metrics"]
    words = {metric["key"]: [value["delta_confidence"] for value in metric["values"]] for metric in compared}
    assert words == {"conversion": ["significant"] * 2, "click": [None] * 2}


def test_what_cannot_be_compared_is_named(api, make, other_user):
    one, two = make(), make()
    for given in ("", "?ids=", f"?ids={one['id']}", f"?ids={ids(one, one)}", f"?ids={one['id']},x", "?ids=" + ",".join([one["id"]] * 11)):
        assert api.get(f"{COMPARE}{given}", expect=400).json()["errors"][0]["field"] == "ids"
    assert len(api.get(f"{COMPARE}?ids={one['id']}&ids={two['id']}", expect=200).json()["experiments"]) == 2
    other_user.api.get(f"{COMPARE}?ids={ids(one, two)}", expect=404)
    theirs = other_user.api.post("/experiments", {"name": "theirs"}, expect=201).json()
    api.get(f"{COMPARE}?ids={ids(one, theirs)}", expect=404)
    api.get(f"{COMPARE}?ids={ids(one, two)}", headers={"Accept": "image/png"}, expect=406)


def test_a_comparison_as_csv(api, measured):
    one, two = measured(120, 150, name="=SUM(A1)"), measured(120, 121, tags=["a", "b"])
    answer = api.get(f"{COMPARE}?ids={ids(two, one)}", headers=CSV, expect=200)
    first, second = lines(answer)
    assert (first["id"], first["tags"], first["metrics.conversion.n"]) == (two["id"], "a; b", "1000")
    assert (second["name"], second["verdict"], float(second["metrics.conversion.relative"])) == ("'=SUM(A1)", "better", pytest.approx(0.25))
    assert answer.headers["Content-Disposition"] == 'attachment; filename="experiments.csv"'


# ---- lists ----


def test_the_list_as_csv_has_every_row_and_every_member(api, measured, make, make_project):
    project = make_project(name="Ranking")
    measured(120, 150, name='say "b", twice', project_id=project["id"], hypothesis="two\nlines", launch_context={"target_repo": "acme/ranker"})
    others = [make(project_id=project["id"], status="running") for _ in range(130)]  # more than a page
    answer = api.get(f"/experiments?project_id={project['id']}&limit=5", headers=CSV, expect=200)
    rows = lines(answer)
    assert [row["id"] for row in rows[:-1]] == [e["id"] for e in reversed(others)]
    assert answer.headers["X-Total-Count"] == "131"
    assert (rows[-1]["name"], rows[-1]["hypothesis"], rows[-1]["project_name"]) == ('say "b", twice', "two\nlines", "Ranking")
    assert rows[-1]["launch_context"] == '{"target_repo":"acme/ranker"}' and rows[-1]["metrics.conversion.effect"] and not rows[0]["metrics.conversion.effect"]
    filtered = lines(api.get(f"/experiments?project_id={project['id']}&status=running", headers=CSV, expect=200))
    assert len(filtered) == 130
    api.get("/experiments", headers={"Accept": "image/png"}, expect=406)


def test_a_large_list_is_compressed_as_it_is_sent(api, make, make_project):
    project = make_project()
    for _ in range(3):
        make(project_id=project["id"], hypothesis="h" * 10_000, decision="d" * 10_000)
    path = f"/experiments?project_id={project['id']}"
    plain = api.get(path, headers={**CSV, "Accept-Encoding": "identity"}, expect=200)
    packed = api.get(path, headers={**CSV, "Accept-Encoding": "gzip"}, expect=200)
    assert packed.headers["Content-Encoding"] == "gzip" and "Content-Encoding" not in plain.headers
    assert packed.text == plain.text and len(lines(plain)) == 3
    assert "Content-Length" not in plain.headers  # it is sent as it is read


def test_others_are_in_no_list(other_user, make):
    made = make()
    assert made["id"] not in other_user.api.get("/experiments", headers=CSV, expect=200).text


def test_an_empty_list_is_a_header(other_user):
    answer = other_user.api.get("/experiments", headers=CSV, expect=200)
    assert answer.text.startswith("id,name,status,") and answer.text.count("\r\n") == 1


def test_a_limited_key_gets_its_own_rows(api, make):
    own, other = make(launch_context={"target_repo": "acme/ranker"}), make(launch_context={"target_repo": "acme/other"})
    body = {"name": "agent", "kind": "automation", "scopes": ["experiments:read"], "repo": "acme/ranker"}
    key = api.as_key(api.post("/account/api-keys", body, expect=201).json()["key"])
    assert [row["id"] for row in lines(key.get("/experiments", headers=CSV, expect=200))] == [own["id"]]
    assert key.get(f"{COMPARE}?ids={ids(own, other)}").status_code in (403, 404)

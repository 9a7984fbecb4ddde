"""Results that are wrong, huge, repeated or too late, and whose figures must neither lie nor harm others."""

import json
import math
import secrets

import pytest

from lib.scenario.evalenv import SPEC
from lib.wait import wait_for

PLAN = {"mode": "fixed", "planned_n": 100, "metrics": [{"key": "m", "kind": "mean"}, {"key": "r", "kind": "ratio"}, {"key": "p", "kind": "proportion"}]}
MEAN = {"n": 100, "mean": 10, "variance": 4}
RATIO = {"n": 100, "sum": 200, "sum_squares": 450, "denominator_sum": 500, "denominator_sum_squares": 2600, "sum_products": 1010}
JSON = {"Content-Type": "application/json"}


def body(key, control, treatment=None):
    arms = [{"arm": arm, **of} for arm, of in (("control", control), ("treatment", treatment or control))]
    return {"metrics": [{"key": key, "arms": arms}]}


@pytest.fixture
def path(make):
    return f"/experiments/{make(ab_test_config=PLAN)['id']}/results"


@pytest.fixture
def refused(api, path):
    """refused(content): send these bytes, or what they are of; they must be refused, and nothing stored. Returns the problem."""

    def send(content, status=400):
        content = content if isinstance(content, (str, bytes)) else json.dumps(content)
        problem = api.post(path, content=content, headers=JSON, expect=status).json()
        api.get(path, expect=404)
        return problem

    return send


# ---- numbers ----


@pytest.mark.parametrize("key, arm, field", [
    ("m", {**MEAN, "mean": 1e101}, "metrics[0].arms[0].mean"),
    ("m", {**MEAN, "mean": -1e308}, "metrics[0].arms[0].mean"),
    ("m", {**MEAN, "variance": 1e201}, "metrics[0].arms[0].variance"),
    ("m", {**MEAN, "variance": -1e-9}, "metrics[0].arms[0].variance"),
    ("m", {**MEAN, "n": 0}, "metrics[0].arms[0].n"),
    ("m", {**MEAN, "n": -5}, "metrics[0].arms[0].n"),
    ("m", {**MEAN, "n": 1e16}, "metrics[0].arms[0].n"),
    ("m", {**MEAN, "n": 2.5}, "metrics[0].arms[0].n"),
    ("m", {**MEAN, "mean": "10"}, "metrics[0].arms[0].mean"),
    ("m", {**MEAN, "pre_sum": 1000, "pre_sum_squares": 10396, "pre_sum_products": 99999}, "metrics[0].arms[0].pre_sum_products"),
    ("r", {**RATIO, "denominator_sum": 1e-99, "denominator_sum_squares": 0}, "metrics[0].arms[0].sum"),
    ("r", {**RATIO, "denominator_sum": 0, "denominator_sum_squares": 0}, "metrics[0].arms[0].sum"),
    ("r", {**RATIO, "sum_products": 1e99}, "metrics[0].arms[0].sum"),
    ("p", {"n": 100, "successes": -1}, "metrics[0].arms[0].successes"),
    ("p", {"n": 100, "successes": 1e100}, "metrics[0].arms[0].successes"),
])  # fmt: skip
def test_numbers_that_cannot_be_are_named(refused, key, arm, field):
    assert field in {e["field"] for e in refused(body(key, arm, {"m": MEAN, "r": RATIO, "p": {"n": 100, "successes": 5}}[key]))["errors"]}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "0x10", "1_000"])
def test_what_is_no_number_of_json_is_no_json(refused, number):
    refused(json.dumps(body("m", MEAN)).replace('"mean": 10', f'"mean": {number}'))


def finite(value):
    """Every number of an answer."""
    if isinstance(value, dict):
        return all(finite(v) for v in value.values())
    return all(map(finite, value)) if isinstance(value, list) else not isinstance(value, float) or math.isfinite(value)


@pytest.mark.parametrize("control, treatment", [
    ({"n": 10**15, "mean": 1e100, "variance": 1e200}, {"n": 2, "mean": -1e100, "variance": 1e200}),
    ({"n": 2, "mean": 1e-100, "variance": 1e-200}, {"n": 2, "mean": 2e-100, "variance": 1e-200}),
    ({"n": 100, "mean": 0, "variance": 1e-300}, {"n": 100, "mean": 5e-324, "variance": 1e200}),
    ({"n": 100, "mean": 1, "variance": 0}, {"n": 100, "mean": 1 + 1e-9, "variance": 1e-20}),
    ({"n": 1, "mean": 1, "variance": 0}, {"n": 1, "mean": 2, "variance": 0}),
])  # fmt: skip
def test_figures_of_extreme_numbers_are_numbers(api, path, control, treatment):
    analysis = api.post(path, body("m", control, treatment), expect=201).json()
    pair = analysis["metrics"][0]["comparisons"][0]
    assert finite(analysis) and float(pair["effect"]) == treatment["mean"] - control["mean"]
    if pair["relative_low"] is not None:
        assert pair["relative_low"] <= pair["relative"] <= pair["relative_high"]
        assert (pair["relative_low"] > 0 or pair["relative_high"] < 0) == (pair["p"] <= 0.05)


@pytest.mark.parametrize("value", [1e101, -1e308])
def test_values_of_rows_are_bounded(refused, value):
    rows = [{"arm": arm, "example": i, "metrics": {"m": value}} for arm in ("control", "treatment") for i in range(10)]
    assert refused({"rows": rows})["errors"][0]["field"] == "rows.metrics.m"


def test_a_quantile_that_does_not_vary_has_no_test(api, make):
    made = make(ab_test_config={"mode": "fixed", "planned_n": 100, "metrics": [{"key": "q", "kind": "quantile", "quantile": 0.9}]})
    varied, same = {"n": 100, "value": 5, "lower": 4, "upper": 7}, {"n": 100, "value": 6, "lower": 6, "upper": 6}
    analysis = api.post(f"/experiments/{made['id']}/results", body("q", varied, same), expect=201).json()
    assert (analysis["verdict"], analysis["observed_delta"]) == ("invalid", 1)
    assert analysis["text"] == "There is no valid test: an arm does not vary at this quantile."
    few = api.post(f"/experiments/{made['id']}/results", body("q", {**varied, "n": 34}), expect=201).json()
    assert few["text"] == "There is no valid test: an arm has too few units for this quantile."
    assert api.post(f"/experiments/{made['id']}/results", body("q", {**varied, "n": 35}), expect=201).json()["verdict"] == "too_early"


# ---- shapes and sizes ----


@pytest.mark.parametrize("content", [
    "", "[]", "null", '"x"', "{", '{"metrics": {}}', '{"metrics": []}', '{"metrics": [7]}', '{"metrics": [{"key": "m"}]}',
    '{"metrics": [{"key": "m", "arms": []}]}', '{"metrics": [{"key": "m", "arms": [{"n": 1}]}]}', '{"rows": []}', '{"rows": [{"arm": "control"}]}',
    '{"rows": [{"arm": "control", "metrics": []}]}', '{"rows": "x"}', '{"eval_runs": []}', '{"eval_runs": {"control": "x"}}',
    '{"metrics": [], "metrics": []}', '{"metrics": [{"key": "m", "key": "m", "arms": []}]}', '{"units": {}}', '{"apply": false}',
    '{"rows": ' + "[" * 100 + "]" * 100 + "}",
])  # fmt: skip
def test_bodies_of_another_shape_are_refused(refused, content):
    refused(content)


def test_bodies_that_are_too_large_are_refused(refused):
    arm = {"arm": "control", **MEAN}
    assert refused({"metrics": [{"key": f"m{i}", "arms": [arm]} for i in range(10_000)]})["errors"][0]["field"] == "metrics"
    assert refused({"metrics": [{"key": "m", "arms": [{**arm, "arm": f"a{i}"} for i in range(11)]}]})["errors"][0]["field"] == "metrics[0].arms"
    refused(b'{"rows": [' + b'{"arm":"control","metrics":{}},' * 200_001 + b'{"arm":"control","metrics":{}}]}')
    refused(b'{"rows": "' + b"x" * (8 << 20) + b'"}', 413)


def test_arms_and_metrics_are_given_once_and_by_the_plan(refused):
    twice = body("m", MEAN)
    twice["metrics"] *= 2
    assert refused(twice)["errors"][0]["field"] == "metrics[1].key"
    twice = body("m", MEAN)
    twice["metrics"][0]["arms"] *= 2
    assert {e["field"] for e in refused(twice)["errors"]} == {"metrics[0].arms[2].arm", "metrics[0].arms[3].arm"}
    nameless = body("m", MEAN)
    del nameless["metrics"][0]["arms"][1]["arm"]
    assert refused(nameless)["errors"][0]["field"] == "metrics[0].arms[1].arm"


# ---- order and time ----


def test_results_at_once_are_all_kept_and_one_is_the_newest(api, path, at_once):
    made = at_once(6, lambda i: api.as_key(api.key).post(path, body("m", MEAN, {**MEAN, "mean": 10 + i / 10}), expect=201).json())
    listed = api.get(f"{path}?all=true", expect=200).json()
    assert {a["analysis_id"] for a in listed} == {a["analysis_id"] for a in made} and len(listed) == 6
    read = api.get(path.removesuffix("/results"), expect=200).json()
    assert read["observed_delta"] == listed[0]["observed_delta"] and {**read["ab_test_results"]["analysis"], "apart": False} == listed[0]


def test_a_plan_that_changes_at_once_has_no_results_of_the_other(api, make, at_once):
    """Results are by the plan that the experiment has, or the change is refused."""
    made = make(ab_test_config=PLAN)
    path, other = f"/experiments/{made['id']}", {**PLAN, "metrics": PLAN["metrics"][1:]}

    def send(i):
        caller = api.as_key(api.key)
        if i % 2:
            return caller.put(path, {"ab_test_config": other if i % 4 == 1 else PLAN}).status_code
        return caller.post(f"{path}/results", body("m", MEAN)).status_code

    assert set(at_once(8, send)) <= {200, 201, 400, 409}
    read = api.get(path, expect=200).json()
    analyses = api.get(f"{path}/results?all=true", expect=200).json()
    assert not analyses or read["ab_test_config"] == PLAN
    assert all([m["key"] for m in a["metrics"]] == ["m"] for a in analyses)


def test_results_after_the_decision_change_no_word_of_a_person(api, make):
    made = make(ab_test_config=PLAN, status="shipped", outcome="ship", decision="We ship it.", target_metric="m")
    path = f"/experiments/{made['id']}"
    analysis = api.post(f"{path}/results", body("m", MEAN, {**MEAN, "mean": 5}), expect=201).json()
    assert (analysis["verdict"], analysis["advice"]) == ("worse", "stop")
    read = api.get(path, expect=200).json()
    for member in ("status", "outcome", "decision", "target_metric", "ab_test_config"):
        assert read[member] == made[member]
    assert {h["field"] for h in read["history"]} >= {"observed_delta", "delta_confidence"}
    assert not {h["field"] for h in read["history"]} & {"status", "outcome", "decision"}


def test_earlier_sums_that_come_later_are_told(api, path):
    late = [api.post(path, body("m", {**MEAN, "n": n}), expect=201).json() for n in (100, 300, 200)]
    assert [any(w["code"] == "shrunk" for w in a["warnings"]) for a in late] == [False, False, True]


# ---- runs ----


@pytest.fixture
def evaluate():
    """evaluate(api, params={}): an evaluation run of the account that has succeeded; returns its id."""

    def run(of, **params):
        template = of.post("/eval-env/templates", {"name": secrets.token_hex(8), "spec": SPEC}, expect=201).json()["template_id"]
        made = of.post("/eval-env/runs", {"template_id": template, "params": params}, expect=201).json()["run_id"]
        of.post("/eval-env/webhooks/results", {"run_id": made, "status": "succeeded", "metrics": {"m": 1, "recall": 1}}, expect=200)
        return made

    return run


def test_a_run_counts_once(api, path, evaluate):
    one = evaluate(api)
    for runs, field in (({"control": [one, one.upper()]}, "eval_runs.control[1]"), ({"control": [one], "treatment": [one]}, "eval_runs.treatment[0]")):
        errors = api.post(path, {"eval_runs": runs}, expect=400).json()["errors"]
        assert {"field": field, "message": "is named twice"} in errors


def test_runs_of_pass_at_k_are_no_samples(api, make, evaluate):
    made = make(ab_test_config={"metrics": [{"key": "m", "kind": "pass_at_k", "k": 5}]})
    path = f"/experiments/{made['id']}/results"
    for figures, mean in (({"rows": [{"arm": "control", "metrics": {"m": 0.83}}]}, 0.83), ({"eval_runs": {"control": [evaluate(api)]}}, 1)):
        analysis = api.post(path, {**figures, "apply": False}, expect=200).json()
        assert analysis["metrics"][0]["arms"][0]["mean"] == mean
    evaluate(api, experiment_id=made["id"], arm="control")
    linked = wait_for(lambda: api.get(f"{path}?all=true", expect=200).json())
    assert linked[0]["metrics"][0]["arms"][0]["mean"] == 1


def test_a_run_of_another_account_arrives_nowhere(api, make, other_user, evaluate):
    ours = make(ab_test_config=PLAN)
    theirs = other_user.api.post("/experiments", {"name": "theirs", "ab_test_config": PLAN}, expect=201).json()
    for experiment in (ours, theirs):  # the events of an account are in order
        evaluate(other_user.api, experiment_id=experiment["id"], arm="control")
    wait_for(lambda: other_user.api.get(f"/experiments/{theirs['id']}/results?all=true", expect=200).json())
    assert api.get(f"/experiments/{ours['id']}/results?all=true", expect=200).json() == []


def test_what_a_run_names_wrongly_harms_nothing(api, make, evaluate):
    made = make(ab_test_config=PLAN)
    for experiment, arm in (("x", "control"), (7, "control"), (made["id"], 7), (made["id"], ""), ({"id": made["id"]}, ["control"])):
        evaluate(api, experiment_id=experiment, arm=arm)
    evaluate(api, experiment_id=made["id"].upper(), arm="control")
    newest = wait_for(lambda: next((a for a in api.get(f"/experiments/{made['id']}/results?all=true", expect=200).json()[:1] if a["metrics"]), None))
    assert newest["metrics"][0]["arms"][0]["n"] == 1

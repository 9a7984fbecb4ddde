"""Results of experiments: sums and rows, the analysis and its word, and what stays a person's."""

import csv
import io
import random
import uuid

import pytest

from lib.tables import experiments as experiments_tables

PLAN = {"metrics": [{"key": "conversion", "kind": "proportion"}]}
FIXED = {**PLAN, "mode": "fixed", "planned_n": 1000}


def sums(control, treatment, key="conversion", **members):
    """Results of one metric: of each arm (n, successes), or its members."""
    arms = [{"arm": arm, **(of if isinstance(of, dict) else {"n": of[0], "successes": of[1]})}
            for arm, of in (("control", control), ("treatment", treatment))]
    return {"metrics": [{"key": key, "arms": arms}], **members}


@pytest.fixture
def post(api):
    """post(experiment, body, expect=201): post results; returns the answer."""

    def send(experiment, body, expect=201):
        return api.post(f"/experiments/{experiment['id']}/results", body, expect=expect).json()

    return send


def comparison(analysis, metric=0):
    return analysis["metrics"][metric]["comparisons"][0]


def codes(analysis):
    return {w["code"] for w in analysis["warnings"]}


def named(problem):
    return {e["field"] for e in problem["errors"]}


# ---- the analysis ----


def test_sums_become_an_analysis_that_the_experiment_says(api, make, post):
    made = make(ab_test_config=FIXED)
    analysis = post(made, sums((1000, 120), (1000, 150)))
    pair = comparison(analysis)
    assert pair["effect"] == pytest.approx(0.03)
    assert (pair["low"], pair["high"]) == pytest.approx((0.000040, 0.060103), abs=1e-6)
    assert pair["p"] == pytest.approx(0.049697, abs=1e-6)
    assert (pair["relative_low"], pair["relative_high"]) == pytest.approx((0.000294, 0.562797), abs=1e-6)
    assert (analysis["verdict"], analysis["delta_confidence"], analysis["advice"]) == ("better", "significant", "ship")
    assert "better" in analysis["text"] and "not explained by chance" in analysis["text"]
    assert analysis["allocation"] == {"chi_square": 0.0, "df": 1, "p": 1.0, "ok": True}

    read = api.get(f"/experiments/{made['id']}", expect=200).json()
    assert (read["observed_delta"], read["delta_confidence"], read["delta_source"]) == (pair["effect"], "significant", "computed")
    assert read["ab_test_results"]["analysis"] == analysis
    assert (read["outcome"], read["decision"]) == (None, None)
    assert api.get(f"/experiments/{made['id']}/results", expect=200).json() == analysis


def test_live_results_are_sequential_unless_the_plan_says_otherwise(make, post):
    metric = {"key": "watch", "kind": "mean"}
    given = sums({"n": 3407, "sum": 1396.87, "sum_squares": 52377.9767}, {"n": 3461, "sum": 2422.7, "sum_squares": 134698.29}, "watch")
    analysis = post(make(ab_test_config={"metrics": [metric]}), given)
    assert (analysis["mode"], analysis["verdict"]) == ("sequential", "unclear")
    assert comparison(analysis)["p"] == pytest.approx(0.290745, abs=1e-5)
    analysis = post(make(ab_test_config={"metrics": [metric], "mode": "fixed", "planned_n": 3000}), given)
    assert (analysis["mode"], analysis["verdict"]) == ("fixed", "better")
    assert comparison(analysis)["relative_high"] == pytest.approx(1.708689, abs=1e-5)


def test_a_large_effect_is_said_without_an_exponent(make, post):
    analysis = post(make(ab_test_config={**FIXED, "planned_n": 40}), sums((50, 5), (40, 20)))
    assert analysis["text"] == "400 % better (117 % to 1110 %), not explained by chance."


@pytest.mark.parametrize(("goal", "successes", "text"), [
    ("decrease", (150, 100), "33.3 % better (15.5 % to 47.4 %), not explained by chance."),
    ("decrease", (100, 150), "50 % worse (18.4 % to 90.2 %), not explained by chance."),
    ("increase", (150, 100), "33.3 % worse (15.5 % to 47.4 %), not explained by chance."),
])  # fmt: skip
def test_the_bounds_go_the_way_that_the_word_says(make, post, goal, successes, text):
    plan = {"mode": "fixed", "planned_n": 1000, "metrics": [{"key": "m", "kind": "proportion", "goal": goal}]}
    assert post(make(ab_test_config=plan), sums((1000, successes[0]), (1000, successes[1]), "m"))["text"] == text


def test_a_fixed_test_is_too_early_before_its_size_is_reached(make, post):
    analysis = post(make(ab_test_config={**FIXED, "planned_n": 2000}), sums((1000, 120), (1000, 200)))
    assert (analysis["verdict"], analysis["delta_confidence"], analysis["advice"]) == ("too_early", "inconclusive", "wait")
    assert "2000 more units" in analysis["text"]
    assert "early_look" in codes(analysis)


def test_a_broken_allocation_makes_every_test_invalid(make, post):
    analysis = post(make(ab_test_config=FIXED), sums((1000, 100), (1200, 190), units={"control": 1000, "treatment": 1200}))
    assert analysis["allocation"]["ok"] is False and analysis["allocation"]["p"] == pytest.approx(2.0079e-5, rel=1e-3)
    assert (analysis["verdict"], analysis["delta_confidence"]) == ("invalid", "not_tested")
    assert "sample_ratio_mismatch" in codes(analysis)


def test_several_primary_metrics_are_adjusted_and_guardrails_watch(make, post):
    plan = {"mode": "fixed", "planned_n": 1000, "metrics": [
        {"key": "conversion", "kind": "proportion", "role": "primary"}, {"key": "click", "kind": "proportion", "role": "primary"},
        {"key": "crash", "kind": "proportion", "role": "guardrail", "goal": "decrease"}]}
    given = sums((1000, 120), (1000, 150))
    given["metrics"] += sums((1000, 500), (1000, 505), "click")["metrics"] + sums((1000, 10), (1000, 40), "crash")["metrics"]
    analysis = post(make(ab_test_config=plan), given)
    assert comparison(analysis)["p_adjusted"] == pytest.approx(2 * comparison(analysis)["p"])
    assert analysis["delta_confidence"] == "inconclusive"
    assert [m["guardrail"] for m in analysis["metrics"]] == [None, None, "harmed"]


@pytest.mark.parametrize("crashes", [None, {"n": 1000, "successes": 5}])
def test_a_guardrail_without_results_does_not_pass_for_a_safe_one(make, post, crashes):
    plan = {"mode": "fixed", "planned_n": 1000, "metrics": [
        {"key": "conversion", "kind": "proportion"}, {"key": "crash", "kind": "proportion", "role": "guardrail", "goal": "decrease"}]}
    given = sums((1000, 120), (1000, 220))
    if crashes:
        given["metrics"].append({"key": "crash", "arms": [{"arm": "control", **crashes}]})
    analysis = post(make(ab_test_config=plan), given)
    assert (analysis["verdict"], analysis["advice"]) == ("better", "wait")
    assert {"code": "guardrail_untested", "metric": "crash"}.items() <= analysis["warnings"][-1].items()


def test_the_arm_that_speaks_is_named_and_has_guardrails_of_its_own(make, post):
    plan = {"mode": "fixed", "planned_n": 1000, "arms": [{"key": "old", "control": True}, {"key": "short"}, {"key": "long"}], "metrics": [
        {"key": "conversion", "kind": "proportion"}, {"key": "crash", "kind": "proportion", "role": "guardrail", "goal": "decrease"}]}

    def analysed(crashes):
        given = {"conversion": (120, 220, 118), "crash": crashes}
        return post(make(ab_test_config=plan), {"metrics": [{"key": key, "arms": [
            {"arm": arm["key"], "n": 1000, "successes": count} for arm, count in zip(plan["arms"], counts)]} for key, counts in given.items()]})

    analysis = analysed((200, 120, 290))
    assert analysis["text"].startswith("short: 83.3 % better (") and (analysis["metric"], analysis["arm"]) == ("conversion", "short")
    assert (analysis["metrics"][1]["guardrail"], analysis["advice"]) == ("harmed", "ship")
    assert [pair["guardrail"] for metric in analysis["metrics"] for pair in metric["comparisons"]] == [None, None, "safe", "harmed"]
    plan["metrics"][1]["role"] = "primary"
    assert analysed((200, 190, 210))["text"].startswith("conversion of short: 83.3 % better (")


def test_a_pre_period_is_shown_beside(make, post):
    plan = {"mode": "fixed", "planned_n": 100, "metrics": [{"key": "m", "kind": "mean"}]}
    arm = {"n": 100, "mean": 10, "variance": 4, "pre_sum": 1000, "pre_sum_squares": 10396, "pre_sum_products": 10356.4}
    pair = comparison(post(make(ab_test_config=plan), sums(arm, {**arm, "mean": 10.5, "pre_sum_products": 10856.4}, "m")))
    assert pair["adjusted"]["high"] - pair["adjusted"]["low"] < pair["high"] - pair["low"]
    assert pair["adjusted"]["effect"] == pytest.approx(pair["effect"], rel=0.2)


def test_a_pre_period_that_does_not_vary_is_left_out(make, post):
    """Also where the arms differ in it, which would else take out the whole effect."""
    plan = {"mode": "fixed", "planned_n": 100, "metrics": [{"key": "m", "kind": "mean"}]}
    arm = {"n": 100, "mean": 10, "variance": 4, "pre_sum": 1000, "pre_sum_squares": 10000, "pre_sum_products": 10000}
    other = {"n": 100, "mean": 10.5, "variance": 4, "pre_sum": 2000, "pre_sum_squares": 40000, "pre_sum_products": 21000}
    pair = comparison(post(make(ab_test_config=plan), sums(arm, other, "m")))
    assert pair["effect"] == pytest.approx(0.5) and pair["adjusted"] is None


def test_a_ratio_may_have_one_denominator(make, post):
    """Such as right answers of ten questions each."""
    plan = {"mode": "fixed", "planned_n": 100, "metrics": [{"key": "m", "kind": "ratio"}]}
    arm = {"n": 100, "sum": 600, "sum_squares": 3700, "denominator_sum": 1000, "denominator_sum_squares": 10000, "sum_products": 6000}
    other = {**arm, "sum": 700, "sum_squares": 5000, "sum_products": 7000}
    pair = comparison(post(make(ab_test_config=plan), sums(arm, other, "m")))
    assert pair["effect"] == pytest.approx(0.1) and 0 < pair["low"] < 0.1 < pair["high"]


def test_counts_may_be_huge_and_effects_tiny(make, post):
    analysis = post(make(ab_test_config={**PLAN, "mode": "fixed", "planned_n": 10**12}), sums((10**12, 2 * 10**11), (10**12, 2 * 10**11 + 1000)))
    pair = comparison(analysis)
    assert pair["effect"] == pytest.approx(1e-9, rel=1e-6) and pair["low"] < 0 < pair["high"]
    assert analysis["verdict"] == "equal"


def test_no_successes_and_no_variance(make, post):
    analysis = post(make(ab_test_config={**PLAN, "mode": "fixed", "planned_n": 20}), sums((20, 0), (20, 3)))
    pair = comparison(analysis)
    assert (pair["low"], pair["high"]) == pytest.approx((-0.027103, 0.363491), abs=1e-6) and pair["relative"] is None
    plan = {"mode": "fixed", "planned_n": 2, "metrics": [{"key": "m", "kind": "mean"}]}
    analysis = post(make(ab_test_config=plan), sums({"n": 5, "mean": 1, "variance": 0}, {"n": 5, "mean": 2, "variance": 0}, "m"))
    assert (analysis["verdict"], comparison(analysis)["p"], comparison(analysis)["effect"]) == ("invalid", None, 1)
    analysis = post(make(ab_test_config=plan), sums({"n": 1, "mean": 1, "variance": 0}, {"n": 2, "mean": 2, "variance": 1}, "m"))
    assert analysis["verdict"] == "invalid" and comparison(analysis)["invalid"] == "an arm has fewer than two units"


# ---- evaluations ----


def rows(pairs, metric="accuracy", **members):
    """Rows of examples: of each (control, treatment)."""
    return {"rows": [{"arm": arm, "example": f"q-{i}", **members, "metrics": {metric: value}}
                     for i, pair in enumerate(pairs) for arm, value in zip(("control", "treatment"), pair) if value is not None]}


def test_examples_of_0_and_1_are_paired(make, post):
    plan = {"metrics": [{"key": "accuracy", "kind": "proportion"}]}
    pairs = [(0, 1)] + [(1, 0)] * 7 + [(1, 1)] * 13
    pair = comparison(post(make(ab_test_config=plan), rows(pairs)))
    assert pair["p"] == pytest.approx(0.0390625)
    assert (pair["low"], pair["high"]) == pytest.approx((-0.517232, -0.026003), abs=1e-6)


def test_groups_make_clusters_and_what_is_in_one_arm_is_dropped(make, post):
    plan = {"metrics": [{"key": "score", "kind": "mean"}]}
    chance = random.Random(1)
    given = [(chance.random(), chance.random()) for _ in range(40)] + [(0.5, None)] * 5
    body = rows(given, "score")
    for row in body["rows"]:
        row["group"] = int(row["example"][2:]) // 4
    analysis = post(make(ab_test_config=plan), body)
    assert analysis["dropped_examples"] == 5 and {"dropped_examples", "few_groups", "few_examples"} <= codes(analysis)
    alone = post(make(ab_test_config=plan), rows(given[:40], "score"))
    assert comparison(analysis)["effect"] == pytest.approx(comparison(alone)["effect"])
    assert comparison(analysis)["high"] != comparison(alone)["high"]


def test_samples_give_pass_at_k(make, post):
    plan = {"metrics": [{"key": "solved", "kind": "pass_at_k", "k": 5}]}
    body = {"rows": [{"arm": arm, "example": e, "sample": s, "metrics": {"solved": int(s < right)}}
                     for arm, right in (("control", 3), ("treatment", 4)) for e in range(12) for s in range(10)]}
    analysis = post(make(ab_test_config=plan), body)
    assert analysis["metrics"][0]["arms"][0]["mean"] == pytest.approx(0.9166667)


def test_runs_without_examples_are_compared_by_seed(make, post):
    plan = {"metrics": [{"key": "loss", "kind": "mean", "goal": "decrease"}]}
    values = {"control": [1.0, 1.1, 0.9, 1.05], "treatment": [0.9, 1.01, 0.8, 0.94]}
    body = {"rows": [{"arm": arm, "sample": seed, "metrics": {"loss": value}} for arm, of in values.items() for seed, value in enumerate(of)]}
    analysis = post(make(ab_test_config=plan), body)
    assert (analysis["verdict"], analysis["mode"]) == ("better", "fixed") and "few_runs" in codes(analysis)
    body["rows"] = [row for row in body["rows"] if row["sample"] < 2]
    analysis = post(make(ab_test_config=plan), body)
    assert analysis["verdict"] == "invalid" and "fewer than 3 runs" in analysis["text"]


def test_sums_and_rows_of_the_same_units_agree(make, post):
    plan = {"metrics": [{"key": "m", "kind": "mean"}], "mode": "fixed", "planned_n": 30}
    chance = random.Random(2)
    values = {arm: [chance.gauss(mean, 1) for _ in range(30)] for arm, mean in (("control", 1), ("treatment", 2))}
    body = {"rows": [{"arm": arm, "sample": f"{arm}-{i}", "metrics": {"m": x}} for arm, of in values.items() for i, x in enumerate(of)]}
    of_rows = comparison(post(make(ab_test_config=plan), body))
    of_sums = comparison(post(make(ab_test_config=plan), sums(*(
        {"n": 30, "sum": sum(of), "sum_squares": sum(x * x for x in of)} for of in values.values()), "m")))
    for name in ("effect", "low", "high", "p", "relative_low"):
        assert of_rows[name] == pytest.approx(of_sums[name], rel=1e-9)


# ---- what is refused ----


@pytest.mark.parametrize("body, field", [
    ({}, "metrics"),
    ({**sums((10, 1), (10, 2)), "rows": [{"arm": "control", "metrics": {}}]}, "metrics"),
    (sums((10, 11), (10, 2)), "metrics[0].arms[0].successes"),
    (sums((10, 1.5), (10, 2)), "metrics[0].arms[0].successes"),
    (sums({"n": 0, "successes": 0}, (10, 2)), "metrics[0].arms[0].n"),
    (sums({"n": 10}, (10, 2)), "metrics[0].arms[0].successes"),
    (sums((10, 1), (10, 2), "other"), "metrics[0].key"),
    (sums((10, 1), (10, 2), units={"other": 1}), "units"),
    ({"rows": [{"arm": "other", "example": 1, "metrics": {"conversion": 1}}]}, "rows[0].arm"),
    ({"rows": [{"arm": "control", "example": 1, "metrics": {"conversion": 0.5}}]}, "rows.metrics.conversion"),
    ({"rows": [{"arm": "control", "example": 1, "metrics": {}}, {"arm": "control", "metrics": {}}]}, "rows[1].example"),
])
def test_results_that_do_not_fit_are_named(api, make, post, body, field):
    made = make(ab_test_config=FIXED)
    assert field in named(post(made, body, 400))
    assert api.get(f"/experiments/{made['id']}/results", expect=404)


@pytest.mark.parametrize("arm, field", [
    ({"n": 10, "sum": 100, "sum_squares": 900}, "metrics[0].arms[0].sum_squares"),
    ({"n": 10**6, "sum": 1e12, "sum_squares": 1e18 + 1e6}, "metrics[0].arms[0].sum_squares"),
    ({"n": 10, "mean": 1, "variance": -1}, "metrics[0].arms[0].variance"),
])
def test_sums_without_digits_for_a_variance_are_refused(make, post, arm, field):
    plan = {"metrics": [{"key": "m", "kind": "mean"}]}
    assert named(post(make(ab_test_config=plan), sums(arm, {"n": 10, "mean": 1, "variance": 1}, "m"), 400)) == {field}


@pytest.mark.parametrize("plan, field", [
    ({"arms": [{"key": "a"}, {"key": "b"}]}, "ab_test_config.arms"),
    ({"arms": [{"key": "a", "control": True}, {"key": "a"}]}, "ab_test_config.arms"),
    ({"arms": [{"key": "a", "control": True}]}, "ab_test_config.arms"),
    ({"arms": "two"}, "ab_test_config.arms"),
    ({"metrics": [{"key": "m", "kind": "median"}]}, "ab_test_config.metrics[0].kind"),
    ({"metrics": [{"key": "m", "kind": "mean"}, {"key": "m", "kind": "mean"}]}, "ab_test_config.metrics"),
    ({"alpha": 0.5}, "ab_test_config.alpha"),
    ({"mode": "bayesian"}, "ab_test_config.mode"),
])
def test_a_plan_that_makes_no_sense_is_refused(api, make, plan, field):
    assert field in named(api.post("/experiments", {"name": "x", "ab_test_config": plan}, expect=400).json())
    assert field in named(api.put(f"/experiments/{make()['id']}", {"ab_test_config": plan}, expect=400).json())


def test_a_plan_keeps_members_of_its_own(make):
    plan = {**FIXED, "split": 0.5, "arms": [{"key": "a", "control": True, "colour": "red"}, {"key": "b"}]}
    assert make(ab_test_config=plan)["ab_test_config"] == plan


# ---- what a person says stays ----


def test_a_word_that_is_typed_stands_until_the_next_results(api, make, post):
    made = make(ab_test_config=FIXED, observed_delta=1.5, delta_confidence="significant")
    path = f"/experiments/{made['id']}"
    assert made["delta_source"] == "stated"
    post(made, sums((1000, 120), (1000, 121)))
    read = api.get(path, expect=200).json()
    assert (read["delta_source"], read["delta_confidence"]) == ("computed", "inconclusive")
    assert {"field": "observed_delta", "from": 1.5, "to": read["observed_delta"]}.items() <= next(
        h for h in read["history"] if h["field"] == "observed_delta").items()
    assert api.put(path, read, expect=200).json()["delta_source"] == "computed"  # as it was read
    assert api.put(path, {"delta_confidence": "significant", "outcome": "ship"}, expect=200).json()["delta_source"] == "stated"
    post(made, sums((1000, 130), (1000, 131)))
    read = api.get(path, expect=200).json()
    assert (read["delta_source"], read["delta_confidence"], read["outcome"]) == ("computed", "inconclusive", "ship")


def test_nobody_writes_the_analysis(api, make, post):
    made = make(ab_test_results={"analysis": {"verdict": "better"}, "note": 1})
    assert made["ab_test_results"] == {"note": 1}
    made = make(ab_test_config=FIXED)
    analysis = post(made, sums((1000, 120), (1000, 150)))
    path = f"/experiments/{made['id']}"
    for given in ({"analysis": None, "winner": "b"}, {"winner": "b"}):
        assert api.put(path, {"ab_test_results": given}, expect=200).json()["ab_test_results"] == {"winner": "b", "analysis": analysis}
    assert api.put(path, {"ab_test_results": None}, expect=200).json()["ab_test_results"] == {"analysis": analysis}


def test_the_plan_of_results_is_fixed_unless_it_is_restarted(api, make, post):
    made = make(ab_test_config=FIXED)
    path = f"/experiments/{made['id']}"
    analysis = post(made, sums((1000, 120), (1000, 150)))
    other = {**FIXED, "alpha": 0.01}
    assert api.put(path, {"ab_test_config": other}, expect=409).json()["error"] == "results_exist"
    for change in ({"suite": ["conversion"]}, {"mode": "sequential"}, {"planned_n": 999}, {"metrics": [{**PLAN["metrics"][0], "scale": {"low": 0, "high": 2}}]},
                   {"arms": [{"key": "control", "control": True}, {"key": "other"}]}, {"metrics": [*PLAN["metrics"], {"key": "m", "kind": "mean"}]}):
        assert api.put(path, {"ab_test_config": {**FIXED, **change}}, expect=409).json()["error"] == "results_exist"
    api.put(path, {"ab_test_config": {**FIXED, "note": "kept"}}, expect=200)
    read = api.put(path, {"ab_test_config": other, "restart": True}, expect=200).json()
    assert (read["ab_test_config"], read["delta_source"], read["ab_test_results"]) == (other, None, None)
    api.get(f"{path}/results", expect=404)
    assert api.get(f"{path}/results?all=true", expect=200).json() == [{**analysis, "apart": True}]


def test_a_trial_changes_nothing(api, make, post):
    made = make(ab_test_config=FIXED)
    assert post(made, {**sums((1000, 120), (1000, 150)), "apply": False}, 200)["verdict"] == "better"
    assert api.get(f"/experiments/{made['id']}", expect=200).json() == made
    api.get(f"/experiments/{made['id']}/results", expect=404)


def test_sums_that_fall_are_told(make, post):
    made = make(ab_test_config=FIXED)
    assert "shrunk" not in codes(post(made, sums((1000, 120), (1000, 150))))
    assert "shrunk" in codes(post(made, sums((900, 120), (1000, 150))))


def test_the_same_key_stores_results_once(api, make):
    made, key = make(ab_test_config=FIXED), str(uuid.uuid4())
    path = f"/experiments/{made['id']}/results"
    answers = [api.post(path, sums((1000, 120), (1000, 150)), headers={"Idempotency-Key": key}, expect=201).json() for _ in range(2)]
    assert answers[0] == answers[1] and len(api.get(f"{path}?all=true", expect=200).json()) == 1


@pytest.mark.parametrize("ahead", ["0", "1 hour"], ids=["in order", "where the clock was set back"])
def test_the_newest_hundred_results_are_kept(db, api, make, post, ahead):
    made = make(ab_test_config=FIXED)
    post(made, sums((1000, 120), (1000, 150)))
    experiments_tables.repeat_results(db, made["id"], 150, ahead)
    last = post(made, sums((1000, 120), (1000, 151)))
    listed = api.get(f"/experiments/{made['id']}/results?all=true", expect=200).json()
    assert len(listed) == 100 and listed[0]["analysis_id"] == last["analysis_id"]
    assert api.get(f"/experiments/{made['id']}/results", expect=200).json()["analysis_id"] == last["analysis_id"]


# ---- CSV, size, others ----


def test_csv_has_a_line_for_each_arm_of_each_metric(api, make, post):
    plan = {**FIXED, "arms": [{"key": "=SUM(1)", "control": True}, {"key": 'say "b", twice'}]}
    made = make(ab_test_config=plan)
    body = sums((1000, 120), (1000, 150))
    for arm, of in zip(plan["arms"], body["metrics"][0]["arms"]):
        of["arm"] = arm["key"]
    analysis = post(made, body)
    answer = api.get(f"/experiments/{made['id']}/results", headers={"Accept": "text/csv"}, expect=200)
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="experiment-{made["id"]}-results.csv"'
    assert answer.text.count("\r\n") == 3 and answer.text.endswith("\r\n")
    lines = list(csv.DictReader(io.StringIO(answer.text)))
    assert [line["arm"] for line in lines] == ["'=SUM(1)", 'say "b", twice']
    assert float(lines[1]["effect_low"]) == comparison(analysis)["low"] and lines[0]["effect_low"] == ""
    api.get(f"/experiments/{made['id']}/results", headers={"Accept": "image/png"}, expect=406)


def test_sizes_are_those_of_the_textbook(api):
    def size(**body):
        return api.post("/experiments/sample-size", {"mode": "fixed", **body}, expect=200).json()

    answer = size(kind="proportion", baseline=0.1, min_effect=0.2)
    assert (answer["n_per_arm"], answer["n_total"]) == (3841, 7682)
    assert {"min_effect": 0.2, "n_per_arm": 3841} in answer["curve"]
    assert size(kind="mean", baseline=1, variance=1, min_effect=0.1)["n_per_arm"] == 1570
    assert size(kind="mean", baseline=1, variance=1e300, min_effect=1e-9)["n_per_arm"] is None
    assert size(kind="mean", baseline=1, variance=1, min_effect=0.1, mode="sequential")["n_per_arm"] > 1570
    for body, field in (({"kind": "mean", "baseline": 1}, "min_effect"), ({"kind": "mean", "baseline": 1, "min_effect": 1}, "variance"),
                        ({"kind": "proportion", "baseline": 1.5, "min_effect": 1}, "baseline"),
                        ({"kind": "proportion", "baseline": 0.6, "min_effect": 1}, "min_effect")):
        assert field in named(api.post("/experiments/sample-size", body, expect=400).json())


def test_results_belong_to_their_account(make, post, other_user):
    made = make(ab_test_config=FIXED)
    path = f"/experiments/{made['id']}/results"
    post(made, sums((1000, 120), (1000, 150)))
    other_user.api.get(path, expect=404)
    other_user.api.get(f"{path}?all=true", expect=404)
    other_user.api.post(path, sums((1000, 120), (1000, 150)), expect=404)


def test_a_suite_is_compared_as_a_whole(make, post):
    tasks = [{"key": f"task-{i}", "kind": "mean", "scale": {"low": 0, "high": 100}} for i in range(4)]
    plan = {"metrics": tasks, "suite": [task["key"] for task in tasks]}
    body = {"rows": [{"arm": arm, "sample": run, "metrics": {task["key"]: base + 10 * i + run for i, task in enumerate(tasks)}}
                     for arm, base in (("control", 10), ("treatment", 40)) for run in range(6)]}
    analysis = post(make(ab_test_config=plan), body)
    suite = analysis["metrics"][-1]
    assert (suite["key"], suite["kind"], suite["role"]) == ("suite", "suite", "primary")
    pair = suite["comparisons"][0]
    assert pair["effect"] == pytest.approx(0.3) and pair["low"] < 0.3 < pair["high"] and pair["improvement"] == 1
    assert (analysis["verdict"], analysis["metric"], analysis["replicates"]) == ("better", "suite", 10000)
    again = post(make(ab_test_config=plan), body)
    assert again["metrics"] == analysis["metrics"]  # the same results give the same digits
    body["rows"] = [row for row in body["rows"] if row["sample"] < 4]
    assert post(make(ab_test_config=plan), body)["verdict"] == "invalid"

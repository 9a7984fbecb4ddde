"""Results of runs: evaluation runs that are named in a request, and runs that name an arm, whose results arrive by themselves."""

import secrets
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.outside.webhooks import Hook
from lib.scenario.evalenv import SPEC
from lib.scenario.evidence import Graph
from lib.tables import common
from lib.tables import experiments as experiments_tables
from lib.wait import wait_for

RUNS, RESULTS, TEMPLATES = "/eval-env/runs", "/eval-env/webhooks/results", "/eval-env/templates"
PLAN = {"metrics": [{"key": "recall", "kind": "mean"}]}
BINARY = {"metrics": [{"key": "right", "kind": "proportion"}]}


@pytest.fixture
def template(api):
    return api.post(TEMPLATES, {"name": "evaluation", "spec": SPEC}, expect=201).json()


@pytest.fixture
def run(api, template):
    """run(status="succeeded", params={}, **result): an evaluation run that has ended so; returns its id."""

    def make(status="succeeded", params=None, of=template, **result):
        made = api.post(RUNS, {"template_id": of["template_id"], "params": params or {}}, expect=201).json()["run_id"]
        api.post(RESULTS, {"run_id": made, "status": status, **result}, expect=200)
        return made

    return make


@pytest.fixture
def post(api):
    """post(experiment, runs, expect=201): results of evaluation runs by arm."""

    def send(experiment, runs, expect=201, **members):
        return api.post(f"/experiments/{experiment['id']}/results", {"eval_runs": runs, **members}, expect=expect).json()

    return send


def recall(arm, seed):
    """A result that is 0.2 better in the treatment, and a little more with other seeds."""
    return 0.5 + seed / 100 if arm == "control" else 0.7 + seed * seed / 100


ARMS = ("control", "treatment")


def newest(api, experiment, runs, arm="treatment"):
    """The newest analysis, once it has so many runs in the arm."""

    def found():
        analyses = api.get(f"/experiments/{experiment['id']}/results?all=true", expect=200).json()
        counts = [a["n"] for analysis in analyses[:1] for m in analysis["metrics"][:1] for a in m["arms"] if a["arm"] == arm]
        return analyses[0] if counts == [runs] else None

    return wait_for(found, f"{runs} runs are analysed")


def named(problem):
    return {e["field"]: e["message"] for e in problem["errors"]}


# ---- runs that are named ----


def test_runs_of_the_same_seeds_are_paired(make, run, post):
    values = {"control": [0.5, 0.6, 0.7], "treatment": [0.61, 0.7, 0.82]}
    runs = {arm: [run(params={"seed": seed}, metrics={"recall": value, "other": 1}) for seed, value in enumerate(of)] for arm, of in values.items()}
    analysis = post(make(ab_test_config=PLAN), runs)
    assert (analysis["source"], analysis["unit"], analysis["mode"]) == ("eval_runs", "run", "fixed")
    (metric,) = analysis["metrics"]
    assert metric["comparisons"][0]["effect"] == pytest.approx(0.11)
    assert [arm["spread"] for arm in metric["arms"]] == [{"min": 0.5, "max": 0.7}, {"min": 0.61, "max": 0.82}]
    assert (analysis["verdict"], analysis["missing_runs"], analysis["left_out_runs"]) == ("better", 0, 0)
    assert analysis["template_digest"]


def test_examples_of_runs_are_compared_one_by_one(make, run, post):
    def examples(right):
        return {"examples": [{"id": f"q-{i}", "group": None, "note": "x", "metrics": {"right": int(i < right), "text": "no number"}}
                             for i in range(20)]}

    runs = {"control": [run(metrics={"recall": 1}, results=examples(8))], "treatment": [run(metrics={"recall": 1}, results=examples(19))]}
    analysis = post(make(ab_test_config=BINARY), runs)
    assert (analysis["unit"], analysis["metrics"][0]["comparisons"][0]["effect"]) == ("example", pytest.approx(0.55))
    assert analysis["verdict"] == "better" and analysis["metrics"][0]["comparisons"][0]["p"] == pytest.approx(2 ** -11)


def test_a_run_that_failed_by_itself_is_missing_and_one_of_its_environment_is_left_out(make, run, post):
    runs = {arm: [run(params={"seed": seed}, metrics={"recall": recall(arm, seed)}) for seed in range(3)] for arm in ARMS}
    lost = run("failed", error={"kind": "environment", "message": "no space"})
    analysis = post(make(ab_test_config=PLAN), {**runs, "control": [*runs["control"], lost]})
    assert (analysis["verdict"], analysis["left_out_runs"], analysis["missing_runs"]) == ("better", 1, 0)
    failed = run("failed", error={"kind": "task", "message": "exit 1"})
    analysis = post(make(ab_test_config=PLAN), {**runs, "treatment": [*runs["treatment"], failed]})
    assert (analysis["verdict"], analysis["delta_confidence"], analysis["missing_runs"]) == ("invalid", "not_tested", 1)
    assert "missing_runs" in {w["code"] for w in analysis["warnings"]}


def test_a_run_that_was_cancelled_while_it_ran_is_missing(api, make, run, post, template):
    """Perhaps because of how it went. One that had not begun says nothing."""
    runs = {arm: [run(params={"seed": seed}, metrics={"recall": recall(arm, seed)}) for seed in range(3)] for arm in ARMS}
    one, other = (api.post(RUNS, {"template_id": template["template_id"]}, expect=201).json()["run_id"] for _ in range(2))
    api.post(RESULTS, {"run_id": other, "status": "running"}, expect=200)
    for cancelled in (one, other):
        api.post(f"{RUNS}/{cancelled}/cancel", expect=200)
    analysis = post(make(ab_test_config=PLAN), {**runs, "control": [*runs["control"], one]})
    assert (analysis["verdict"], analysis["left_out_runs"], analysis["missing_runs"]) == ("better", 1, 0)
    analysis = post(make(ab_test_config=PLAN), {**runs, "control": [*runs["control"], other]})
    assert (analysis["verdict"], analysis["delta_confidence"], analysis["missing_runs"]) == ("invalid", "not_tested", 1)


def test_a_run_that_failed_and_was_run_again_is_not_missing(api, make, run, post):
    """With its seed, in its arm, and later. How often an arm fails is not compared, which a warning says."""
    failed = run("failed", params={"seed": 0}, error={"kind": "task", "message": "exit 1"})
    runs = {arm: [run(params={"seed": seed}, metrics={"recall": recall(arm, seed)}) for seed in range(3)] for arm in ARMS}
    analysis = post(make(ab_test_config=PLAN), {**runs, "control": [failed, *runs["control"]]})
    assert (analysis["verdict"], analysis["missing_runs"], analysis["left_out_runs"]) == ("better", 0, 1)
    assert "repeated_runs" in {w["code"] for w in analysis["warnings"]}
    assert post(make(ab_test_config=PLAN), {**runs, "control": [failed, *runs["control"][1:]]})["missing_runs"] == 1
    later = run("failed", params={"seed": 0}, error={"kind": "task", "message": "exit 1"})
    assert post(make(ab_test_config=PLAN), {**runs, "treatment": [*runs["treatment"], later]})["missing_runs"] == 1


def test_runs_that_all_have_one_seed_do_not_stand_for_each_other(api, make, run, post):
    """They are planned repetitions, and the one that succeeds is none of those that failed."""
    def result(arm, seed=42):
        return run(params={"seed": seed}, metrics={"recall": recall(arm, 1)})

    control = [result("control") for _ in range(3)]
    failed = [run("failed", params={"seed": 42}, error={"kind": "task", "message": "exit 1"}) for _ in range(2)]
    analysis = post(make(ab_test_config=PLAN), {"control": control, "treatment": [*failed, result("treatment")]})
    assert (analysis["verdict"], analysis["missing_runs"], analysis["left_out_runs"]) == ("invalid", 2, 0)
    assert "repeated_runs" not in {w["code"] for w in analysis["warnings"]}
    analysis = post(make(ab_test_config=PLAN), {"control": control[:1], "treatment": [*failed, *(result("treatment") for _ in range(2))]})
    assert analysis["missing_runs"] == 2


def test_runs_that_do_not_go_together_are_named(api, make, run, post, template, other_user):
    made, good = make(ab_test_config=PLAN), run(metrics={"recall": 0.5})
    other = api.post(TEMPLATES, {"name": "another", "spec": {**SPEC, "command": "x"}}, expect=201).json()
    foreign = run(of=other, metrics={"recall": 0.5})
    mixed = post(made, {"control": [good], "treatment": [foreign]}, 400)
    assert (mixed["error"], named(mixed)) == ("mixed_templates", {"eval_runs.treatment[0]": "is of another version of a template than the others"})
    both = post(made, {"control": [good, 7], "treatment": [foreign]}, 400)
    assert (both["error"], set(named(both))) == ("invalid_request", {"eval_runs.control[1]", "eval_runs.treatment[0]"})
    waiting = api.post(RUNS, {"template_id": template["template_id"]}, expect=201).json()["run_id"]
    with_examples = run(metrics={"recall": 1}, results={"examples": [{"id": 1, "metrics": {}}]})
    faults = named(post(made, {"control": [good, waiting, str(uuid.uuid4()), 7], "treatment": [with_examples]}, 400))
    assert faults == {"eval_runs.control[1]": "has not ended", "eval_runs.control[2]": "is not one of your runs",
                      "eval_runs.control[3]": "must be the id of a run",
                      "eval_runs.treatment[0]": "must have examples if others have, and none if they have not"}
    assert "eval_runs.third" in named(post(made, {"third": [good]}, 400))
    assert "eval_runs" in named(post(made, {"control": []}, 400))
    assert "eval_runs" in named(post(made, {"control": [good] * 201}, 400))
    assert "metrics" in named(post(made, {"control": [good]}, 400, rows=[{"arm": "control", "metrics": {}}]))
    theirs = other_user.api.post("/experiments", {"name": "theirs", "ab_test_config": PLAN}, expect=201).json()
    answer = other_user.api.post(f"/experiments/{theirs['id']}/results", {"eval_runs": {"control": [good]}}, expect=400).json()
    assert named(answer) == {"eval_runs.control[0]": "is not one of your runs"}


def test_reading_runs_needs_its_scope(api, make, run):
    made, good = make(ab_test_config=PLAN), run(metrics={"recall": 0.5})
    key = api.post("/account/api-keys", {"name": "no runs", "scopes": ["experiments:read", "experiments:write"]}, expect=201).json()["key"]
    answer = api.as_key(key).post(f"/experiments/{made['id']}/results", {"eval_runs": {"control": [good]}}, expect=403)
    assert "eval:read" in str(answer.json())


# ---- runs that name an arm ----


def test_results_of_evaluation_runs_arrive_by_themselves(api, make, run):
    made = make(ab_test_config=PLAN)
    for seed in range(3):
        for arm in ARMS:
            run(params={"experiment_id": made["id"], "arm": arm, "seed": seed}, metrics={"recall": recall(arm, seed)})
    analysis = newest(api, made, 3)
    assert (analysis["source"], analysis["by"], analysis["verdict"]) == ("eval_runs", None, "better")
    assert "early_look" in {w["code"] for w in analysis["warnings"]}
    read = api.get(f"/experiments/{made['id']}", expect=200).json()
    assert (read["delta_source"], read["outcome"], read["decision"]) == ("computed", None, None)
    assert len(read["ab_test_results"]["eval_runs"]) == 6
    graph = Graph(api.get(f"/experiments/{made['id']}/evidence", expect=200).json())
    used = {end for start, kind, end in graph.edges if (start, kind) == (analysis["analysis_id"], "uses")}
    assert used == {node["id"] for node in graph.of("eval_run")} and len(used) == 6
    assert {edge["basis"] for edge in graph.edges.values()} == {"stated"} and graph.is_connected()


def test_an_analysis_of_posted_runs_uses_them(db, api, make, run, post):
    """Runs that do not name the experiment themselves. What was analysed before it was kept of which runs is inferred by the template."""
    made = make(ab_test_config=PLAN)
    runs = {arm: [run(metrics={"recall": recall(arm, seed)}) for seed in range(3)] for arm in ARMS}
    analysis = post(made, {arm: [id.upper() for id in ids] for arm, ids in runs.items()})
    graph = Graph(api.get(f"/experiments/{made['id']}/evidence", expect=200).json())
    assert {end for start, kind, end in graph.edges if (start, kind) == (analysis["analysis_id"], "uses")} == {*runs["control"], *runs["treatment"]}
    assert graph.summary["evaluations"] == 6 and graph.is_connected()
    told = run(params={"experiment_id": made["id"]}, metrics={"recall": 0.5})
    wait_for(lambda: told in Graph(api.get(f"/experiments/{made['id']}/evidence", expect=200).json()).nodes, "it is known")
    experiments_tables.forget_runs_of_analysis(db, analysis["analysis_id"])
    graph = Graph(api.get(f"/experiments/{made['id']}/evidence", expect=200).json())
    edges = {end: edge for (start, kind, end), edge in graph.edges.items() if (start, kind) == (analysis["analysis_id"], "uses")}
    assert edges[told]["basis"] == "inferred" and edges[told]["data"] == {"rule": "same_template_before"} and len(edges) == 1


def test_a_planned_number_of_runs_is_waited_for(api, make, run):
    made = make(ab_test_config={**PLAN, "planned_n": 4})
    for seed in range(3):
        for arm in ARMS:
            run(params={"experiment_id": made["id"], "arm": arm, "seed": seed}, metrics={"recall": recall(arm, seed)})
    analysis = newest(api, made, 3)
    assert (analysis["verdict"], analysis["text"]) == ("too_early", "Too early: 2 more units.")


def test_runs_of_a_suite_are_planned_as_runs_and_not_by_task(api, make, run):
    tasks = [{"key": f"task-{i}", "kind": "mean"} for i in range(4)]
    made = make(ab_test_config={"metrics": tasks, "suite": [task["key"] for task in tasks], "planned_n": 6})
    for seed in range(5):
        for arm in ARMS:
            of_tasks = {task["key"]: recall(arm, seed) for task in tasks}
            run(params={"experiment_id": made["id"], "arm": arm, "seed": seed}, metrics={"recall": 1, **of_tasks})
    analysis = newest(api, made, 5)
    assert (analysis["verdict"], analysis["text"]) == ("too_early", "Too early: 2 more units.")
    assert [arm["n"] for arm in analysis["metrics"][-1]["arms"]] == [5, 5]


def test_only_runs_of_the_newest_template_count(api, make, run, template):
    made = make(ab_test_config=PLAN)
    for arm in ARMS:
        run(params={"experiment_id": made["id"], "arm": arm}, metrics={"recall": 0.1})
    newest(api, made, 1)
    api.put(f"{TEMPLATES}/{template['template_id']}", {"spec": {**SPEC, "command": "other"}}, expect=200)
    for arm in ("treatment", "treatment", "control"):
        run(params={"experiment_id": made["id"], "arm": arm}, metrics={"recall": 0.2})
    analysis = wait_for(lambda: next((a for a in [newest(api, made, 2)] if a["left_out_runs"] == 2 and a["metrics"][0]["arms"][0]["n"] == 1), None))
    assert [arm["mean"] for arm in analysis["metrics"][0]["arms"]] == [0.2, 0.2]


def test_the_newest_run_is_the_one_that_was_made_last(db, api, make, run, template):
    made = make(ab_test_config=PLAN)
    early = run(params={"experiment_id": made["id"], "arm": "control"}, metrics={"recall": 0.1})
    api.put(f"{TEMPLATES}/{template['template_id']}", {"spec": {**SPEC, "command": "other"}}, expect=200)
    for arm in ARMS:
        run(params={"experiment_id": made["id"], "arm": arm}, metrics={"recall": 0.2})
    newest(api, made, 1)
    experiments_tables.keep_linked_run_late(db, early)
    run(params={"experiment_id": made["id"], "arm": "treatment"}, metrics={"recall": 0.2})
    assert newest(api, made, 2)["left_out_runs"] == 1


def test_linked_runs_that_do_not_fit_say_why(api, make, run):
    made = make(ab_test_config=PLAN)
    run(params={"experiment_id": made["id"], "arm": "third"}, metrics={"recall": 0.1})
    (analysis,) = wait_for(lambda: api.get(f"/experiments/{made['id']}/results?all=true", expect=200).json())
    assert (analysis["verdict"], analysis["delta_confidence"]) == ("invalid", "not_tested")
    assert analysis["text"] == "There is no valid test: eval_runs.third is no arm of the plan."


def test_a_run_of_no_arm_spoils_no_others(api, make, run):
    made = make(ab_test_config=PLAN)
    for arm, seed in (("control", 0), ("third", 0), ("treatment", 0), ("", 1), ("control", 1), ("treatment", 1), ("control", 2), ("treatment", 2)):
        run(params={"experiment_id": made["id"], "arm": arm, "seed": seed}, metrics={"recall": recall("control" if arm == "control" else "treatment", seed)})
    analysis = newest(api, made, 3)
    assert (analysis["verdict"], analysis["left_out_runs"]) == ("better", 2)


def test_a_job_that_has_read_less_and_ends_last_stores_nothing(db, user, api, make, run):
    made = make(ab_test_config=PLAN)

    def run_arms():
        for arm in ARMS:
            run(params={"experiment_id": made["id"], "arm": arm}, metrics={"recall": 0.1})

    run_arms()
    output = {name: value for name, value in newest(api, made, 1).items() if name not in ("analysis_id", "experiment_id", "at", "by")}
    early = experiments_tables.linked_runs(db, user.account, made["id"])
    run_arms()
    shown = newest(api, made, 2)
    assert not experiments_tables.store_analysis(db, user.account, made["id"], early, output)
    assert newest(api, made, 2) == shown
    late = experiments_tables.linked_runs(db, user.account, made["id"])
    assert experiments_tables.store_analysis(db, user.account, made["id"], late, output)


def test_the_oldest_of_too_many_examples_are_left_out(api, make, run, post):
    """Of each arm as many as of another. Named in a request they are a fault."""
    results = {arm: {"examples": [{"id": i, "metrics": {"right": (i + n) % 2}} for i in range(45_000)]} for n, arm in enumerate(ARMS)}
    made, runs = make(ab_test_config=BINARY), {arm: [] for arm in ARMS}
    for _ in range(3):
        for arm in ARMS:
            runs[arm].append(run(params={"experiment_id": made["id"], "arm": arm}, metrics={"recall": 1}, results=results[arm]))

    def is_complete():
        analysis = api.get(f"/experiments/{made['id']}/results").json()
        return analysis if analysis.get("left_out_runs") == 2 else None

    analysis = wait_for(is_complete, "six runs are analysed", patience=120)
    assert "older_runs" in {w["code"] for w in analysis["warnings"]}
    assert analysis["metrics"][0]["comparisons"][0]["effect"] == 0 and analysis["verdict"] != "invalid"
    graph = Graph(api.get(f"/experiments/{made['id']}/evidence", expect=200).json())
    used = {end for start, kind, end in graph.edges if (start, kind) == (analysis["analysis_id"], "uses")}
    assert used == {run for of in runs.values() for run in of[1:]}
    faults = named(post(made, runs, 400))
    assert faults == {f"eval_runs.treatment[{i}]": "is one too many: together the runs have too many examples" for i in (1, 2)}


def test_runs_that_were_deleted_for_their_age_are_left_out(db, api, make, run):
    made = make(ab_test_config=PLAN)
    early = run(params={"experiment_id": made["id"], "arm": "control"}, metrics={"recall": 0.1})
    wait_for(lambda: api.get(f"/experiments/{made['id']}/results").status_code == 200, "it is analysed")
    experiments_tables.lose_linked_run(db, early)
    runs = {run(params={"experiment_id": made["id"], "arm": arm, "seed": seed}, metrics={"recall": recall(arm, seed)})
            for seed in range(3) for arm in ARMS}
    analysis = newest(api, made, 3)
    assert (analysis["verdict"], analysis["left_out_runs"]) == ("better", 1)
    assert experiments_tables.runs_of_analysis(db, analysis["analysis_id"]) == runs


def test_a_restart_forgets_the_runs_of_the_earlier_plan(api, make, run):
    made = make(ab_test_config=PLAN)
    for arm in ARMS:
        run(params={"experiment_id": made["id"], "arm": arm}, metrics={"recall": 0.1, "loss": 5})
    newest(api, made, 1)
    other = {"metrics": [{"key": "loss", "kind": "mean", "goal": "decrease"}]}
    api.put(f"/experiments/{made['id']}", {"ab_test_config": other, "restart": True}, expect=200)
    run(params={"experiment_id": made["id"], "arm": "control"}, metrics={"recall": 0.1, "loss": 3})
    analysis = wait_for(lambda: next((a for a in newest(api, made, 0)["metrics"] if a["key"] == "loss"), None))
    assert [(arm["n"], arm["mean"]) for arm in analysis["arms"]] == [(1, 3), (0, None)]


# ---- telemetry ----


@pytest.fixture
def report(api):
    """report(repo, run_id, expect=201, **members): telemetry of an agent's run that has ended."""

    def send(repo, run_id, expect=201, **members):
        key = {"name": "agent", "kind": "automation", "scopes": ["fleet:report"], "repo": repo}
        agent = api.as_key(api.post("/account/api-keys", key, expect=201).json()["key"])
        body = {"repo": repo, "run_id": run_id, "status": "pr_opened", "finished_at": "2026-01-02T00:00:00Z", **members}
        return agent.post("/fleet/runs", body, expect=expect).json()

    return send


def test_what_agents_measure_arrives_by_itself(api, make, report):
    repo = f"acme-{uuid.uuid4().hex[:8]}/ranker"
    plan = {"metrics": [{"key": "speed", "kind": "mean"}, {"key": "cost_usd", "kind": "mean", "goal": "decrease"}]}
    made = make(ab_test_config=plan, launch_context={"target_repo": repo})
    for number, (arm, speed) in enumerate([("control", 1.0), ("control", 1.1), ("control", 1.2), ("treatment", 2.0), ("treatment", 2.1), ("treatment", 2.3)]):
        shown = report(repo, number, experiment_id=made["id"], arm=arm, metrics={"speed": speed, "note": "left out"}, cost_usd=number / 10,
                       cost_basis="estimated")
        assert shown["metrics"] == {"speed": speed, "note": "left out"}
    analysis = wait_for(lambda: next((a for a in [newest(api, made, 3)] if a["metrics"][0]["arms"][0]["n"] == 3), None))
    assert (analysis["source"], analysis["unit"], analysis["verdict"]) == ("telemetry", "run", "better")
    assert [arm["mean"] for arm in analysis["metrics"][1]["arms"]] == pytest.approx([0.1, 0.4])
    assert "estimated_cost" in {w["code"] for w in analysis["warnings"]}
    report(repo, 6, experiment_id=made["id"], arm="third", metrics={"speed": 9})
    analysis = wait_for(lambda: next((a for a in [newest(api, made, 3)] if a["left_out_runs"] == 1), None))
    assert (analysis["verdict"], [arm["n"] for arm in analysis["metrics"][0]["arms"]]) == ("better", [3, 3])


@pytest.fixture
def measured(api, make, report):
    """An experiment, and its repository, whose runs 0 to 3 have measured their number, in each arm two."""
    repo = f"acme-{uuid.uuid4().hex[:8]}/ranker"
    made = make(ab_test_config=PLAN, launch_context={"target_repo": repo})
    for number in range(4):
        report(repo, number, experiment_id=made["id"], arm=ARMS[number % 2], metrics={"recall": number})
    newest(api, made, 2)
    return made, repo


def test_a_run_that_is_deleted_is_taken_out_of_the_results(api, measured):
    """With the last one they are no longer those of the experiment."""
    made, repo = measured
    path = f"/experiments/{made['id']}"
    api.delete(f"/fleet/runs/3?repo={repo}", expect=200)
    analysis = newest(api, made, 1)
    assert [(arm["n"], arm["mean"]) for arm in analysis["metrics"][0]["arms"]] == [(2, 1), (1, 1)]
    assert api.get(path, expect=200).json()["delta_source"] == "computed"
    for number in range(3):
        api.delete(f"/fleet/runs/{number}?repo={repo}", expect=200)
    wait_for(lambda: api.get(f"{path}/results").status_code == 404, "there are no results")
    read = api.get(path, expect=200).json()
    assert (read["observed_delta"], read["delta_confidence"], read["delta_source"]) == (None, None, None)
    assert all(analysis["apart"] for analysis in api.get(f"{path}/results?all=true", expect=200).json())


def test_without_runs_the_results_that_were_posted_are_shown(api, make, report):
    repo = f"acme-{uuid.uuid4().hex[:8]}/ranker"
    made = make(ab_test_config=PLAN, launch_context={"target_repo": repo})
    rows = [{"arm": arm, "metrics": {"recall": number}} for number in range(3) for arm in ARMS]
    posted = api.post(f"/experiments/{made['id']}/results", {"rows": rows}, expect=201).json()
    report(repo, 1, experiment_id=made["id"], arm="treatment", metrics={"recall": 1})
    newest(api, made, 1)
    api.delete(f"/fleet/runs/1?repo={repo}", expect=200)
    path = f"/experiments/{made['id']}/results"
    wait_for(lambda: api.get(path, expect=200).json()["analysis_id"] == posted["analysis_id"], "those of rows are shown")
    assert api.get(f"/experiments/{made['id']}", expect=200).json()["observed_delta"] == posted["observed_delta"]


def test_a_run_that_names_another_experiment_leaves_the_first(api, make, report, measured):
    first, repo = measured
    second = make(ab_test_config=PLAN, launch_context={"target_repo": repo})
    report(repo, 3, expect=200, experiment_id=second["id"], arm="treatment", metrics={"recall": 9})
    newest(api, first, 1)
    newest(api, second, 1)


def test_runs_follow_a_repository_that_is_renamed(cluster, api, report, measured):
    """One that reports again after it is the same."""
    made, former = measured
    now = f"{former}-2"
    owner, name = now.split("/")
    repository = {"id": secrets.randbelow(1 << 40) + 1, "full_name": now, "name": name, "owner": {"login": owner}}
    changes = {"repository": {"name": {"from": former.split("/")[1]}}}
    Hook(cluster).deliver("repository", {"action": "renamed", "repository": repository, "changes": changes})
    shown = lambda: api.get(f"/experiments/{made['id']}", expect=200).json()["launch_context"]["target_repo"]  # noqa: E731
    wait_for(lambda: shown() == now, "the experiment is of the new name")
    runs = lambda: api.get(f"/fleet/runs?repo={now}", expect=200).json()  # noqa: E731
    wait_for(lambda: [run["repo"] for run in runs()] == [now] * 4, "its runs are")
    report(now, 3, expect=200, experiment_id=made["id"], arm="treatment", metrics={"recall": 9})
    analysis = wait_for(lambda: next((a for a in [newest(api, made, 2)] if a["metrics"][0]["arms"][1]["mean"] == 5), None))
    assert [arm["n"] for arm in analysis["metrics"][0]["arms"]] == [2, 2]


def test_a_run_that_was_kept_under_both_names_is_the_later_one(db, api, make):
    """What is told under the new name can be read before the rename."""
    owner = f"acme-{uuid.uuid4().hex[:8]}"
    former, now = f"{owner}/ranker", f"{owner}/ranker.2"
    made = make(ab_test_config=PLAN, launch_context={"target_repo": former})
    for repo, number, value in ((former, 1, 1), (former, 2, 1), (now, 1, 2), (former, 3, 1), (now, 4, 2), (former, 4, 3), (f"{owner}/ranker-2", 1, 5)):
        experiments_tables.keep_measured_run(db, made["id"], f"{repo} {number}", value)
    experiments_tables.move_linked_runs(db, former, now)
    kept = {f"{now} 1": 2, f"{now} 2": 1, f"{now} 3": 1, f"{now} 4": 3, f"{owner}/ranker-2 1": 5}
    assert experiments_tables.measured_runs(db, made["id"]) == kept
    newest(api, made, 5)


def test_each_arm_keeps_as_many_runs_as_another(db, api, make, report):
    """However late its runs came. Those of an arm that the plan does not have go first."""
    repo = f"acme-{uuid.uuid4().hex[:8]}/ranker"
    made = make(ab_test_config=PLAN, launch_context={"target_repo": repo})
    for arm, count in (("control", 400), ("third", 10), ("treatment", 900)):
        experiments_tables.add_linked_runs(db, made["id"], arm, count, {"recall": 0.5})
    report(repo, 1, experiment_id=made["id"], arm="control", metrics={"recall": 0.5})
    analysis = newest(api, made, 599)
    assert ([arm["n"] for arm in analysis["metrics"][0]["arms"]], analysis["left_out_runs"]) == ([401, 599], 0)


def test_more_planned_runs_than_are_kept_are_no_test(api, make, report):
    repo = f"acme-{uuid.uuid4().hex[:8]}/ranker"
    made = make(ab_test_config={**PLAN, "planned_n": 501}, launch_context={"target_repo": repo})
    for number in range(6):
        report(repo, number, experiment_id=made["id"], arm=ARMS[number % 2], metrics={"recall": number})
    assert newest(api, made, 3)["text"] == "There is no valid test: more runs are planned than are kept."


def test_an_agent_writes_into_no_experiment_of_another_repository(api, make, report):
    own, other = (f"acme-{uuid.uuid4().hex[:8]}/ranker" for _ in range(2))
    theirs, mine = make(ab_test_config=PLAN, launch_context={"target_repo": other}), make(ab_test_config=PLAN, launch_context={"target_repo": own})
    for made in (theirs, mine):
        for arm in ARMS:
            report(own, f"{made['id']} {arm}", experiment_id=made["id"], arm=arm, metrics={"recall": 0.5})
    newest(api, mine, 1)  # events of an account are in order
    api.get(f"/experiments/{theirs['id']}/results", expect=404)


def test_a_run_locks_its_experiment_before_it_is_kept(cluster, user, make, db):
    """Two runs that come at once, of evaluations and of agents, could otherwise wait for each other in a circle."""
    made = make()["id"]
    with cluster.postgres.connect("experiments") as holder, cluster.postgres.connect("experiments") as told, ThreadPoolExecutor(1) as pool:
        experiments_tables.refer_to_experiment(holder, made)
        kept = pool.submit(experiments_tables.link_run, told, user.account, made, str(uuid.uuid4()))
        wait_for(lambda: common.blocked_by(db, holder), "the run waits")
        experiments_tables.lock_experiment_now(holder, made)
        holder.rollback()
        kept.result()

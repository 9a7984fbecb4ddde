"""The way of an experiment from its paper to its decision, and what became of a paper: put together from all services."""

import secrets
import uuid
from datetime import datetime, timedelta, timezone

import pytest

from lib.http.api_def import account_scopes
from lib.scenario.evidence import Graph, Steps, digest_of, new_paper
from lib.tables import fleet as fleet_tables
from lib.wait import wait_for


def test_the_way_from_a_paper_to_a_decision_is_one_connected_graph(steps, paper):
    interest = steps.interest()
    recommendation = steps.recommend(paper, interest)
    steps.api.post(f"/papers/recommended/{recommendation}/feedback", {"signal": "save"}, expect=200)
    other = new_paper()
    rejected = [{"arxiv_id": other, "reason": "License is GPL"}, {"arxiv_id": paper, "reason": "chosen after all"}, {"arxiv_id": "none", "reason": "x"}]
    url = steps.open(7, f"{paper}v2", recommendation_id=recommendation, broad_pool_size=40, selection_rejected=rejected, cost_usd=1.5,
                     selection_reasoning_excerpt="The smallest change.", test_status="passed")  # fmt: skip
    steps.settle(7, "merged", days=2)
    steps.report(8, arxiv_id=other, selection_rejected=[{"arxiv_id": paper, "reason": "needs a GPU", "gate": "feasibility", "score": 0.4}])
    run = str(uuid.uuid4())
    experiment = steps.experiment(paper, pr_url=url, ab_test_results={"eval_runs": [{"run_id": run, "status": "succeeded", "metrics": {"ndcg": 0.4}}]})
    steps.decide(experiment)
    graph = steps.evidence(experiment)

    assert graph.is_connected() and graph.missing == [] and not graph.answer["truncated"] and graph.answer["hidden"] == 0
    about = graph.nodes[f"paper:{paper}"]
    assert about["data"]["title"] == f"Paper {paper}" and graph.nodes[f"paper:{other}"]["data"]["title"] is None
    tried = next(node for node in graph.of("run") if node["data"]["run_id"] == 7)
    skipped = next(node for node in graph.of("run") if node["data"]["run_id"] == 8)
    selection, passing = f"selection:{tried['id']}", f"selection:{skipped['id']}"
    assert {
        (experiment, "about", about["id"]), (recommendation, "about", about["id"]), (tried["id"], "about", about["id"]),
        (selection, "part_of", tried["id"]), (selection, "selected", recommendation), (tried["id"], "opened", url),
        (run, "part_of", experiment),
    } <= set(graph.edges)  # fmt: skip
    considered = {key: edge["data"] for key, edge in graph.edges.items() if key[1] == "considered"}
    assert considered == {
        (selection, "considered", about["id"]): {"accepted": True, "gate": None, "reason": None, "score": None},
        (selection, "considered", f"paper:{other}"): {"accepted": False, "gate": "license", "reason": "License is GPL", "score": None},
        (passing, "considered", about["id"]): {"accepted": False, "gate": "feasibility", "reason": "needs a GPU", "score": 0.4},
        (passing, "considered", f"paper:{other}"): {"accepted": True, "gate": None, "reason": None, "score": None},
    }
    assert graph.nodes[recommendation]["data"]["signals"][0]["signal"] == "save"
    assert graph.nodes[url]["data"]["stage"] == "merged" and graph.nodes[run]["data"]["metrics"] == {"ndcg": 0.4}
    analysis, decision = graph.one("analysis"), graph.one("decision")
    assert (analysis["id"], "supports", decision["id"]) in graph.edges and (decision["id"], "decides", experiment) in graph.edges
    assert decision["data"]["outcome"] == "ship" and analysis["data"]["comparison"]["effect"] == pytest.approx(0.1)
    assert (graph.summary["runs"], graph.summary["runs_with_cost"], graph.summary["cost_usd"], graph.summary["rejected"]) == (1, 1, 1.5, 1)
    assert (graph.summary["verdict"], graph.summary["evaluations"]) == ("worked", 1) and graph.summary["merged_at"] and graph.summary["decided_at"]
    assert graph.summary["sentences"][1].startswith("Tried by 1 run, 1 of which is known to have cost 1.50 USD; passed over 1 time; merged on ")
    assert graph.summary["sentences"][2].endswith(": ship.")


def test_the_summary_says_what_is_unknown_and_what_was_reverted(steps, paper):
    url = steps.open(1, paper)
    steps.settle(1, "merged", days=3)
    steps.revert(1, by=2, days=2)
    summary = steps.evidence(steps.experiment(paper, pr_url=url)).summary
    merged, reverted = summary["merged_at"][:10], summary["reverted_at"][:10]
    assert summary["sentences"][1] == f"Tried by 1 run of unknown cost; merged on {merged}; reverted on {reverted}."
    assert (summary["verdict"], summary["cost_usd"]) == ("failed", None)


def test_an_experiment_that_was_typed_by_hand_has_a_way_of_its_own(steps):
    experiment = steps.api.post("/experiments", {"name": "typed", "outcome": "abandon", "pr_url": "https://example.com/1"}, expect=201).json()["id"]
    graph = steps.evidence(experiment)
    assert {node["kind"] for node in graph.nodes.values()} == {"experiment", "decision", "pull_request"} and graph.is_connected()
    assert graph.summary["verdict"] == "failed" and graph.summary["runs"] == 0 and graph.summary["cost_usd"] is None
    assert graph.summary["sentences"][:2] == ["None of its papers was recommended.", "No run tried it."]
    bare = steps.evidence(steps.api.post("/experiments", {"name": "bare"}, expect=201).json()["id"])
    assert [node["kind"] for node in bare.nodes.values()] == ["experiment"] and bare.summary["verdict"] == "untried"
    assert bare.summary["sentences"][2] == "Not decided yet."


def test_a_run_names_a_recommendation_that_was_deleted(steps, paper):
    gone = str(uuid.uuid4())
    steps.report(1, arxiv_id=paper, recommendation_id=gone, broad_pool_size=3)
    graph = steps.evidence(steps.experiment(paper))
    assert graph.nodes[gone]["data"] == {"deleted": True} and graph.is_connected()


def test_a_paper_shows_what_became_of_it(steps, paper, user):
    recommendation = steps.recommend(paper)
    kept, closed, own = (steps.open(number, paper, cost_usd=0.5) for number in (1, 2, 3))
    steps.open(4, paper)
    for number, state, days in ((1, "merged", 40), (2, "closed", 1), (3, "merged", 40)):
        steps.settle(number, state, days)
    steps.report(5, selection_rejected=[{"arxiv_id": paper, "reason": "already proposed in #1"}])
    dropped = steps.experiment(paper, pr_url=own, status="abandoned", ab_test_results={"eval_runs": [{"run_id": str(uuid.uuid4()), "status": "failed"}]})
    outcomes = steps.outcomes(f"{paper}v3")
    assert (outcomes["arxiv_id"], outcomes["title"], outcomes["verdict"], outcomes["missing"]) == (paper, f"Paper {paper}", "mixed", [])
    assert [row["recommendation_id"] for row in outcomes["recommended"]] == [recommendation]
    assert [row["run_id"] for row in outcomes["runs"]] == [4, 3, 2, 1]
    assert [(row["run_id"], row["repo"], row["gate"]) for row in outcomes["rejected"]] == [(5, steps.repo, "duplicate")]
    verdicts = {row["url"].rsplit("/", 1)[1]: row["verdict"] for row in outcomes["pull_requests"]}
    assert verdicts == {"1": "worked", "2": "failed", "3": None, "4": "pending"}
    assert [(row["experiment_id"], row["verdict"]) for row in outcomes["experiments"]] == [(dropped, "failed")]
    assert (outcomes["evaluations"], outcomes["cost_usd"], outcomes["runs_with_cost"]) == ({"runs": 1, "failed": 1}, 1.5, 3)
    assert kept and closed


def test_what_the_code_host_told_of_its_pull_request_counts_for_an_experiment(steps, paper):
    """Also of one that no run opened, in a repository of the account's; a decision counts before."""
    opened, somebodys = steps.open(1, paper), f"https://github.com/{steps.repo}/pull/2/files"
    by_run, by_hand = steps.experiment(paper, pr_url=opened), steps.experiment(paper, pr_url=somebodys, pr_status="open")

    def verdicts(experiment):
        graph = steps.evidence(experiment)
        (of_paper,) = (row["verdict"] for row in steps.outcomes(paper)["experiments"] if row["experiment_id"] == experiment)
        assert graph.summary["verdict"] == of_paper == graph.nodes[experiment]["data"]["verdict"]
        return graph, of_paper

    assert verdicts(by_run)[1] == verdicts(by_hand)[1] == "pending"
    assert steps.evidence(by_run).nodes[opened]["data"]["stage_by"] == "run"
    assert steps.evidence(by_hand).nodes[somebodys]["data"]["stage_by"] == "experiment"
    for number in (1, 2):
        steps.settle(number, "merged", days=40)
    graph, verdict = verdicts(by_hand)
    node = graph.nodes[somebodys]["data"]
    assert verdict == verdicts(by_run)[1] == "worked" and graph.is_connected() and (by_hand, "opened", somebodys) in graph.edges
    assert (node["stage"], node["stage_by"], node["number"], node["repo"]) == ("merged", "code_host", 2, steps.repo)
    assert graph.summary["merged_at"] and node["closed_at"]
    steps.revert(2, by=3, days=1)
    graph, verdict = verdicts(by_hand)
    assert verdict == "failed" and (somebodys, "reverted_by", f"https://github.com/{steps.repo}/pull/3") in graph.edges
    steps.api.put(f"/experiments/{by_hand}", {"outcome": "ship"}, expect=200)
    assert verdicts(by_hand)[1] == "worked" == verdicts(by_run)[1]


def test_a_pull_request_in_a_repository_of_others_tells_nothing(cluster, steps, other_user, paper):
    url = f"https://github.com/{steps.repo}/pull/2"
    experiment = steps.experiment(paper, pr_url=url)
    Steps(cluster, other_user, None).settle_in(steps.repo, 2, "merged", days=40)
    graph = steps.evidence(experiment)
    assert graph.nodes[url]["data"]["stage"] is None and graph.summary["verdict"] == "pending" and graph.summary["merged_at"] is None


def test_a_paper_that_nobody_knows(steps, paper):
    outcomes = steps.outcomes(paper)
    assert (outcomes["verdict"], outcomes["runs"], outcomes["experiments"], outcomes["cost_usd"]) == ("untried", [], [], None)
    for unknown in (new_paper(), "nonsense"):
        steps.api.problem("GET", f"/search/assets/{unknown}/outcomes", 404, "not_found")
    steps.api.problem("GET", f"/experiments/{uuid.uuid4()}/evidence", 404, "not_found")


def test_each_service_that_is_down_is_missing_and_the_rest_is_shown(disturbed, steps, paper):
    recommendation = steps.recommend(paper)
    url = steps.open(1, paper)
    experiment = steps.experiment(paper, pr_url=url, ab_test_results={"eval_runs": [{"run_id": str(uuid.uuid4()), "status": "succeeded"}]})
    parts = {"svc-interests": ("recommendations", recommendation), "svc-fleet": ("fleet", None), "svc-evalenv": ("evaluations", None),
             "svc-search": ("papers", None)}  # fmt: skip
    for service, (part, node) in parts.items():
        expected = [{"part": part, "why": "unavailable"}]
        try:
            disturbed.stop(service)
            graph = wait_for(lambda: steps.evidence_if(experiment, expected), f"only {service} is away")  # noqa: B023
            of_paper = [] if part == "evaluations" else expected
            wait_for(lambda: steps.outcomes(paper)["missing"] == of_paper, f"a paper lacks {of_paper}")  # noqa: B023
        finally:
            disturbed.recover()
        assert (node in graph.nodes) is False
        assert {experiment, url, f"paper:{paper}"} <= set(graph.nodes) and len(graph.of("eval_run")) == 1
        assert (graph.summary["runs"] is None) is (part == "fleet")
        assert (graph.nodes[f"paper:{paper}"]["data"]["title"] is None) is (part == "papers")
    wait_for(lambda: steps.evidence_if(experiment, []), "everybody is back")


def test_a_paper_is_not_said_to_be_untried_while_a_part_is_missing(disturbed, steps, paper):
    recommended = steps.recommend(paper)
    missing = [{"part": "fleet", "why": "unavailable"}]
    try:
        disturbed.stop("svc-fleet")
        outcomes = wait_for(lambda: (answer := steps.outcomes(paper))["missing"] == missing and answer, "svc-fleet is away")
        assert outcomes["verdict"] is None and [row["recommendation_id"] for row in outcomes["recommended"]] == [recommended]
        steps.experiment(paper, outcome="ship")
        assert steps.outcomes(paper)["verdict"] == "worked"
    finally:
        disturbed.recover()


def test_a_service_that_hangs_is_waited_for_two_seconds(disturbed, steps, paper):
    experiment = steps.experiment(paper)
    (fleet,) = disturbed["svc-fleet"]

    def is_waited_for():
        wait_for(lambda: steps.evidence_if(experiment, []), "everybody is there")
        try:
            fleet.pause()
            return steps.evidence_if(experiment, [{"part": "fleet", "why": "timeout"}])
        finally:
            fleet.resume()

    wait_for(is_waited_for, "a worker waits for the service")


def test_parts_need_their_scopes(steps, paper):
    steps.recommend(paper)
    steps.open(1, paper)
    experiment = steps.experiment(paper, ab_test_results={"eval_runs": [{"run_id": str(uuid.uuid4()), "status": "succeeded"}]})
    reader = steps.key(["experiments:read", "search:read"])
    graph = steps.evidence(experiment, reader)
    assert {(row["part"], row["why"]) for row in graph.missing} == {(part, "scope") for part in ("recommendations", "fleet", "evaluations")}
    assert not graph.of("run") and not graph.of("recommendation")
    searcher = steps.key(["search:read"])
    outcomes = steps.outcomes(paper, searcher)
    assert {row["part"] for row in outcomes["missing"]} == {"recommendations", "fleet", "experiments"}
    assert (outcomes["experiments"], outcomes["verdict"]) == ([], None)
    searcher.problem("GET", f"/experiments/{experiment}/evidence", 403, "insufficient_scope")


def test_a_limited_key_gets_what_is_of_its_repository_or_interest(steps, paper):
    project = steps.api.post("/projects", {"name": f"P {secrets.token_hex(4)}"}, expect=201).json()["id"]
    own, other = steps.interest(project_id=project), steps.interest()
    shown, kept = (steps.recommend(paper, interest) for interest in (own, other))
    steps.open(1, paper)
    steps.report(2, repo=f"{steps.repo}-other", arxiv_id=paper)
    steps.report(3, repo=f"{steps.repo}-other", selection_rejected=[{"arxiv_id": paper, "reason": "too broad"}])
    of_repo, elsewhere = steps.experiment(paper), steps.experiment(paper, launch_context={"resource": {"arxiv_id": paper}, "target_repo": "acme/x"})
    of_project = steps.experiment(paper, project_id=project, launch_context={"resource": {"arxiv_id": paper}})
    scopes = [scope for scope in account_scopes() if scope.endswith(":read") and scope != "account:read"]

    repo_key = steps.key(scopes, repo=steps.repo)
    graph = steps.evidence(of_repo, repo_key)
    assert [node["data"]["run_id"] for node in graph.of("run")] == [1] and graph.answer["hidden"] == 2
    assert graph.missing == [{"part": "recommendations", "why": "key_limit"}] and graph.summary["rejected"] == 0
    outcomes = steps.outcomes(paper, repo_key)
    assert [row["experiment_id"] for row in outcomes["experiments"]] == [of_repo] and outcomes["hidden"] == 4
    assert outcomes["rejected"] == [] and [row["run_id"] for row in outcomes["runs"]] == [1]
    assert repo_key.get(f"/experiments/{elsewhere}/evidence", checked=False).status_code in (403, 404)
    outcomes = steps.outcomes(paper, steps.key(scopes, repo=f"{steps.repo}-third"))
    assert outcomes["runs"] == outcomes["experiments"] == [] and outcomes["hidden"] > 0
    assert outcomes["verdict"] is None, "somebody may have tried it where the key may not look"

    interest_key = steps.key(scopes, interest_id=own)
    graph = steps.evidence(of_project, interest_key)
    assert [node["id"] for node in graph.of("recommendation")] == [shown] and graph.answer["hidden"] == 1 and kept
    assert graph.missing == [{"part": "fleet", "why": "key_limit"}]
    bare = steps.key(scopes, interest_id=steps.interest(project_id=project))
    assert steps.evidence(of_project, bare).summary["sentences"][0] == "Whether its papers were recommended is not shown."
    assert interest_key.get(f"/experiments/{of_repo}/evidence", checked=False).status_code == 404


def test_what_a_run_opened_for_a_recommendation_is_of_its_paper(steps, paper):
    """The run names no paper: svc-interests knows which one it was."""
    url = f"https://github.com/{steps.repo}/pull/9"
    steps.report(9, status="pr_opened", artifact_url=url, recommendation_id=steps.recommend(paper))
    outcomes = wait_for(lambda: (answer := steps.outcomes(paper))["pull_requests"] and answer, "svc-interests knows what was opened")
    assert [row["url"] for row in outcomes["pull_requests"]] == [url]
    assert (outcomes["verdict"], outcomes["missing"], outcomes["truncated"]) == ("pending", [], False)


def test_accounts_see_nothing_of_each_other(cluster, steps, other_user, paper):
    theirs = Steps(cluster, other_user, [paper])
    theirs.recommend(paper)
    theirs.open(1, paper, recommendation_id=str(uuid.uuid4()))
    theirs.report(2, selection_rejected=[{"arxiv_id": paper, "reason": "too broad"}])
    experiment = theirs.experiment(paper)
    steps.api.problem("GET", f"/experiments/{experiment}/evidence", 404, "not_found")
    outcomes = steps.outcomes(paper)
    assert all(outcomes[name] == [] for name in ("recommended", "rejected", "runs", "pull_requests", "experiments")) and outcomes["hidden"] == 0
    mine = steps.evidence(steps.experiment(paper, launch_context={"resource": {"arxiv_id": paper}, "target_repo": theirs.repo}))
    assert {node["kind"] for node in mine.nodes.values()} == {"experiment", "paper"}


def test_a_report_that_comes_again_replaces_what_was_passed_over(steps, paper):
    other = new_paper()
    experiment, on_other = steps.experiment(paper), steps.experiment(other)
    agent = steps.agent(steps.repo)
    report = {"run_id": 1, "repo": steps.repo, "status": "skipped_old"}
    agent.post("/fleet/runs", {**report, "started_at": "2026-01-31T09:30:00Z", "selection_rejected": [{"arxiv_id": paper, "reason": "too broad"}]})
    assert steps.evidence(experiment).summary["rejected"] == 1
    end = {"started_at": "2026-01-31T09:30:00Z", "finished_at": "2026-01-31T10:30:00Z", "arxiv_id": paper}
    agent.post("/fleet/runs", {**report, **end, "selection_rejected": [{"arxiv_id": other, "reason": "too broad"}]}, expect=200)
    graph = steps.evidence(experiment)
    assert (graph.summary["rejected"], graph.summary["runs"], steps.evidence(on_other).summary["rejected"]) == (0, 1, 1)
    steps.api.delete(f"/fleet/runs/1?repo={steps.repo}", expect=200)
    assert steps.evidence(on_other).summary["rejected"] == 0 and steps.evidence(experiment).summary["runs"] == 0


def test_the_oldest_runs_are_left_out_first_and_every_run_counts(cluster, steps, paper):
    moment = datetime(2026, 1, 1, tzinfo=timezone.utc)
    with cluster.postgres.connect("fleet") as db:
        fleet_tables.store_together(db, [
            {"account": steps.user.account, "repo": steps.repo, "run_id": number, "report": {
                "status": "skipped_old", "arxiv_id": paper, "cost_usd": 0.01, "started_at": (moment + timedelta(minutes=number)).isoformat()}}
            for number in range(1, 201)])  # fmt: skip
    graph = steps.evidence(steps.experiment(paper))
    shown = {node["data"]["run_id"] for node in graph.of("run")}
    assert graph.answer["truncated"] and 100 < len(shown) < 200 and min(shown) == 201 - len(shown)
    assert (graph.summary["runs"], graph.summary["runs_with_cost"], round(graph.summary["cost_usd"], 2)) == (200, 200, 2.0)


def test_experiments_are_found_by_the_papers_that_they_name_now(steps, paper, operator):
    other = new_paper()
    operator.api.put(f"/search/assets/{other}", {"title": "Other"}, expect=200)
    experiment = steps.experiment(paper, source_type="arxiv_paper", source_ref=f"https://arxiv.org/abs/{paper}v1")

    def found(paper):
        return [row["experiment_id"] for row in steps.outcomes(paper)["experiments"]]

    steps.api.put(f"/experiments/{experiment}", {"linked_resources": [{"type": "arxiv_paper", "id": other}]}, expect=200)
    assert (found(paper), found(other)) == ([experiment], [experiment])
    steps.api.put(f"/experiments/{experiment}", {"linked_resources": []}, expect=200)
    assert (found(paper), found(other)) == ([experiment], [])
    steps.api.delete(f"/experiments/{experiment}", expect=200)
    assert found(paper) == []


def test_a_deleted_account_leaves_nothing(cluster, operator, paper):
    gone = Steps(cluster, cluster.user(), [paper])
    gone.open(1, paper, selection_rejected=[{"arxiv_id": new_paper(), "reason": "too broad"}])
    gone.experiment(paper)
    gone.api.post("/account/delete", {"confirm": True}, expect=200)
    with cluster.postgres.connect("fleet") as db:
        wait_for(lambda: fleet_tables.candidates_of(db, gone.user.account) == [], "nothing is left")


def test_equal_graphs_have_equal_digests_and_a_changed_record_has_another(steps, paper):
    url = steps.open(1, paper, cost_usd=0.5)
    experiment = steps.experiment(paper, pr_url=url)
    first, again = steps.evidence(experiment).answer, steps.evidence(experiment).answer
    assert first["digest"] == again["digest"] == digest_of(first) and first["snapshot"] is None
    assert [node["id"] for node in first["nodes"]] == [node["id"] for node in again["nodes"]]
    steps.api.put(f"/experiments/{experiment}", {"hypothesis": "Größer \u2028 ist 1e-7 besser"}, expect=200)
    changed = steps.evidence(experiment).answer
    assert changed["digest"] == digest_of(changed) != first["digest"]


def test_an_answer_has_at_most_256_kibibytes(steps, paper):
    moment = datetime(2026, 1, 1, tzinfo=timezone.utc)
    reason = "☃" * 2000
    for number in range(1, 81):
        steps.report(number, arxiv_id=paper, started_at=(moment + timedelta(minutes=number)).isoformat(), selection_reasoning_excerpt=reason,
                     selection_rejected=[{"arxiv_id": f"2401.{number:05}", "reason": reason}])  # fmt: skip
    experiment = steps.experiment(paper, status="shipped")
    answer = steps.api.get(f"/experiments/{experiment}/evidence", expect=200)
    graph = Graph(answer.json())
    shown = {node["data"]["run_id"] for node in graph.of("run")}
    assert len(answer.content) <= 256 << 10 and graph.answer["truncated"] and graph.summary["runs"] == 80
    assert shown and max(shown) == 80 and min(shown) == 81 - len(shown) > 1 and len(graph.of("selection")) == len(shown)
    assert len(graph.of("paper")) == 1 + len(shown) and graph.one("decision") and graph.is_connected()

"""GET /fleet/agents/report: figures, timelines and deliverables, computed a second time from the same month."""

import uuid
from datetime import datetime, timezone
from functools import cache

import pytest
from lib.scenario.fleet import PERIOD, Month


@pytest.fixture
def keys(agent):
    """keys(repo): the client of the agent on a repository, made once."""
    return cache(agent)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_month_in_any_order(api, keys, tell, seed):
    month = Month(seed)
    for what in month.shuffled(month.reports + month.closings):
        if len(what) == 2:
            keys(what[0]).post("/fleet/runs", what[1])
        else:
            tell(*what)
    report = api.get(f"/fleet/agents/report?{PERIOD}", expect=200).json()
    assert report["kpis"] == pytest.approx(month.kpis())
    assert {agent["repo"]: [(step["since"], step["runs"], step["pull_requests"], step["merged"], step["failed"],
                             None if step["cost_usd"] is None else round(step["cost_usd"] * 100))
                            for step in agent["timeline"]] for agent in report["agents"]} == month.timelines()
    assert {item["url"]: (item["kind"], item["stage"]) for item in report["deliverables"]} == month.deliverables()


@pytest.mark.parametrize("since, step", [("2026-01-20", "2026-01-27"), ("2025-12-20", "2026-01-26"), ("2025-03-10", "2026-01-01")])
def test_what_merged_after_its_period_is_in_the_timeline(api, keys, tell, since, step):
    """Opened before the period and merged in it, by a repository that does not run any more: by day, week and month."""
    repo = f"acme/{uuid.uuid4().hex}"  # the code host tells of a pull request once for all accounts
    keys(repo).post("/fleet/runs", {
        "run_id": 1, "repo": repo, "status": "pr_opened", "started_at": "2025-03-01T10:00:00Z", "finished_at": "2025-03-01T11:00:00Z",
        "artifact_url": f"https://github.com/{repo}/pull/7"}, expect=201)
    tell(repo, 7, "merged", datetime(2025, 3, 1, 11, tzinfo=timezone.utc), datetime(2026, 1, 27, 23, 59, tzinfo=timezone.utc))
    report = api.get(f"/fleet/agents/report?since={since}&until=2026-01-31", expect=200).json()
    assert report["kpis"]["pull_requests_merged"] == 1 and report["deliverables"] == []
    assert [(agent["repo"], agent["runs"], agent["timeline"]) for agent in report["agents"]] == [(repo, 0, [
        {"since": step, "runs": 0, "pull_requests": 0, "merged": 1, "failed": 0, "cost_usd": None}])]


def test_without_runs(api):
    report = api.get("/fleet/agents/report", expect=200).json()
    assert report["headline"] == "no runs in this period"
    assert report["kpis"]["runs"] == 0 and report["kpis"]["cost_usd"] is None and report["kpis"]["merge_rate"] is None
    assert [report[name] for name in ("agents", "findings", "deliverables", "chronology")] == [[], [], [], []]


def test_the_headline_counts_repositories_with_runs(api, report, install):
    install("acme/idle")
    report(1, status="skipped_old", started_at="2026-01-10T09:00:00Z")
    shown = api.get(f"/fleet/agents/report?{PERIOD}", expect=200).json()
    assert shown["headline"].startswith("1 run on 1 repository: ") and len(shown["agents"]) == 2


def test_a_line_of_the_chronology_is_one(api, report):
    report("x\ny", status="pr_opened", agent="agent_one", started_at="2026-01-10T09:00:00Z")
    (event,) = api.get(f"/fleet/agents/report?{PERIOD}", expect=200).json()["chronology"]
    assert event["text"] == "run x y of agent_one opened a pull request" and event["run_id"] == "x\ny"


def test_the_period(api, report):
    report(1, status="pr_opened", started_at="2026-01-10T23:59:59.999Z")
    for query, runs in [("since=2026-01-10&until=2026-01-10", 1), ("since=2026-01-11&until=2026-01-11", 0),
                        ("since=2026-01-09&until=2026-01-09", 0), ("until=2026-02-08", 1), ("until=2026-02-09", 0),
                        ("until=1970-01-01", 0)]:
        assert api.get(f"/fleet/agents/report?{query}", expect=200).json()["kpis"]["runs"] == runs, query
    problem = api.problem("GET", "/fleet/agents/report?since=2026-01-02&until=2026-01-01", 400, "invalid_request")
    assert [fault["field"] for fault in problem["errors"]] == ["since"]


def test_repos_only_narrow(api, agent, other_user):
    for repo, of in [("acme/a", api), ("acme/b", api), ("acme/c", other_user.api)]:
        agent(repo, of=of).post("/fleet/runs", {"run_id": 1, "repo": repo, "status": "pr_opened"}, expect=201)

    def repos(query, of=api):
        return {one["repo"] for one in of.get(f"/fleet/agents/report{query}", expect=200).json()["agents"]}

    assert repos("") == {"acme/a", "acme/b"}
    assert repos("?repos=Acme/A") == {"acme/a"}
    assert repos("?repos=acme/a,acme/c") == {"acme/a"}
    assert repos("?repos=acme/a&repos=acme/b") == {"acme/a", "acme/b"}
    assert repos("?repos=acme/c") == set()
    assert repos("", agent("acme/b")) == {"acme/b"}
    assert repos("?repos=acme/a", agent("acme/b")) == set()


def test_figures_have_queries_that_list_their_runs(api, keys, tell):
    month = Month(4, repos=3)
    for repo, sent in month.reports:
        keys(repo).post("/fleet/runs", sent)
    for closing in month.closings:
        tell(*closing)
    report = api.get(f"/fleet/agents/report?{PERIOD}", expect=200).json()
    assert report["kpi_sources"].keys() == report["kpis"].keys()
    for name in ("runs", "pull_requests_opened", "pull_requests_merged", "issues_opened"):
        listed = api.get(report["kpi_sources"][name], expect=200)
        assert int(listed.headers["X-Total-Count"]) == report["kpis"][name], name


@pytest.mark.parametrize("chosen", [1, 2])
def test_figures_of_some_repositories_have_queries_of_these(api, keys, tell, chosen):
    month = Month(5, repos=4)
    for repo, sent in month.reports:
        keys(repo).post("/fleet/runs", sent)
    for closing in month.closings:
        tell(*closing)
    report = api.get(f"/fleet/agents/report?{PERIOD}&repos={','.join(month.repos[:chosen])}", expect=200).json()
    for name in ("runs", "pull_requests_opened", "pull_requests_merged", "issues_opened"):
        listed = api.get(report["kpi_sources"][name], expect=200)
        assert int(listed.headers["X-Total-Count"]) == report["kpis"][name], name
        assert {run["repo"] for run in listed.json()} <= set(month.repos[:chosen])
    assert report["kpis"]["runs"] < len(month.final)


def test_figures_of_foreign_repositories_have_queries_of_none(api, report):
    report(1, status="pr_opened", started_at="2026-01-10T09:00:00Z")
    sources = api.get(f"/fleet/agents/report?{PERIOD}&repos=acme/foreign", expect=200).json()["kpi_sources"]
    assert api.get(sources["runs"], expect=200).json() == []


def test_repeated_failures_are_found(api, report):
    for run_id in range(12):
        report(run_id, status="failed", error=f"tests fail after {run_id} s", started_at="2026-01-10T09:00:00Z")
    found = api.get(f"/fleet/agents/report?{PERIOD}", expect=200).json()["findings"]
    failure = next(one for one in found if one["kind"] == "repeated_failure")
    assert failure["severity"] == "critical" and failure["text"].endswith("tests fail after # s")
    assert len(failure["evidence"]["run_ids"]) == 5
    assert api.get(failure["evidence"]["query"], expect=200).headers["X-Total-Count"] == "12"


def test_a_merge_is_not_shown_to_who_only_names_the_repository(api, agent, tell, other_user):
    url = "https://github.com/acme/ranker/pull/3"
    body = {"run_id": 1, "repo": "acme/ranker", "status": "pr_opened", "artifact_url": url,
            "finished_at": "2026-01-10T09:00:00Z"}
    opened, merged = "2026-01-10T09:00:00Z", "2026-01-11T09:00:00Z"
    agent().post("/fleet/runs", body, expect=201)
    agent(of=other_user.api).post("/fleet/runs", body, expect=201)
    tell("acme/ranker", 3, "merged", opened, merged)
    for client, stage in [(api, "merged"), (other_user.api, "open")]:
        report = client.get(f"/fleet/agents/report?{PERIOD}", expect=200).json()
        assert [item["stage"] for item in report["deliverables"]] == [stage]
        assert report["kpis"]["pull_requests_merged"] == (stage == "merged")


def test_reasons_for_which_papers_are_passed_over_often(api, agent, tell):
    """Of the papers that a run passed over 500 count."""
    repo, pull = "acme/picky", "https://github.com/acme/picky/pull/5"
    passed = [{"arxiv_id": f"2201.{number:05}", "reason": " Too Broad "} for number in range(600)]
    key = agent(repo)
    key.post("/fleet/runs", {"run_id": 1, "repo": repo, "status": "skipped_no_candidates", "selection_rejected": passed}, expect=201)
    key.post("/fleet/runs", {"run_id": 2, "repo": repo, "status": "skipped_no_candidates", "selection_rejected": passed[:3]}, expect=201)
    key.post("/fleet/runs", {"run_id": 3, "repo": repo, "status": "pr_opened", "arxiv_id": "2201.00007v2", "artifact_url": pull}, expect=201)
    tell(repo, 5, "merged", None, None)
    findings = [each for each in api.get("/fleet/agents/report", expect=200).json()["findings"] if each["kind"] == "repeated_rejection"]
    assert [each["text"] for each in findings] == [
        "candidates were rejected 503 times because: too broad; 1 of these papers became a merged pull request"]

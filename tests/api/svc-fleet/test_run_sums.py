"""What a report can do to figures, and DELETE /fleet/runs/{run_id}, which takes a run back out of them."""

import random
from datetime import datetime, timedelta, timezone
from urllib.parse import quote

import pytest
from lib.check.fleet_sums import agent_sums, day_sums, repo_sums
from lib.scenario.fleet import REPO
from lib.tables import common
from lib.tables import fleet as fleet_tables

PERIOD = "since=2026-01-01&until=2026-01-31"
DAY = "2026-01-10T09:00:00Z"


def kpis(api, **wanted):
    found = api.get(f"/fleet/agents/report?{PERIOD}", expect=200).json()["kpis"]
    return {name: found[name] for name in wanted} if wanted else found


def path(run_id, repo=REPO):
    return f"/fleet/runs/{quote(str(run_id), safe='')}?repo={repo}"


def in_days(days):
    return (datetime.now(timezone.utc) + timedelta(days=days)).isoformat()


@pytest.mark.parametrize("run_id", ["..", "a\\b", "a//b", "\n", "%2e", "17", "x/"])
def test_every_run_can_be_removed(report, api, run_id):
    assert report(run_id, expect=201)["run_id"] == run_id
    assert api.delete("/fleet/runs/-", params={"repo": REPO, "run_id": run_id}, expect=200).json()["run_id"] == run_id
    assert api.get("/fleet/runs", expect=200).json() == []


@pytest.mark.parametrize("name", ["started_at", "finished_at"])
def test_times_that_cannot_be_are_400(agent, api, name):
    key = agent()
    for time in ("9999-12-31T23:59:59Z", in_days(1.01), "9999-12-31T23:59:59-01:00", "2014-12-31T23:59:59Z", "1970-01-01T00:00:00Z",
                 "1969-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "2015-01-01T00:00:00+01:00"):
        problem = key.problem("POST", "/fleet/runs", 400, "invalid_request", {"run_id": 1, "repo": REPO, name: time})
        assert {fault["field"] for fault in problem["errors"]} == {name}, time
    assert api.get("/fleet/runs", expect=200).json() == []
    for number, time in enumerate((in_days(0.99), "2015-01-01T00:00:00Z")):
        key.post("/fleet/runs", {"run_id": number, "repo": REPO, name: time}, expect=201)


def test_sums_of_tokens_do_not_overflow(report, db, user):
    """As after 9,223 reports."""
    report(1, started_at=DAY, input_tokens=10**15, output_tokens=10**15)
    fleet_tables.add_tokens(db, user.account, 9223 * 10**15)
    report(2, expect=201, started_at=DAY, input_tokens=10**15, output_tokens=10**15)
    assert set(kpis(user.api, input_tokens=0, output_tokens=0).values()) == {9225 * 10**15}
    fleet_tables.add_tokens(db, user.account, -9223 * 10**15)


def test_a_cost_that_is_not_believed_is_kept_and_in_no_sum(report, api, db):
    report(1, started_at=DAY, status="pr_opened", cost_usd=10000)
    report(2, started_at=DAY, status="failed", cost_usd=10000.01)
    dear = report(3, started_at=DAY, status="failed", cost_usd=1e9)
    assert (dear["cost_usd"], dear["cost_excluded"]) == (1e9, True)
    assert {run["run_id"]: run.get("cost_excluded") for run in api.get("/fleet/runs", expect=200).json()} == {1: None, 2: True, 3: True}
    found = api.get(f"/fleet/agents/report?{PERIOD}", expect=200).json()
    assert (found["kpis"]["runs"], found["kpis"]["cost_usd"], found["kpis"]["runs_with_cost"]) == (3, 10000, 1)
    assert [step["cost_usd"] for step in found["agents"][0]["timeline"]] == [10000]
    activity = api.get(f"/fleet/agents/activity?repo={REPO}", expect=200).json()
    assert "10000.00 USD over 1 of the runs" in str(activity)
    mended = report(3, status="failed", cost_usd=2, finished_at="2026-01-10T10:00:00Z", cost_excluded=True)
    assert "cost_excluded" not in mended
    assert kpis(api, cost_usd=0, runs_with_cost=0) == {"cost_usd": 10002, "runs_with_cost": 2}


def test_a_removed_run_is_in_no_list_and_no_sum(report, user, api, db):
    keep = report(1, started_at=DAY, status="pr_opened", cost_usd=1, input_tokens=5, agent="one", test_status="passed")
    before = kpis(api)
    run_id = "of/ours?é#1"
    report(run_id, started_at="2026-01-11T09:00:00Z", status="tests_failed", cost_usd=9000, input_tokens=10**15, agent="two",
           test_status="failed", error="no", refine_queries=["x"])
    api.post("/fleet/agents/runs/analyze", {"run_id": run_id, "repo": REPO}, expect=200)
    assert kpis(api) != before
    assert api.delete(path(run_id, "ACME/ranker"), expect=200).json() == {"run_id": run_id, "repo": REPO, "deleted": True}
    assert kpis(api) == before
    assert api.get("/fleet/runs", expect=200).json() == [keep]
    assert [item["kind"] for item in api.get("/fleet/agents/inbox", expect=200).json()] == []
    for kept, counted in (day_sums(db), repo_sums(db), agent_sums(db)):
        assert kept == counted
    assert common.tables_with(db, ["run_detail", "run_text"], account_id=user.account) == []
    api.problem("DELETE", path(run_id), 404, "not_found")
    assert report(run_id, expect=201, started_at=DAY)["status"] is None


def test_the_sums_follow_removed_runs(report, api, db):
    dice = random.Random(11)
    for _ in range(60):
        run_id = dice.randrange(6)
        if dice.random() < 0.3:
            assert api.delete(path(run_id)).status_code in (200, 404)
            continue
        report(run_id, status=dice.choice(["running", "failed", "pr_opened", "skipped_old"]), agent=dice.choice([None, "one", "two"]),
               cost_usd=dice.choice([None, 0, 0.1, 20000]), input_tokens=dice.randrange(9),
               started_at=dice.choice([None, *(f"2026-01-0{day}T09:00:00Z" for day in (1, 2, 3))]))
    for kept, counted in (repo_sums(db), agent_sums(db)):
        assert kept == counted
    with db.transaction(force_rollback=True):
        fleet_tables.forget_costs_above(db, 10000)
        kept, counted = day_sums(db)
    assert kept == counted


def test_what_a_removed_run_opened_is_withdrawn(report, api, tell):
    pull = f"https://github.com/{REPO}/pull/7"
    for run_id in ("first", "second"):
        report(run_id, started_at=DAY, status="pr_opened", artifact_url=pull)
    tell(REPO, 7, "merged", "2026-01-11T09:00:00Z", "2026-01-12T09:00:00Z")
    assert kpis(api, pull_requests_merged=0) == {"pull_requests_merged": 1}
    api.delete(path("first"), expect=200)
    assert kpis(api, pull_requests_merged=0) == {"pull_requests_merged": 1}
    api.delete(path("second"), expect=200)
    assert kpis(api, runs=0, pull_requests_merged=0) == {"runs": 0, "pull_requests_merged": 0}


def test_the_code_host_does_not_bring_a_removed_run_back(api, agent, db, code_host, repo, user):
    started = api.post("/fleet/trigger", {"repo": repo}, expect=200).json()["run_id"]
    agent(repo).post("/fleet/runs", {"run_id": started, "repo": repo, "cost_usd": 5}, expect=200)
    api.delete(path(started, repo), expect=200)
    code_host.change_run(started, "completed", "failure")
    api.post("/fleet/agents/refresh", {"full": True}, expect=200)
    api.get(f"/fleet/run-status?repo={repo}", expect=200)
    assert api.get("/fleet/runs", expect=200).json() == []
    agent(repo).post("/fleet/runs", {"run_id": started, "repo": repo, "cost_usd": 5}, expect=201)
    fleet_tables.tell_run(db, repo, run_id=started, status="completed", conclusion="failure", updated_at=datetime.now(timezone.utc).isoformat())
    assert [run["status"] for run in api.get("/fleet/runs", expect=200).json()] == ["failed"]


def test_only_the_account_s_own_runs_are_removed(agent, api, other_user):
    agent().post("/fleet/runs", {"run_id": 1, "repo": REPO}, expect=201)
    other_user.api.problem("DELETE", path(1), 404, "not_found")
    api.problem("DELETE", path(2), 404, "not_found")
    api.problem("DELETE", path(1, "acme/other"), 404, "not_found")
    problem = api.problem("DELETE", "/fleet/runs/1", 400, "invalid_request")
    assert [fault["field"] for fault in problem["errors"]] == ["repo"]
    agent().problem("DELETE", path(1), 403, "insufficient_scope")
    elsewhere = {"name": "w", "kind": "automation", "scopes": ["fleet:write"], "repo": "acme/other"}
    key = api.as_key(api.post("/account/api-keys", elsewhere, expect=201).json()["key"])
    key.problem("DELETE", path(1), 403, "forbidden")
    key.problem("DELETE", path(1, "acme/other"), 404, "not_found")
    api.delete(path(1), expect=200)

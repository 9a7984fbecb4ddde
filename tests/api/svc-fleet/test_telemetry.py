"""POST /fleet/runs: reports of runs, merged into one record."""

import itertools
import random
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import pytest

from lib.check.fleet_sums import agent_sums, day_sums, repo_sums
from lib.scenario.fleet import REPO
from lib.tables import common
from lib.tables import fleet as fleet_tables

TELEMETRY = {
    "status": "pr_opened", "source": "workflow", "agent": "agent_one", "provider": "anthropic", "model": "m-1",
    "model_backend": "direct", "cost_basis": "metered", "cost_usd": 1.25, "input_tokens": 900, "output_tokens": 100,
    "cache_read_input_tokens": 5000, "agent_calls": 3, "num_turns": 12, "recommendation_id": "r-1",
    "interest_id": "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b", "arxiv_id": "2205.14135", "broad_pool_size": 200,
    "refine_pool_size": 20, "candidates_considered": 12, "refine_queries": ["tiling"],
    "candidate_enrichment": [{"arxiv_id": "2205.14135", "stars": 3}],
    "selection_rejected": [{"arxiv_id": "1706.03762", "reason": "too broad"}],
    "selection_reasoning_excerpt": "fits best", "selection_integration_shape": "drop-in", "selection_coverage": 0.5,
    "preflight_decision": "proceed", "audit_anchor": "abc", "search_method": "hybrid", "license_class": "permissive",
    "license_compat": "compatible", "diff_risk_band": "low", "diff_risk_score": 0.1, "lint_status": "passed",
    "test_status": "passed", "test_integration_gate": "passed", "stub_density": 0.0, "integration_violations": [],
    "coverage_summary": {"lines": 0.8}, "chain": [{"phase": "select", "status": "done"}], "files_touched": ["a.py"],
    "files_dropped_out_of_scope": [], "touched_test_files": ["test_a.py"],
    "artifact_url": "https://github.com/acme/ranker/pull/17", "started_at": "2026-01-31T09:10:00.000Z",
    "finished_at": "2026-01-31T09:30:00.000Z", "of_ours": {"kept": [1, None, "ü"]},
}
LARGE = {"candidate_enrichment", "selection_rejected", "selection_reasoning_excerpt", "refine_queries"}


def test_a_first_report_is_201_and_kept_whole(agent, api):
    key = agent()
    made = key.post("/fleet/runs", {"run_id": 17, "repo": REPO, **TELEMETRY}, expect=201).json()
    assert {name: made[name] for name in TELEMETRY} == TELEMETRY
    assert (made["run_id"], made["repo"], made["outcome_kind"]) == (17, REPO, "pull_request")
    listed = api.get("/fleet/runs", expect=200).json()
    assert listed == [{name: value for name, value in made.items() if name not in LARGE}]
    assert api.get("/fleet/runs?include=selection", expect=200).json() == [made]


def test_the_same_report_again_is_200_and_changes_nothing(report, api):
    made = report(1, expect=201, **TELEMETRY)
    assert report(1, expect=200, **TELEMETRY) == made
    assert api.get("/fleet/runs", expect=200).headers["X-Total-Count"] == "1"


def test_a_later_report_fills_in_and_null_erases_nothing(report):
    report(1, status="running", agent="agent_one", files_touched=["a.py"], extra=1)
    merged = report(1, status="pr_opened", agent=None, cost_usd=2, files_touched=[], extra=None)
    assert (merged["agent"], merged["cost_usd"], merged["files_touched"], merged["extra"]) == ("agent_one", 2, [], 1)
    assert merged["outcome_kind"] == "pull_request"


def test_an_attempt_that_ends_well_clears_the_error(report):
    assert report(1, status="failed", error="tests fail")["error"] == "tests fail"
    assert report(1, status="running")["error"] == "tests fail"
    assert "error" not in report(1, status="pr_opened")
    assert report(1, status="issue_opened", error="of its own")["error"] == "of its own"


def test_a_run_id_is_known_by_its_text_and_returned_as_it_came(report, api):
    assert report(17, expect=201, status="running")["run_id"] == 17
    assert report("17", expect=200, status="failed")["run_id"] == 17
    assert report("attempt-ü", expect=201)["run_id"] == "attempt-ü"
    assert report(18446744073709551615, expect=201)["run_id"] == 18446744073709551615
    assert api.get("/fleet/runs", expect=200).headers["X-Total-Count"] == "3"


@pytest.mark.parametrize("order", itertools.permutations(range(3)))
def test_the_order_of_arrival_does_not_matter(report, order):
    reports = [
        {"status": "running", "started_at": "2026-01-31T09:00:00Z", "model": "first", "source": "queue"},
        {"status": "failed", "started_at": "2026-01-31T09:00:00Z", "finished_at": "2026-01-31T09:20:00Z",
         "error": "tests fail", "cost_usd": 1, "selection_rejected": [{"reason": "old"}], "refine_queries": ["old"]},
        {"status": "pr_opened", "started_at": "2026-01-31T10:00:00Z", "finished_at": "2026-01-31T10:20:00Z",
         "cost_usd": 3, "model": "second", "refine_queries": ["new"]},
    ]
    for number in order + order:
        merged = report(1, **reports[number])
    shown = {name: merged.get(name) for name in ("status", "error", "cost_usd", "model", "source", "started_at",
                                                 "selection_rejected", "refine_queries")}
    assert shown == {"status": "pr_opened", "error": None, "cost_usd": 3, "model": "second", "source": "queue",
                     "started_at": "2026-01-31T10:00:00.000Z", "selection_rejected": [{"reason": "old"}], "refine_queries": ["new"]}


def test_an_end_without_times_is_newer_than_what_a_clock_that_is_ahead_told(report, api):
    ahead = (datetime.now(timezone.utc) + timedelta(hours=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
    report(1, status="running", started_at=ahead, cost_usd=1, refine_queries=["old"])
    ended = report(1, status="pr_opened", cost_usd=3, refine_queries=["new"])
    assert (ended["status"], ended["cost_usd"], ended["spend_usd"], ended["refine_queries"]) == ("pr_opened", 3, 3, ["new"])
    assert report(1, status="running", started_at=ahead)["status"] == "pr_opened"


@pytest.mark.parametrize("status, kind", [
    ("pr_opened", "pull_request"), ("issue_opened", "issue"), ("branch_pushed", "branch"),
    ("branch_pushed_no_pr", "branch"), ("skipped_no_candidates", "skipped"), ("lead_captured", "skipped"),
    ("lead_captured_only", "skipped"), ("recommended", "skipped"), ("aborted_budget", "failed"),
    ("rejected_scope", "failed"), ("error", "failed"), ("failed", "failed"), ("tests_failed", "failed"),
    ("queued", "running"), ("dispatched", "running"), ("running", "running"), ("Failed", "other"), ("merged", "other"),
    ("pr_opened_draft", "pull_request"), ("issue_opened_late", "issue"), ("skipped_failed", "skipped"),
    ("pr_opened_failed", "pull_request"), (None, "running"),
])
def test_outcome_kind(report, status, kind):
    assert report(1, status=status)["outcome_kind"] == kind


def test_a_run_without_a_status_runs_until_it_has_finished(report):
    assert report(1, cost_usd=1)["outcome_kind"] == "running"
    assert report(1, expect=200, finished_at="2026-01-31T10:00:00Z")["outcome_kind"] == "other"


def test_target_repo_is_taken_and_letters_case_is_ignored(agent):
    key = agent()
    assert key.post("/fleet/runs", {"run_id": 1, "target_repo": "Acme/Ranker"}, expect=201).json()["repo"] == REPO
    key.post("/fleet/runs", {"run_id": 1, "repo": REPO}, expect=200)


def test_the_interest_of_the_key_is_the_default(agent):
    interest = "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b"
    key = agent(interest_id=interest)
    assert key.post("/fleet/runs", {"run_id": 1, "repo": REPO}, expect=201).json()["interest_id"] == interest
    key.problem("POST", "/fleet/runs", 403, "forbidden",
                {"run_id": 1, "repo": REPO, "interest_id": "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1c"})


def test_another_repository_or_a_personal_key_is_403(agent, api):
    agent().problem("POST", "/fleet/runs", 403, "forbidden", {"run_id": 1, "repo": "acme/other"})
    api.problem("POST", "/fleet/runs", 403, "forbidden", {"run_id": 1, "repo": REPO})
    assert api.get("/fleet/runs", expect=200).json() == []


@pytest.mark.parametrize("body, field", [
    ({}, "run_id"), ({"run_id": None}, "run_id"), ({"run_id": ""}, "run_id"), ({"run_id": "x" * 129}, "run_id"),
    ({"run_id": 1.5}, "run_id"), ({"run_id": True}, "run_id"), ({"run_id": [1]}, "run_id"),
    ({"repo": 7}, "repo"), ({"target_repo": ""}, "target_repo"),
])
def test_a_fault_names_its_field(agent, body, field):
    whole = {"run_id": 1, "repo": REPO, **body} if body else {"repo": REPO}
    problem = agent().problem("POST", "/fleet/runs", 400, "invalid_request", whole)
    assert [fault["field"] for fault in problem["errors"]] == [field]


@pytest.mark.parametrize("name, value", [
    ("cost_usd", -1), ("cost_usd", "1"), ("cost_usd", 1e12), ("input_tokens", 1.5), ("input_tokens", 1e16), ("output_tokens", "many"),
    ("num_turns", {}), ("artifact_url", "javascript:alert(1)"), ("started_at", "yesterday"), ("finished_at", 1769851800),
    ("finished_at", "2026-02-30T00:00:00Z"), ("selection_rejected", {}), ("selection_rejected", [{"reason": "x"}, {"arxiv_id": 7}]),
    ("selection_rejected", [7]), ("status", 3), ("status", ""), ("error", ["no"]), ("agent", "x" * 101), ("interest_id", "none"),
])
def test_a_report_is_not_lost_for_one_member(report, api, name, value):
    made = report(1, expect=201, **{**TELEMETRY, name: value})
    assert made["ignored"] == [name]
    stored, = api.get("/fleet/runs?include=selection", expect=200).json()
    assert stored == {key: kept for key, kept in made.items() if key != "ignored"}
    expected = {**TELEMETRY, name: None}
    assert {key: stored.get(key) for key in expected} == expected


FINAL = {"status": "pr_opened", "cost_usd": 1.2, "finished_at": "2026-01-31T09:30:00.000Z"}


def test_a_report_is_not_lost_for_a_long_name(report):
    made = report(1, expect=201, **{"ü" * 60: 1, "n" * 100: 2}, **FINAL)
    assert made["ignored"] == ["ü" * 50 + "…"] and made["n" * 100] == 2
    assert {name: made[name] for name in FINAL} == FINAL


def test_a_report_is_not_lost_for_many_members(report):
    made = report(1, expect=201, **{f"m{n}": n for n in range(502)}, **FINAL)
    assert set(made["ignored"]) == {"m500", "m501"} and made["m499"] == 499 and "m500" not in made
    assert {name: made[name] for name in FINAL} == FINAL


def test_the_answer_names_a_hundred_of_many_members(report):
    made = report(1, expect=201, **{f"m{n}": n for n in range(100_000)}, **FINAL)
    assert set(made["ignored"]) == {*(f"m{n}" for n in range(500, 600)), "…"}
    assert {name: made[name] for name in FINAL} == FINAL


@pytest.mark.parametrize("status, kept, outcome", [
    ("aborted_" + "ü" * 110, "aborted_" + "ü" * 91 + "…", "failed"),
    ("x" * 200 + "_failed", "x" * 92 + "…_failed", "failed"),
    ("x" * 93 + "_failed_twice", "x" * 93 + "_faile…", "other"),
    ("x" * 100, "x" * 100, "other"),
])  # fmt: skip
def test_a_long_status_is_cut_and_counts(report, status, kept, outcome):
    made = report(1, expect=201, status=status)
    assert (made["status"], made["outcome_kind"], "ignored" in made) == (kept, outcome, False)


def test_every_member_that_was_left_out_is_named(report, agent):
    assert set(report(1, cost_usd="x", num_turns=-1, agent="a", ignored=["mine"])["ignored"]) == {"cost_usd", "num_turns"}
    again = report(1, expect=200, cost_usd=2, agent=None)
    assert (again["cost_usd"], again["agent"]) == (2, "a") and "ignored" not in again and "num_turns" not in again
    report(1, expect=200, cost_usd=[])
    assert report(1, expect=200)["cost_usd"] == 2
    problem = agent().problem("POST", "/fleet/runs", 400, "invalid_request", {"repo": REPO, "cost_usd": "x"})
    assert {fault["field"] for fault in problem["errors"]} == {"run_id", "cost_usd"}


def test_an_interest_that_is_none_is_the_key_s(agent):
    interest = "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b"
    made = agent(interest_id=interest).post("/fleet/runs", {"run_id": 1, "repo": REPO, "interest_id": "x"}, expect=201).json()
    assert (made["interest_id"], made["ignored"]) == (interest, ["interest_id"])


def test_no_repo_names_the_field(agent):
    problem = agent().problem("POST", "/fleet/runs", 400, "invalid_request", {"run_id": 1})
    assert [fault["field"] for fault in problem["errors"]] == ["repo"]


def test_a_large_report_is_kept(report):
    rejected = [{"arxiv_id": f"2205.{i:05}", "reason": "r" * 300} for i in range(12000)]
    assert report(1, expect=201, selection_rejected=rejected)["selection_rejected"] == rejected


def test_what_lists_would_be_too_long_with_is_left_out(api, report):
    """A list has a hundred runs, and each report may have members of other names."""
    made = report(1, expect=201, large="x" * 1200000, other="y" * 800000, small=1)
    assert made["ignored"] == ["large"] and "large" not in made and (made["other"], made["small"]) == ("y" * 800000, 1)
    for number in range(4):
        report(1, **{f"more_{number}": "z" * 200000})
    run, = api.get("/fleet/runs", expect=200).json()
    assert [name for name in run if name.startswith("more_")] == ["more_0"]
    assert report(1, status="pr_opened", cost_usd=2)["status"] == "pr_opened"


def test_the_answer_to_a_small_report_is_small(api, report):
    """Many such at once would take megabytes each."""
    report(1, expect=201, refine_queries="q" * 1_000_000, candidate_enrichment=[1])
    answer = report(1, status="pr_opened", candidate_enrichment=[2])
    assert answer["selection_omitted"] is True and answer["candidate_enrichment"] == [2] and "refine_queries" not in answer
    shown = api.get("/fleet/runs?include=selection", expect=200).json()[0]
    assert len(shown["refine_queries"]) == 1_000_000 and shown["candidate_enrichment"] == [2]


def test_a_list_has_a_part_of_the_large_members(api, report):
    for number in range(4):
        report(number, expect=201, started_at=f"2026-01-0{9 - number}T09:00:00Z", refine_queries="q" * 7_000_000)
    rows = api.get("/fleet/runs?include=selection", expect=200).json()
    assert [("refine_queries" in row, row.get("selection_omitted")) for row in rows] == [(True, None)] * 3 + [(False, True)]
    assert "refine_queries" in api.get("/fleet/runs?include=selection&run_id=3", expect=200).json()[0]


def test_a_list_of_runs_with_much_of_their_own_is_answered(api, report):
    """Together they would have more than an answer may, so that the list could never be read."""
    for number in range(100):
        report(number, expect=201, started_at=f"2026-01-01T09:00:{number % 60:02}Z", agent="one", small=number, large="l" * 1_000_000)
    rows = api.get("/fleet/runs?limit=100", expect=200).json()
    assert len(rows) == 100 and {row["agent"] for row in rows} == {"one"} and sorted(row["small"] for row in rows) == list(range(100))
    whole = [row for row in rows if "large" in row]
    assert rows[: len(whole)] == whole and 16 <= len(whole) <= 17 and not any("members_omitted" in row for row in whole)
    assert {row["members_omitted"] for row in rows[len(whole) :]} == {True}
    last = rows[-1]
    read, = api.get(f"/fleet/runs?run_id={last['run_id']}", expect=200).json()
    assert read.pop("large") == "l" * 1_000_000 and read == {name: last[name] for name in last if name != "members_omitted"}
    assert report(**last)["small"] == last["small"]
    assert "members_omitted" not in api.get(f"/fleet/runs?run_id={last['run_id']}", expect=200).json()[0]


def test_a_list_has_the_smallest_members_of_a_run_with_many(api, report):
    for number in range(18):
        report(number, expect=201, started_at=f"2026-01-{28 - number}T09:00:00Z", large="l" * 1_000_000)
    report(99, expect=201, started_at="2026-01-01T09:00:00Z", **{f"m{number:03}": "x" * (100 + number) for number in range(300)})
    row = api.get("/fleet/runs?limit=100", expect=200).json()[-1]
    there = [name for name in row if name.startswith("m") and name != "members_omitted"]
    assert row["members_omitted"] is True and sorted(there) == [f"m{number:03}" for number in range(len(there))] and 150 < len(there) < 250


def test_numbers_that_are_long_without_exponents_are_refused(agent):
    """Postgres writes them out: a body of six megabytes would be three hundred wherever it is read."""
    def send(count):
        body = f'{{"run_id": 1, "repo": "{REPO}", "others": [{",".join(["1e308"] * count)}]}}'
        return agent().request("POST", "/fleet/runs", content=body.encode(), headers={"Content-Type": "application/json"})

    assert send(100).status_code == 201
    refused = send(2000)
    assert (refused.status_code, refused.json()["error"]) == (400, "malformed_request")
    assert "too long" in refused.json()["detail"]


def test_reports_of_one_run_at_once_are_one_run(agent, api, db):
    key = agent()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda i: key.post("/fleet/runs", {"run_id": 1, "repo": REPO, f"m{i}": i,
                                                                   "status": "pr_opened", "cost_usd": 1}), range(24)))
    assert sorted(answer.status_code for answer in answers) == [200] * 23 + [201]
    run, = api.get("/fleet/runs", expect=200).json()
    assert all(run[f"m{i}"] == i for i in range(24))


def test_the_sums_follow_every_change(report, db):
    dice = random.Random(7)
    for _ in range(60):
        report(dice.randrange(6), status=dice.choice(["running", "failed", "pr_opened", "skipped_old", "issue_opened"]),
               cost_usd=dice.choice([None, 0, 0.1, 0.2]), input_tokens=dice.randrange(9),
               test_status=dice.choice(["passed", "failed", "unknown"]), agent=dice.choice([None, "one", "two"]),
               started_at=dice.choice([None, *(f"2026-01-0{day}T09:00:00Z" for day in (1, 2, 3))]))
    for kept, counted in (day_sums(db), repo_sums(db), agent_sums(db)):
        assert kept == counted


def test_a_small_report_reads_nothing_of_large_members(report, db, user):
    report(1, expect=201, refine_queries=[f"query {number} of many" for number in range(20_000)], selection_rejected=[
        {"arxiv_id": f"2205.{number:05}", "reason": "too broad"} for number in range(20)])
    written = fleet_tables.candidate_places(db, user.account)
    with db.transaction():
        fleet_tables.store_together(db, [telling(user.account, REPO, 1, status="running"), telling(user.account, REPO, 1, status="pr_opened")])
        assert fleet_tables.large_pages_read(db) == 0
    answer = report(1, cost_usd=1)
    assert answer["selection_omitted"] is True and answer["status"] == "pr_opened"
    report(1, candidate_enrichment=[1])
    assert fleet_tables.candidate_places(db, user.account) == written
    report(1, selection_rejected=[{"arxiv_id": "2205.14135", "reason": "too narrow"}])
    assert len(fleet_tables.candidate_places(db, user.account)) == 1


def telling(account, repo, run_id, **report):
    return {"account": account, "repo": repo, "run_id": run_id, "report": report}


def test_statements_that_store_the_same_runs_in_any_order_do_not_wait_in_circles(cluster, db, user):
    """Batches as replicas send them: of the same runs, days, repositories and links, in different orders."""
    mine = user.account
    before = fleet_tables.deadlocks(db)

    def send(seed):
        dice = random.Random(seed)
        with cluster.postgres.connect("fleet") as own:
            for _ in range(12):
                batch = [telling(mine, f"acme/r{dice.randrange(4)}", dice.randrange(8), status=dice.choice(["running", "pr_opened"]),
                                 agent="one", started_at=f"2026-01-0{dice.randrange(1, 4)}T09:00:00Z",
                                 artifact_url=f"https://github.com/acme/r{dice.randrange(4)}/pull/{dice.randrange(8)}")
                         for _ in range(16)]
                fleet_tables.store_together(own, batch)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(send, range(4)))
    assert fleet_tables.deadlocks(db) == before
    for kept, counted in (day_sums(db), repo_sums(db), agent_sums(db)):
        assert kept == counted


def test_a_report_that_cannot_be_stored_fails_alone(agent, api, other_user, db):
    """Reports that arrive together are stored together. The account of one of them is deleted."""
    common.note_deleted(db, other_user.account)
    mine, gone = agent(), agent(of=other_user.api)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda n: (gone if n % 8 == 3 else mine).post("/fleet/runs", {"run_id": n, "repo": REPO}), range(64)))
    assert {answer.status_code for n, answer in enumerate(answers) if n % 8 == 3} == {400}
    assert {answer.status_code for n, answer in enumerate(answers) if n % 8 != 3} == {201}
    assert api.get("/fleet/runs", expect=200).headers["X-Total-Count"] == "56"

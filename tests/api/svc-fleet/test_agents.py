"""Lists of runs, activity, evidence, analysis and installations."""

import uuid
from urllib.parse import quote

import pytest
from lib.http import plain_http
from lib.scenario.fleet import REPO
from lib.http.identity import identity
from lib.tables import common
from lib.tables import fleet as fleet_tables
from lib.wait import wait_for

GATES = {"test_status": "failed", "lint_status": "passed", "diff_risk_band": "low"}


@pytest.fixture
def runs(report):
    """Five runs of different kinds; the newest has the id 5."""
    for run_id, status in enumerate(["pr_opened", "issue_opened", "failed", "skipped_old", "running"], 1):
        report(run_id, status=status, started_at=f"2026-01-0{run_id}T09:00:00Z", agent=f"agent_{run_id % 2}",
               arxiv_id=f"2205.0000{run_id % 2}", interest_id="0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b" if run_id > 3 else None)


@pytest.mark.parametrize("query, ids", [
    ("", [5, 4, 3, 2, 1]), ("?repo=ACME/Ranker", [5, 4, 3, 2, 1]), ("?repo=acme/other", []), ("?outcome_kind=failed", [3]),
    ("?agent=agent_1", [5, 3, 1]), ("?arxiv_id=2205.00000", [4, 2]),
    ("?interest_id=0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b", [5, 4]), ("?since=2026-01-03&until=2026-01-04", [4, 3]),
    ("?agent=agent_1&since=2026-01-02", [5, 3]), ("?outcome_kind=pull_request&until=2026-01-01", [1]),
    ("?outcome_kind=pull_request&agent=agent_0", []), ("?run_id=3", [3]), ("?run_id=3&outcome_kind=failed&repo=acme/ranker", [3]),
    ("?run_id=3&agent=agent_0", []), ("?run_id=6", []), ("?run_id=3&repo=acme/other", []),
])
def test_the_list_has_what_every_filter_admits(api, runs, query, ids):
    listed = api.get(f"/fleet/runs{query}", expect=200)
    assert [run["run_id"] for run in listed.json()] == ids
    assert listed.headers["X-Total-Count"] == str(len(ids))


def test_pages(api, runs):
    first = api.get("/fleet/runs?limit=2", expect=200)
    assert [run["run_id"] for run in first.json()] == [5, 4]
    assert [run["run_id"] for run in api.get(first.links["next"]["url"], expect=200).json()] == [3, 2]


def test_another_account_sees_nothing(other_user, runs, install):
    install()
    for path in ("/fleet/runs", f"/fleet/runs?repo={REPO}", "/fleet/installations", "/fleet/agents/inbox"):
        assert other_user.api.get(path, expect=200).json() == []
    other_user.api.problem("GET", f"/fleet/agents/activity?repo={REPO}", 404, "not_found")
    other_user.api.problem("POST", "/fleet/agents/runs/analyze", 404, "not_found", {"repo": REPO, "run_id": 1})
    other_user.api.problem("POST", "/fleet/agents/artifact/evidence", 404, "not_found", {"artifact": {"run_id": 1}})


def test_a_key_of_another_repository(agent, runs):
    other = agent("acme/other")
    assert other.get("/fleet/runs", expect=200).json() == []
    other.problem("GET", f"/fleet/runs?repo={REPO}", 403, "forbidden")
    other.problem("GET", f"/fleet/agents/activity?repo={REPO}", 403, "forbidden")
    other.problem("POST", "/fleet/agents/runs/analyze", 403, "forbidden", {"repo": REPO, "run_id": 1})


def test_activity(api, runs):
    activity = api.get(f"/fleet/agents/activity?repo={REPO}", expect=200).json()
    assert [run["run_id"] for run in activity["runs"]] == [5, 4, 3, 2, 1]
    assert [(one["arxiv_id"], one["runs"]) for one in activity["directions"]] == [("2205.00001", 3), ("2205.00000", 2)]
    assert activity["directions"][1]["outcomes"] == ["skipped", "issue"]
    assert [one["kind"] for one in activity["events"]] == ["run_running", "run_skipped", "run_failed", "run_issue",
                                                           "run_pull_request"]
    assert activity["summary"] == "5 runs, 1 pull request opened, 1 failed; cost unknown"


def test_an_artifact_has_one_address_in_any_case_of_the_host(api, report):
    for run_id, base in enumerate(["https://github.com", "HTTPS://GitHub.com"]):
        report(run_id, status="pr_opened", artifact_url=f"{base}/acme/ranker/pull/9")
    opened, = api.get("/fleet/agents/report", expect=200).json()["deliverables"]
    assert (opened["url"], opened["kind"]) == ("https://github.com/acme/ranker/pull/9", "pull_request")
    artifact = {"url": "https://GITHUB.COM/acme/ranker/pull/9"}
    assert api.post("/fleet/agents/artifact/evidence", {"artifact": artifact}, expect=200).json()["artifact"]["url"] == opened["url"]


def test_evidence_by_run_and_by_link(api, report):
    url = "https://github.com/acme/ranker/pull/9"
    report("nine", status="pr_opened", artifact_url=url, stub_density=0.5, files_touched=["a.py"], **GATES)
    by_url = api.post("/fleet/agents/artifact/evidence", {"artifact": {"url": url}}, expect=200).json()
    assert by_url["artifact"] == {"url": url, "repo": REPO, "outcome_kind": "pull_request", "stage": "open"}
    assert by_url["gates"] == [{"name": "diff_risk_band", "status": "unknown", "detail": "low"},
                               {"name": "lint_status", "status": "passed", "detail": "passed"},
                               {"name": "test_status", "status": "stopped", "detail": "failed"}]
    assert by_url["fidelity"] == {"stub_density": 0.5, "files_touched": ["a.py"]}
    assert by_url == api.post("/fleet/agents/artifact/evidence", {"artifact": {"run_id": "nine"}}, expect=200).json()
    report("ten", status="failed")
    without = api.post("/fleet/agents/artifact/evidence", {"artifact": {"run_id": "ten", "repo": REPO}}, expect=200).json()
    assert (without["artifact"]["url"], without["artifact"]["stage"], without["gates"]) == (None, None, [])
    for artifact in ({}, {"url": url, "run_id": "nine"}):
        api.problem("POST", "/fleet/agents/artifact/evidence", 400, "invalid_request", {"artifact": artifact})
    api.problem("POST", "/fleet/agents/artifact/evidence", 404, "not_found", {"artifact": {"run_id": "eleven"}})


def test_evidence_reads_no_large_members(api, report, db):
    report(1, status="pr_opened", stub_density=0.5, refine_queries=["query"] * 100)
    with common.locked(db, "run_detail"):
        assert api.post("/fleet/agents/artifact/evidence", {"artifact": {"run_id": 1}}, expect=200).json()["fidelity"] == {"stub_density": 0.5}


def test_an_analysis_is_stored_until_the_record_changes(api, report):
    def analyze():
        return api.post("/fleet/agents/runs/analyze", {"repo": REPO, "run_id": 1}, expect=200).json()

    report(1, status="failed", error="3 tests fail", **GATES)
    first = analyze()
    assert first["cause"] == "The repository's tests failed on the change. Reported: 3 tests fail"
    assert "test_status: failed" in first["evidence"] and not first["cached"]
    assert len(set(first["evidence"])) == len(first["evidence"])
    assert analyze() == first | {"cached": True}
    report(1, status="pr_opened", artifact_url="https://github.com/acme/ranker/pull/9")
    second = analyze()
    assert second["cause"].startswith("The run opened a pull request") and not second["cached"]


def test_installations_and_the_end_of_their_key(api, agent, install, cluster):
    key = api.post("/account/api-keys", {"name": "a", "kind": "automation", "repo": REPO}, expect=201).json()
    made = install(key_id=key["id"])
    assert made["status"] == "active"
    assert install(key_id=key["id"], agent="agent_two")["id"] == made["id"]
    listed, = api.get("/fleet/installations", expect=200).json()
    assert (listed["agent"], listed["key_id"], listed["last_run_at"]) == ("agent_two", key["id"], None)
    api.post(f"/account/api-keys/{key['id']}/revoke", expect=200)
    revoked = wait_for(lambda: [one for one in api.get("/fleet/installations").json() if one["status"] == "revoked"])
    assert revoked[0]["revoked_at"]
    assert install()["id"] != made["id"]
    assert [one["status"] for one in api.get("/fleet/installations").json()] == ["active", "revoked"]


def test_the_code_host_knows_of_a_run_first(db, api, report, install):
    install()

    def told(state, outcome, at):
        run = {"run_id": 77, "status": "completed" if state == "ended" else state, "conclusion": outcome, "updated_at": at}
        fleet_tables.tell_run(db, REPO, **run)
        run, = api.get("/fleet/runs", expect=200).json()
        return run["status"], run["outcome_kind"], run.get("error")

    assert told("running", None, "2026-01-01T09:00:00Z") == ("running", "running", None)
    assert told("ended", "cancelled", "2026-01-01T10:00:00Z") == (
        "failed", "failed", "the workflow run ended without a report (cancelled)")
    assert told("running", None, "2026-01-01T09:30:00Z")[0] == "failed"
    assert report("77", expect=200, status="running")["status"] == "failed"
    report("77", expect=200, status="pr_opened")
    assert told("ended", "success", "2026-01-01T11:00:00Z") == ("pr_opened", "pull_request", None)


def test_an_unknown_repository_has_no_activity(api):
    api.problem("GET", "/fleet/agents/activity?repo=acme/none", 404, "not_found")


NAMES_REPO = [
    ("GET", "/fleet/agents/activity?repo={}", None),
    ("GET", "/fleet/run-status?repo={}", None),
    ("POST", "/fleet/agents/runs/analyze", {"run_id": 1}),
    ("POST", "/fleet/agents/chat", {"messages": [{"role": "user", "content": "cost?"}]}),
    ("POST", "/fleet/trigger", {}),
]


@pytest.mark.parametrize("method, path, body", NAMES_REPO, ids=[path for _, path, _ in NAMES_REPO])
@pytest.mark.parametrize("repo", ["ranker", "acme/", "/ranker", "acme/ranker/x", "acme/ran ker", "https://host/acme/ranker"])
def test_what_is_no_name_of_a_repository_is_400(api, method, path, body, repo):
    body = body if body is None else {**body, "repo": repo}
    problem = api.problem(method, path.format(quote(repo, safe="")), 400, "invalid_request", body)
    assert problem["errors"] == [{"field": "repo", "message": "must be owner/name"}]


def test_a_service_that_is_not_listed_records_no_installation(cluster, user):
    answer = plain_http.post(cluster.url("svc-fleet") + "/internal/fleet/installations",
                        json={"repo": REPO, "agent": "a", "key_id": str(uuid.uuid4())},
                        auth=identity(cluster, "svc-fleet", account=user.account))
    assert answer.status_code == 404

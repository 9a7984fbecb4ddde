"""Deliveries of the code host's webhooks, from the gateway to the fleet's lists and report."""

import pytest
from lib.outside.webhooks import Hook, pull_request
from lib.tables import fleet as fleet_tables
from lib.wait import wait_for

REPO = "acme/hooked"


@pytest.fixture
def hook(cluster):
    return Hook(cluster)


@pytest.fixture
def report(agent):
    """report(run_id, **members): report a run on REPO."""
    key = agent(REPO)
    return lambda run_id, **members: key.post("/fleet/runs", {"run_id": run_id, "repo": REPO, **members}).json()


def tell(hook, action, at, state="open", merged=False, number=5):
    hook.deliver("pull_request", pull_request(REPO, number, action, at, state=state, merged=merged))


def test_a_pull_request_is_followed_whatever_comes_first(api, report, install, hook):
    install(REPO)
    tell(hook, "closed", "2026-01-03T09:00:00Z", "closed", merged=True)
    report(1, status="pr_opened", artifact_url=f"https://github.com/{REPO}/pull/5")
    tell(hook, "opened", "2026-01-02T09:00:00Z")
    found = {"stage": "merged", "opened_at": "2026-01-02T09:00:00.000Z", "closed_at": "2026-01-03T09:00:00.000Z"}

    def is_followed():
        items = api.get("/fleet/agents/report?since=2026-01-01&until=2026-01-31", expect=200).json()["deliverables"]
        return [item | found for item in items] == items != []

    wait_for(is_followed)


def test_of_one_second_what_opens_again_is_the_later(api, db, report, install, hook):
    """Scripts close and reopen pull requests to start their checks anew. What opened it, or edited it, may arrive late."""
    install(REPO)
    report(1, status="pr_opened", artifact_url=f"https://github.com/{REPO}/pull/6")
    first, second, third = (f"2026-01-0{day}T09:00:00Z" for day in (3, 4, 5))

    def stage():
        (item,) = api.get("/fleet/agents/report?since=2026-01-01&until=2026-12-31", expect=200).json()["deliverables"]
        return item["stage"]

    tell(hook, "closed", first, "closed", number=6)
    wait_for(lambda: stage() == "closed", "it is closed")
    tell(hook, "reopened", first, number=6)
    wait_for(lambda: stage() == "open", "it is open again")
    tell(hook, "closed", second, "closed", number=6)
    wait_for(lambda: stage() == "closed", "it is closed again")
    tell(hook, "edited", second, number=6)
    tell(hook, "closed", third, "closed", merged=True, number=6)
    wait_for(lambda: stage() == "merged", "it is merged")
    assert fleet_tables.told_stages(db, f"https://github.com/{REPO}/pull/6") == ["open", "closed", "open", "closed", "merged"]


def workflow_run(run_id, status, at, path=".github/workflows/expops.yml", conclusion=None):
    row = {"id": run_id, "status": status, "conclusion": conclusion, "head_branch": "main", "path": path,
           "html_url": f"https://github.com/{REPO}/actions/runs/{run_id}", "updated_at": at}
    return {"action": status, "repository": {"full_name": REPO}, "workflow_run": row}


def test_workflow_runs_of_the_agent_are_runs(api, report, install, hook):
    install(REPO)
    hook.deliver("workflow_run", workflow_run(6, "in_progress", "2026-01-02T09:00:00Z", ".github/workflows/ci.yml"))
    hook.deliver("workflow_run", workflow_run(7, "in_progress", "2026-01-02T09:00:00Z"))
    run, = wait_for(lambda: api.get("/fleet/runs", expect=200).json())
    assert (run["run_id"], run["status"]) == (7, "running")
    hook.deliver("workflow_run", workflow_run(7, "completed", "2026-01-02T09:30:00Z", conclusion="failure"))
    run, = wait_for(lambda: [one for one in api.get("/fleet/runs").json() if one["status"] == "failed"])
    assert run["error"] == "the workflow run ended without a report (failure)"
    assert report(7, status="issue_opened")["outcome_kind"] == "issue"

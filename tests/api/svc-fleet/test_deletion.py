"""Deleting an account: svc-fleet keeps nothing of it."""

from lib.scenario.deletion import tables_with, wait_deletion


def test_nothing_of_a_deleted_account_is_kept(user, db, code_host, agent, install, repo):
    api, mine = user.api, user.account
    api.post("/fleet/trigger", {"repo": repo}, expect=200)
    api.post("/fleet/agents/refresh", {}, expect=200)
    link = f"https://github.com/{repo}/pull/1"
    report = {"run_id": "r1", "repo": repo, "status": "pr_opened", "artifact_url": link, "selection_rejected": []}
    agent(repo).post("/fleet/runs", report, expect=201, headers={"Idempotency-Key": "k"})
    api.post("/fleet/agents/inbox/digest", {"href": link}, expect=200)
    item, *_ = api.get("/fleet/agents/inbox", expect=200).json()
    api.post("/fleet/agents/inbox/dismiss", {"id": item["id"]}, expect=200)
    foreign = "acme/of-another"
    agent(foreign).post("/fleet/runs", {"run_id": 1, "repo": foreign}, expect=201)
    api.get(f"/fleet/run-status?repo={foreign}", expect=200)
    kept = {"run_key", "run_day", "run_repo", "deliverable", "owned_repo", "installation", "run_text", "inbox_archived", "run_status",
            "repo_fetch", "idempotency"}  # fmt: skip
    assert tables_with(db, "fleet", mine) >= kept
    api.post("/account/delete", {"confirm": True}, expect=200)
    wait_deletion(db, mine)
    db.commit()
    assert tables_with(db, "fleet", mine) == set()

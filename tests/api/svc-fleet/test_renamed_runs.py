"""Runs of a repository that is renamed, with all that is added up of them."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from lib.check.fleet_sums import agent_sums, day_sums, repo_sums
from lib.outside.webhooks import Hook
from lib.scenario.fleet import now
from lib.tables import fleet as fleet_tables
from lib.wait import wait_for

DAY, NEXT_DAY = "2026-01-10T09:00:00Z", "2026-01-11T09:00:00Z"


@pytest.fixture
def names():
    stem = secrets.token_hex(6)
    return f"acme/{stem}", f"acme/{stem}-2"


@pytest.fixture
def rename(cluster, db):
    """rename(former, now): the code host tells of it; returns when svc-fleet goes by the new name."""
    hook, numbers = Hook(cluster), {}

    def tell(former, now):
        number = numbers.pop(former, None) or secrets.randbelow(1 << 40) + 1
        numbers[now] = number
        owner, name = now.split("/")
        repository = {"id": number, "full_name": now, "name": name, "owner": {"login": owner}}
        changes = {"repository": {"name": {"from": former.split("/")[1]}}}
        hook.deliver("repository", {"action": "renamed", "repository": repository, "changes": changes})
        wait_for(lambda: fleet_tables.name_of(db, number) == now, "the rename is read")

    return tell


def check_sums(db):
    for sums in (day_sums, repo_sums, agent_sums):
        kept, counted = sums(db)
        assert kept == counted
    db.commit()


def test_sums_follow(agent, api, db, names, rename):
    key = agent(names[0])
    for number, day in enumerate((DAY, DAY, NEXT_DAY)):
        body = {"run_id": number, "repo": names[0], "status": "failed", "agent": "agent_one", "cost_usd": 2, "started_at": day}
        key.post("/fleet/runs", body, expect=201)
    rename(*names)
    check_sums(db)
    rows = api.get("/fleet/runs", expect=200).json()
    assert [row["repo"] for row in rows] == [names[1]] * 3
    told = api.get("/fleet/agents/report?since=2026-01-01&until=2026-01-31", expect=200).json()
    assert (told["kpis"]["runs"], told["kpis"]["cost_usd"], [row["repo"] for row in told["agents"]]) == (3, 6, [names[1]])


def test_what_was_reported_under_the_new_name_before_it_was_known_is_merged(agent, api, db, names, rename):
    old, new = agent(names[0]), agent(names[1])
    begin = {"run_id": "both", "repo": names[0], "status": "running", "started_at": DAY, "agent": "agent_one", "model": "m"}
    end = {"run_id": "both", "repo": names[1], "status": "pr_opened", "finished_at": NEXT_DAY, "agent": "agent_one", "cost_usd": 3,
           "artifact_url": f"https://github.com/{names[1]}/pull/4", "selection_rejected": [{"arxiv_id": "1", "reason": "old"}]}
    old.post("/fleet/runs", begin, expect=201)
    old.post("/fleet/runs", {**begin, "run_id": "old"}, expect=201)
    new.post("/fleet/runs", end, expect=201)
    new.post("/fleet/runs", {**end, "run_id": "new"}, expect=201)
    rename(*names)
    check_sums(db)
    rows = {row["run_id"]: row for row in api.get(f"/fleet/runs?repo={names[1]}&include=selection", expect=200).json()}
    assert set(rows) == {"both", "old", "new"} and {row["repo"] for row in rows.values()} == {names[1]}
    both = rows["both"]
    assert (both["status"], both["model"], both["cost_usd"], both["started_at"]) == ("pr_opened", "m", 3, "2026-01-10T09:00:00.000Z")
    assert both["selection_rejected"] == end["selection_rejected"]
    assert api.get(f"/fleet/runs?repo={names[0]}", expect=200).json() == api.get(f"/fleet/runs?repo={names[1]}", expect=200).json()


def test_what_was_spent_under_either_name_stays_spent(agent, api, db, names, rename):
    old, new = agent(names[0]), agent(names[1])

    def report(key, run_id, repo, **members):
        return key.post("/fleet/runs", {"run_id": run_id, "repo": repo, "agent": "agent_one", **members}).json()

    report(old, "old", names[0], started_at=now(), status="pr_opened", cost_usd=3)
    report(old, "both", names[0], run_attempt=1, started_at=now(), finished_at=now(), status="agent_failed", cost_usd=2)
    report(new, "both", names[1], run_attempt=2, started_at=now(), status="running", cost_usd=4)
    report(new, "again", names[1], run_attempt=1, started_at=now(), finished_at=now(), status="agent_failed", cost_usd=9)
    report(new, "again", names[1], run_attempt=2, started_at=now(), status="pr_opened", cost_usd=1)
    first = report(new, "undated", names[1], status="running")
    for target in ({"scope": "account"}, {"scope": "repo", "repo": names[1]}):
        api.put("/fleet/budgets", {"period": "month", "usd": 10, "action": "stop", **target}, expect=200)
    rename(*names)
    check_sums(db)
    rows = {row["run_id"]: row for row in api.get(f"/fleet/runs?repo={names[1]}", expect=200).json()}
    assert {run: row.get("spend_usd") for run, row in rows.items()} == {"old": 3, "both": 6, "again": 10, "undated": None}
    assert rows["undated"]["created_at"] == first["created_at"]
    states = [budget["state"] for budget in api.get("/fleet/budgets", expect=200).json()]
    assert [(state["spent_usd"], state["runs"], state["reached"]) for state in states] == [(19, 4, True)] * 2


def test_a_pull_request_has_one_link(agent, api, db, names, rename):
    """Whichever name a run reports it by; it is found, and stays archived, by both."""
    key = agent(names[0])
    links = [f"https://github.com/{name}/pull/4" for name in names]
    key.post("/fleet/runs", {"run_id": 1, "repo": names[0], "status": "pr_opened", "artifact_url": links[0]}, expect=201)
    (item,) = api.get("/fleet/agents/inbox", expect=200).json()
    api.post("/fleet/agents/inbox/dismiss", {"id": item["id"]}, expect=200)
    rename(*names)
    key.post("/fleet/runs", {"run_id": 2, "repo": names[1], "status": "pr_opened", "artifact_url": links[1]}, expect=201)
    key.post("/fleet/runs", {"run_id": 3, "repo": names[0], "status": "pr_opened", "artifact_url": links[0]}, expect=201)
    assert {row["artifact_url"] for row in api.get("/fleet/runs", expect=200).json()} == {links[1]}
    (made,) = api.get("/fleet/agents/report", expect=200).json()["deliverables"]
    assert (made["url"], made["repo"]) == (links[1], names[1])
    assert api.get("/fleet/agents/inbox", expect=200).json() == []
    for link in links:
        api.post("/fleet/agents/artifact/evidence", {"artifact": {"url": link}}, expect=200)
    check_sums(db)


def test_a_name_that_changes_its_case_is_shown_so(agent, api, db, names, rename):
    agent(names[0]).post("/fleet/runs", {"run_id": 1, "repo": names[0]}, expect=201)
    rename(names[0], names[0].upper())
    (row,) = api.get(f"/fleet/runs?repo={names[0]}", expect=200).json()
    assert row["repo"] == names[0].upper()
    check_sums(db)


def test_a_run_that_was_removed_stays_away(agent, api, db, names, rename):
    agent(names[0]).post("/fleet/runs", {"run_id": 1, "repo": names[0]}, expect=201)
    api.delete(f"/fleet/runs/1?repo={names[0]}", expect=200)
    rename(*names)
    assert fleet_tables.removed_runs(db, names[0]) == [names[1]]


def test_reports_during_renames_leave_nothing_behind(agent, api, db, names, rename):
    """Reports name the repository as it was called when they began; each is taken, and each is under the last name."""
    key, is_over, sent = agent(names[0]), Event(), []
    all_names = [names[0], *(f"{names[1]}-{number}" for number in range(6))]

    def report(worker):
        number = 0
        while not is_over.is_set():
            number += 1
            run = f"{worker}-{number}"
            key.post("/fleet/runs", {"run_id": run, "repo": names[0], "agent": "agent_one", "started_at": DAY}, expect=201)
            sent.append(run)

    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(report, worker) for worker in range(4)]
        try:
            for former, now in zip(all_names, all_names[1:]):
                rename(former, now)
        finally:
            is_over.set()
        for one in running:
            one.result()
    check_sums(db)
    assert fleet_tables.runs_by_repository(db, names[0]) == {all_names[-1]: len(sent)}

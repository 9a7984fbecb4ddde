"""How long runs are kept, and what they looked at."""

import secrets
import signal
from datetime import date, datetime, timezone

import pytest

from lib.check import fleet_sums
from lib.tables import common
from lib.tables import fleet as fleet_tables
from lib.wait import wait_for

OLD = datetime(2019, 5, 17, 12, tzinfo=timezone.utc)


@pytest.fixture
def keep(cluster):
    """Let svc-fleet do now what it does each hour and each day."""

    def run():
        cluster["svc-fleet"][0].popen.send_signal(signal.SIGHUP)

    return run


def test_old_rejections_are_forgotten_and_the_choice_stays(cluster, user, agent):
    repo, paper = f"acme/{secrets.token_hex(4)}", f"2201.{secrets.randbelow(100000):05}"
    rejected = [{"arxiv_id": f"2202.{secrets.randbelow(100000):05}", "reason": "too broad"}]
    key = agent(repo, of=user.api)
    for number in (1, 2):
        key.post("/fleet/runs", {"run_id": number, "repo": repo, "status": "skipped_old", "arxiv_id": paper, "selection_rejected": rejected}, expect=201)
    with cluster.postgres.connect("fleet") as db:
        fleet_tables.age_candidates(db, user.account, repo, 1, days=801)
        fleet_tables.age_candidates(db, user.account, repo, 2, days=799)
        wait_for(lambda: fleet_tables.forget_rejections(db, 800) == 0, "the old ones are forgotten")
        assert sorted(fleet_tables.considered(db, user.account)) == sorted([(1, paper), (2, paper), (2, rejected[0]["arxiv_id"])])


def test_details_of_old_months_are_dropped_whole(cluster):
    with cluster.postgres.connect("fleet") as db:
        fleet_tables.make_month(db, date(2018, 5, 1))
        assert fleet_tables.has_month(db, "201805")
        wait_for(lambda: fleet_tables.drop_details(db, 400) is not None and not fleet_tables.has_month(db, "201805"), "the month is dropped")
        fleet_tables.drop_runs_of(db, "201805")


@pytest.mark.parametrize("has_month", [True, False])
def test_old_runs_go_with_all_that_is_of_them(cluster, db, user, agent, keep, has_month):
    repo = f"acme/{secrets.token_hex(4)}"
    key = agent(repo, of=user.api)
    members = {"repo": repo, "status": "pr_opened", "agent": "agent_one", "cost_usd": 2, "refine_queries": ["a"],
               "arxiv_id": "2201.00001", "artifact_url": f"https://github.com/{repo}/pull/"}
    for number in (1, 2):
        key.post("/fleet/runs", {**members, "run_id": number, "artifact_url": members["artifact_url"] + str(number)}, expect=201)
    assert set(fleet_tables.rows_of_run(db, user.account).values()) == {2, 1, 0}
    if has_month:
        fleet_tables.make_month(db, OLD.date())
    fleet_tables.age_run(db, user.account, repo, 1, OLD)
    shown = cluster.run("svc-fleet", "retention", "--show")
    assert [line.split()[3] for line in shown.splitlines() if line.split()[0] in ("run", "run_key")] == ["2019-05-17T12:00:00Z"] * 2
    keep()
    wait_for(lambda: len(user.api.get("/fleet/runs").json()) == 1, "the run is gone")
    keep()  # months may have been looked at before
    wait_for(lambda: not fleet_tables.has_runs_of(db, "201905"), "its month is dropped")
    assert user.api.get("/fleet/runs").headers["X-Total-Count"] == "1"
    (left,) = user.api.get(f"/fleet/runs?repo={repo}&agent=agent_one").json()
    assert left["run_id"] == 2
    assert fleet_tables.rows_of_run(db, user.account) == {"run": 1, "run_key": 1, "run_detail": 1, "candidate": 1, "run_text": 0, "run_repo": 1,
                                                          "deliverable": 1, "run_day": 1}
    kpis = user.api.get("/fleet/agents/report").json()["kpis"]
    assert (kpis["runs"], kpis["cost_usd"]) == (1, 2)
    for sums in (fleet_sums.day_sums, fleet_sums.repo_sums, fleet_sums.agent_sums):
        kept, counted = sums(db)
        assert [row for row in kept if str(row[0]) == user.account] == [row for row in counted if str(row[0]) == user.account]
    key.post("/fleet/runs", {**members, "run_id": 1, "artifact_url": None}, expect=201)  # told once more, it is a new one


def test_old_facts_go_and_younger_stay(db, user, other_user, keep):
    fleet_tables.add_old_facts(db, other_user.account, days=30)
    fleet_tables.add_old_facts(db, user.account, days=1200)
    keep()
    wait_for(lambda: set(fleet_tables.old_facts(db, user.account).values()) == {0}, "they are gone")
    assert set(fleet_tables.old_facts(db, other_user.account).values()) == {1}


def test_a_locked_table_holds_up_no_other(db, user, keep):
    fleet_tables.add_old_facts(db, user.account, days=1200)
    with common.locked(db, "run_removed"):
        keep()
        wait_for(lambda: sum(fleet_tables.old_facts(db, user.account).values()) == 1, "the other tables shrink")
        assert fleet_tables.old_facts(db, user.account)["run_removed"] == 1
    keep()
    wait_for(lambda: fleet_tables.old_facts(db, user.account)["run_removed"] == 0, "the next pass deletes from it")

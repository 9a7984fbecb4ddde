"""What runs looked at is kept for a time; the runs stay."""

import secrets
from datetime import date

from lib.tables import fleet as fleet_tables
from lib.wait import wait_for


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
        fleet_tables.make_month(db, date(2019, 5, 1))
        assert fleet_tables.has_month(db, "201905")
        wait_for(lambda: fleet_tables.drop_details(db, 400) is not None and not fleet_tables.has_month(db, "201905"), "the month is dropped")
        fleet_tables.drop_runs_of(db, "201905")

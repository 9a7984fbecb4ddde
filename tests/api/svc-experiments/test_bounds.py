"""EXPERIMENTS_MAX: how many experiments an account may have, also when many are made at once."""

import uuid

import pytest

from lib.tables import experiments as experiments_tables

MAX = 100_000  # the default


def test_experiments_are_bounded(api, user, db, at_once):
    experiments_tables.count_more(db, user.account, MAX - 3)
    answers = at_once(9, lambda number: api.post("/experiments", {"name": f"{number}"}))
    assert sorted(answer.status_code for answer in answers) == [201] * 3 + [409] * 6
    document = api.problem("POST", "/experiments", 409, "conflict", {"name": "one more"})
    assert f"may have {MAX} experiments" in document["detail"]
    made = [answer.json()["id"] for answer in answers if answer.status_code == 201]
    api.put(f"/experiments/{made[0]}", {"outcome": "ship"}, expect=200)
    api.delete(f"/experiments/{made[0]}", expect=200)
    api.post("/experiments", {"name": "in its place"}, headers={"Idempotency-Key": str(uuid.uuid4())}, expect=201)
    api.problem("POST", "/experiments", 409, "conflict", {"name": "one more"})


def test_experiments_are_counted(api, user, db, at_once):
    answers = at_once(20, lambda number: api.post("/experiments", {"name": f"{number}"}, expect=201))
    assert experiments_tables.counted(db, user.account) == (20, 20)
    for answer in answers[:5]:
        api.delete(f"/experiments/{answer.json()['id']}", expect=200)
    api.post("/experiments", {"name": "refused", "project_id": str(uuid.uuid4())}, expect=400)
    assert experiments_tables.counted(db, user.account) == (15, 15)


def test_accounts_do_not_share_the_bound(api, user, other_user, db):
    experiments_tables.count_more(db, user.account, MAX)
    api.problem("POST", "/experiments", 409, "conflict", {"name": "one more"})
    other_user.api.post("/experiments", {"name": "first"}, expect=201)


def test_the_history_of_an_experiment_is_bounded(api, user, db):
    experiment = api.post("/experiments", {"name": "first"}, expect=201).json()["id"]
    experiments_tables.add_changes(db, experiment, 10_005)
    api.put(f"/experiments/{experiment}", {"name": "second", "decision": "go on"}, expect=200)
    assert experiments_tables.changes(db, experiment) == 10_000
    newest = api.get(f"/experiments/{experiment}", expect=200).json()["history"][:2]
    assert {change["field"] for change in newest} == {"name", "decision"}


@pytest.mark.parametrize("is_noted", [True, False], ids=["as now", "of an earlier version"])
def test_the_history_of_an_experiment_is_bounded_in_bytes(api, db, is_noted):
    experiment = api.post("/experiments", {"name": "first"}, expect=201).json()["id"]
    experiments_tables.add_long_changes(db, experiment, 200, 320_000, is_noted=is_noted)
    changed = api.put(f"/experiments/{experiment}", {"name": "second", "decision": "go on"}, expect=200).json()
    assert len(changed["history"]) == 2 + (4 << 20) // 320_166
    assert {change["field"] for change in changed["history"][:2]} == {"name", "decision"}
    assert len(experiments_tables.change_lengths(db, experiment)) == 102  # a hundred at a time
    api.put(f"/experiments/{experiment}", {"name": "third"}, expect=200)
    lengths = experiments_tables.change_lengths(db, experiment)
    assert lengths[3] == 320_006 and 50 < len(lengths) < 102 and (sum(lengths) < 16 << 20 or not is_noted)


@pytest.mark.parametrize("is_noted", [True, False], ids=["as now", "of an earlier version"])
def test_changes_that_are_not_shown_are_not_read(api, db, is_noted):
    experiment = api.post("/experiments", {"name": "first"}, expect=201).json()["id"]
    experiments_tables.add_long_changes(db, experiment, 400, 100_000, is_noted=is_noted)
    assert len(api.get(f"/experiments/{experiment}", expect=200).json()["history"]) == (4 << 20) // 100_166
    for reader in ("history", "decisions"):  # other tests' rows are on the pages too
        assert experiments_tables.bytes_read(db, reader, experiment) < 24 << 20


def test_reports_of_an_experiment_are_bounded(api, user, db):
    experiment = api.post("/experiments", {"name": "first"}, expect=201).json()["id"]
    report = f"/implement/experiments/{experiment}/report"
    api.post(report, {"status": "failed", "summary": "the first"}, expect=200)
    experiments_tables.add_reports(db, experiment, 1_005)
    experiments_tables.raise_attempts(db, experiment, 1_001)
    api.post(report, {"status": "running", "summary": "the last"}, expect=200)
    assert experiments_tables.reports(db, experiment) == (1_000, "the last")
    assert experiments_tables.first_attempt(db, experiment) == 1_001

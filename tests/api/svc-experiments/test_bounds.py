"""EXPERIMENTS_MAX: how many experiments an account may have, also when many are made at once."""

import uuid

MAX = 100_000  # the default


def counted(db, account):
    """The experiments that the service counts for the account, and those that there are."""
    db.commit()
    rows = "SELECT (SELECT coalesce(sum(experiments), 0) FROM experiment_count WHERE account_id = %(a)s)::int, count(*) FROM experiment"
    return db.execute(f"{rows} WHERE account_id = %(a)s", {"a": account}).fetchone()


def add(db, account, number):
    """Let the account have so many experiments more, as far as the bound is concerned."""
    db.execute("INSERT INTO experiment_count (account_id, part, experiments) VALUES (%s, 99, %s)", [account, number])
    db.commit()


def test_experiments_are_bounded(api, user, db, at_once):
    add(db, user.account, MAX - 3)
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
    assert counted(db, user.account) == (20, 20)
    for answer in answers[:5]:
        api.delete(f"/experiments/{answer.json()['id']}", expect=200)
    api.post("/experiments", {"name": "refused", "project_id": str(uuid.uuid4())}, expect=400)
    assert counted(db, user.account) == (15, 15)


def test_accounts_do_not_share_the_bound(api, user, other_user, db):
    add(db, user.account, MAX)
    api.problem("POST", "/experiments", 409, "conflict", {"name": "one more"})
    other_user.api.post("/experiments", {"name": "first"}, expect=201)

"""Interests and accounts that are deleted while a task works on them: no rows are left, and no task fails."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.tables import common
from lib.tables import interests as interests_tables
from lib.wait import wait_for

TABLES = ("pool_entry", "recommendation", "preference_model")


@pytest.fixture
def lock_row(cluster):
    """lock_row(interest): begin a transaction that locks the interest's row, so that no task on it can complete."""
    connections = []

    def hold(interest):
        connection = cluster.postgres.connect("interests")
        connections.append(connection)
        connection.autocommit = False
        interests_tables.lock_interest(connection, interest["id"])
        return connection

    yield hold
    for connection in connections:
        connection.close()


def start(api, made, work):
    """Start the work. Returns the id of its task."""
    history = f"/experiment-histories/{made['experiment_history_id']}/refit-preference-model"
    if work == "refresh":
        return api.post("/papers/recommended/refresh", {"interest_id": made["id"]}, expect=202).json()["task_id"]
    return api.post(history, expect=202).json()["task_id"]


@pytest.fixture
def made(interests):
    """An interest with feedback."""
    interest = interests.ready(daily_count=4)
    interests.refresh(interest)
    for one in interests.recommended(interest):
        interests.feedback(one, "like")
    return interest


@pytest.mark.parametrize(
    ("work", "message"), [("refresh", "0 recommendations for 0 interests"), ("refit", "the interest was deleted")]
)
def test_interest_deleted_during_a_task(api, db, made, lock_row, work, message):
    holder = lock_row(made)
    task = start(api, made, work)
    common.wait_blocked(db, "interests")
    interests_tables.drop_interest(holder, made["id"])
    holder.commit()
    assert common.wait_ended(db, task) == ("completed", message)
    assert common.tables_with(db, TABLES, interest_id=made["id"]) == []


@pytest.mark.parametrize("work", ["refresh", "refit"])
def test_account_deleted_during_a_task(api, db, interests, other_interests, made, account, lock_row, work):
    holder = lock_row(made)
    start(api, made, work)
    common.wait_blocked(db, "interests")
    api.post("/account/delete", {"confirm": True}, expect=200)
    wait_for(lambda: common.blocked(db, "interests", "account_forget"), "the deletion waits for the lock")
    holder.rollback()

    def left():
        return common.tables_with(db, ("interest", "recommendation", "task"), account_id=account)

    wait_for(lambda: not left(), "no row of the account is left")
    theirs = other_interests.ready()
    other_interests.refresh(theirs)
    assert left() == []


def test_account_deletion_does_not_deadlock(api, db, made, account, lock_row):
    """A transaction that locks an interest can start a task for it while the account is deleted."""
    holder = lock_row(made)
    api.post("/account/delete", {"confirm": True}, expect=200)
    common.wait_blocked(db, "interests")
    common.start_task(holder, "pool_build", account, interest_id=made["id"])
    holder.commit()
    wait_for(lambda: common.tables_with(db, ("interest", "task"), account_id=account) == [], "no row of the account is left")


def test_what_waits_for_the_deletion_of_its_account_is_refused(cluster, api, db, made, account):
    late = {"name": "late", "context": "late"}
    with cluster.postgres.connect("interests") as deletion, ThreadPoolExecutor() as pool:
        deletion.autocommit = False
        common.forget_account(deletion, account)
        refused = pool.submit(api.problem, "POST", "/interests", 400, "invalid_request", late)
        common.wait_blocked(db, "interests")
        deletion.commit()
        refused.result()
    assert common.tables_with(db, ["interest"], account_id=account) == []


def test_interest_deleted_while_its_pool_is_built(cluster, api, interests, db):
    (search,) = cluster["svc-search"]
    search.pause()
    try:
        made = interests.create()
        (task,) = (one.id for one in common.tasks(db, "pool_build", interest_id=made["id"]))
        wait_for(lambda: common.task_status(db, task) == "running", "the task runs")
        api.delete(f"/interests/{made['id']}", expect=200)
    finally:
        search.resume()
    status, message = common.wait_ended(db, task)
    assert status == "completed" and "deleted" in message

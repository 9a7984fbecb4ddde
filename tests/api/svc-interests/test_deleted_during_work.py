"""Interests and accounts that are deleted while a task works on them: no rows are left, and no task fails."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.wait import wait_for

TABLES = ("interest", "pool_entry", "recommendation", "feedback", "preference_model")


@pytest.fixture
def lock_row(cluster):
    """lock_row(interest): begin a transaction that locks the interest's row, so that no task on it can complete."""
    connections = []

    def hold(interest):
        connection = cluster.postgres.connect("interests")
        connections.append(connection)
        connection.autocommit = False
        connection.execute("SELECT FROM interest WHERE id = %s FOR UPDATE", [interest["id"]])
        return connection

    yield hold
    for connection in connections:
        connection.close()


def wait_blocked(db):
    """Wait until a statement of the service waits for a lock."""
    waiting = "SELECT FROM pg_stat_activity WHERE usename = 'expops_interests' AND wait_event_type = 'Lock'"
    wait_for(lambda: db.execute(waiting).fetchone() is not None, "a statement waits for the lock")


def task_of(db, task):
    return db.execute("SELECT status, message FROM task WHERE id = %s", [task]).fetchone()


def wait_ended(db, task):
    return wait_for(lambda: (row := task_of(db, task)) and row[0] not in ("pending", "running") and row, "task ended")


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
    wait_blocked(db)
    holder.execute("DELETE FROM interest WHERE id = %s", [made["id"]])
    holder.commit()
    assert wait_ended(db, task) == ("completed", message)
    for table in TABLES[1:]:
        if table != "feedback":
            assert db.execute(f"SELECT FROM {table} WHERE interest_id = %s", [made["id"]]).fetchone() is None


@pytest.mark.parametrize("work", ["refresh", "refit"])
def test_account_deleted_during_a_task(api, db, interests, other_interests, made, account, lock_row, work):
    holder = lock_row(made)
    start(api, made, work)
    wait_blocked(db)
    api.post("/account/delete", {"confirm": True}, expect=200)
    deleting = "SELECT FROM pg_stat_activity WHERE query ILIKE '%account_forget%' AND wait_event_type = 'Lock'"
    wait_for(lambda: db.execute(deleting).fetchone() is not None, "the deletion waits for the lock")
    holder.rollback()

    def left():
        return [table for table in ("interest", "recommendation", "task")
                if db.execute(f"SELECT FROM {table} WHERE account_id = %s", [account]).fetchone() is not None]

    wait_for(lambda: not left(), "no row of the account is left")
    theirs = other_interests.ready()
    other_interests.refresh(theirs)
    assert left() == []


def test_account_deletion_does_not_deadlock(api, db, made, account, lock_row):
    """A transaction that locks an interest can start a task for it while the account is deleted."""
    holder = lock_row(made)
    api.post("/account/delete", {"confirm": True}, expect=200)
    wait_blocked(db)
    holder.execute("SELECT task_start('pool_build', %s, jsonb_build_object('interest_id', %s::text))", [account, made["id"]])
    holder.commit()
    tables = ("interest", "task")
    wait_for(
        lambda: not any(db.execute(f"SELECT FROM {table} WHERE account_id = %s", [account]).fetchone() for table in tables),
        "no row of the account is left",
    )


def test_what_waits_for_the_deletion_of_its_account_is_refused(cluster, api, db, made, account):
    late = {"name": "late", "context": "late"}
    with cluster.postgres.connect("interests") as deletion, ThreadPoolExecutor() as pool:
        deletion.autocommit = False
        deletion.execute("SELECT account_forget(%s)", [account])
        refused = pool.submit(api.problem, "POST", "/interests", 400, "invalid_request", late)
        wait_blocked(db)
        deletion.commit()
        refused.result()
    assert db.execute("SELECT FROM interest WHERE account_id = %s", [account]).fetchone() is None


def test_interest_deleted_while_its_pool_is_built(cluster, api, interests, db):
    (search,) = cluster["svc-search"]
    search.pause()
    try:
        made = interests.create()
        (task,) = db.execute("SELECT id FROM task WHERE input ->> 'interest_id' = %s", [made["id"]]).fetchone()
        wait_for(lambda: task_of(db, task)[0] == "running", "the task runs")
        api.delete(f"/interests/{made['id']}", expect=200)
    finally:
        search.resume()
    status, message = wait_ended(db, task)
    assert status == "completed" and "deleted" in message

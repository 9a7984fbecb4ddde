"""The daily run: once a day, by one replica, for every account's active interests."""

import pytest

from lib.wait import wait_for

NAME = "svc-interests"


@pytest.fixture
def eager_replicas(cluster):
    """Two more replicas, which check every 50 ms whether the daily run is due; stopped after the test."""
    count = len(cluster[NAME])
    for _ in range(2):
        cluster.add(NAME, DAILY_CHECK="50ms").wait_ready()
    yield
    cluster.retire(NAME, count)


def forget_today(db):
    """Delete the row of the day, so that the run is due. Returns the ids of the former tasks. (Their times would not do: the
    transaction of the next run may have begun before this one, and have waited for it.)"""
    return db.execute(
        "WITH deleted AS (DELETE FROM daily_run) SELECT coalesce(array_agg(id), '{}') FROM task"
    ).fetchone()[0]


def runs(db):
    return db.execute("SELECT day = (now() AT TIME ZONE 'UTC')::date, tasks FROM daily_run").fetchall()


def tasks_without(db, former):
    return db.execute(
        "SELECT account_id, status FROM task WHERE kind = 'recommendations_refresh_all' AND id <> ALL (%s)", [former]
    ).fetchall()


def refresh_status(db, interest):
    """Start a refresh and wait for its end. Returns its status."""
    (task,) = db.execute(
        "SELECT (task_start('recommendations_refresh', account_id, jsonb_build_object('interest_id', id))).id "
        "FROM interest WHERE id = %s",
        [interest["id"]],
    ).fetchone()

    def ended():
        (status,) = db.execute("SELECT status FROM task WHERE id = %s", [task]).fetchone()
        return status if status not in ("pending", "running") else None

    return wait_for(ended, "the refresh has ended")


def all_completed(db, former, count):
    tasks = tasks_without(db, former)
    return len(tasks) >= count and all(status == "completed" for _, status in tasks)


def test_daily_run_refreshes_every_active_interest_once(db, interests, other_interests, eager_replicas):
    first, second = interests.ready(daily_count=2), interests.ready(daily_count=3)
    inactive = interests.ready(is_active=False)
    theirs = other_interests.ready(daily_count=4)
    former = forget_today(db)
    wait_for(lambda: runs(db), "the daily run has started")
    ((is_today, count),) = runs(db)
    assert is_today
    active = db.execute("SELECT count(DISTINCT account_id) FROM interest WHERE is_active").fetchone()[0]
    assert count == active >= 2
    wait_for(lambda: all_completed(db, former, count), "the tasks of the daily run have ended")
    accounts = [account for account, _ in tasks_without(db, former)]
    assert len(accounts) == len(set(accounts)) == count
    for one, made in ((interests, first), (interests, second), (other_interests, theirs)):
        assert len(one.recommended(made)) == made["daily_count"]
    assert interests.recommended(inactive) == []


def test_missed_run_is_made_at_the_next_start(cluster, db, interests):
    made = interests.ready(daily_count=2)
    forget_today(db)
    assert runs(db) == []
    cluster.restart(NAME)
    cluster.wait_ready(NAME)
    wait_for(lambda: len(interests.recommended(made)) == 2, "the missed run is made")
    cluster.restart(NAME)
    cluster.wait_ready(NAME)
    assert len(runs(db)) == 1
    assert len(interests.recommended(made)) == 2


def test_interests_of_a_deleted_account_do_not_stop_the_run(db, interests, other_interests, eager_replicas):
    interest, theirs = interests.ready(), other_interests.ready()
    db.execute("INSERT INTO deleted_account (id) SELECT account_id FROM interest WHERE id = %s", [theirs["id"]])
    former = forget_today(db)
    wait_for(lambda: runs(db), "the daily run has started")
    accounts = {account for account, _ in tasks_without(db, former)}
    found = dict(db.execute("SELECT id::text, account_id FROM interest WHERE id IN (%s, %s)", [interest["id"], theirs["id"]]).fetchall())
    assert found[interest["id"]] in accounts
    assert found[theirs["id"]] not in accounts


def test_no_run_before_the_hour(cluster, db, interests):
    """The row of a day is not inserted before DAILY_HOUR."""
    hour = db.execute("SELECT extract(hour FROM now() AT TIME ZONE 'UTC')::int").fetchone()[0]
    if hour >= 22:
        pytest.skip("no later hour is left today")
    made = interests.ready()
    count = len(cluster[NAME])
    cluster.stop(NAME)
    cluster.add(NAME, DAILY_CHECK="50ms", DAILY_HOUR=str(hour + 2)).wait_ready()
    try:
        forget_today(db)
        for _ in range(3):
            assert refresh_status(db, made) == "completed"
        assert runs(db) == []
    finally:
        cluster.retire(NAME, count)
        cluster.recover()
    wait_for(lambda: runs(db), "the other replicas make the run")

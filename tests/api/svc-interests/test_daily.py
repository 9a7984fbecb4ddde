"""The daily run: once a day, for every account's active interests, after the papers of the night or at REFRESH_LATEST."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from lib.tables import common
from lib.tables import interests as interests_tables
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


def tasks_without(db, former):
    """[(account, status)]"""
    return [(task.account_id, task.status) for task in common.tasks(db, "recommendations_refresh_all") if task.id not in former]


def refresh_status(db, interest):
    """Start a refresh and wait for its end. Returns its status."""
    account = interests_tables.account_of(db, interest["id"])
    return common.wait_ended(db, common.start_task(db, "recommendations_refresh", account, interest_id=interest["id"]))[0]


def all_completed(db, former, count):
    tasks = tasks_without(db, former)
    return len(tasks) >= count and all(status == "completed" for _, status in tasks)


def test_daily_run_refreshes_every_active_interest_once(db, interests, other_interests, eager_replicas):
    first, second = interests.ready(daily_count=2), interests.ready(daily_count=3)
    inactive = interests.ready(is_active=False)
    theirs = other_interests.ready(daily_count=4)
    former = interests_tables.forget_daily_run(db)
    wait_for(lambda: interests_tables.daily_runs(db), "the daily run has started")
    ((is_today, count),) = interests_tables.daily_runs(db)
    assert is_today
    assert count == interests_tables.active_accounts(db) >= 2
    wait_for(lambda: all_completed(db, former, count), "the tasks of the daily run have ended")
    accounts = [account for account, _ in tasks_without(db, former)]
    assert len(accounts) == len(set(accounts)) == count
    for one, made in ((interests, first), (interests, second), (other_interests, theirs)):
        assert len(one.recommended(made)) == made["daily_count"]
    assert interests.recommended(inactive) == []


def test_the_messages_of_a_run_are_sent_together(db, other_interests, eager_replicas):
    """Nobody waits for them, and to send each for itself costs the relay and its readers as much as to send all."""
    account = interests_tables.account_of(db, [other_interests.ready(daily_count=1) for _ in range(5)][0]["id"])
    before = len(common.sent_batches(db, account, "message"))
    former = interests_tables.forget_daily_run(db)
    wait_for(lambda: interests_tables.daily_runs(db), "the daily run has started")
    wait_for(lambda: all_completed(db, former, 1), "the tasks of the daily run have ended")
    batches = wait_for(lambda: common.sent_batches(db, account, "message"), "the messages are sent")
    assert len(batches) - before < 5 <= sum(batches)


def test_missed_run_is_made_at_the_next_start(cluster, db, interests):
    made = interests.ready(daily_count=2)
    interests_tables.forget_daily_run(db)
    assert interests_tables.daily_runs(db) == []
    cluster.restart(NAME)
    cluster.wait_ready(NAME)
    wait_for(lambda: len(interests.recommended(made)) == 2, "the missed run is made")
    cluster.restart(NAME)
    cluster.wait_ready(NAME)
    assert len(interests_tables.daily_runs(db)) == 1
    assert len(interests.recommended(made)) == 2


def test_interests_of_a_deleted_account_do_not_stop_the_run(db, interests, other_interests, eager_replicas):
    interest, theirs = interests.ready(), other_interests.ready()
    account, deleted = (interests_tables.account_of(db, one["id"]) for one in (interest, theirs))
    common.note_deleted(db, deleted)
    former = interests_tables.forget_daily_run(db)
    wait_for(lambda: interests_tables.daily_runs(db), "the daily run has started")
    accounts = {owner for owner, _ in tasks_without(db, former)}
    assert account in accounts
    assert deleted not in accounts


@pytest.fixture
def late_replica(cluster, db):
    """late_replica(REFRESH_LATEST): the only replica, before any run of today."""
    count = len(cluster[NAME])

    def start(latest):
        cluster.stop(NAME)
        interests_tables.forget_daily_run(db)
        cluster.add(NAME, DAILY_CHECK="50ms", REFRESH_LATEST=latest).wait_ready()

    yield start
    cluster.retire(NAME, count)
    cluster.recover()


def later(hours):
    """A time of today (UTC) that comes in so many hours."""
    at = datetime.now(UTC) + timedelta(hours=hours)
    if at.date() != datetime.now(UTC).date():
        pytest.skip("no later hour is left today")
    return at.strftime("%H:%M")


def harvested(emit, **data):
    day = datetime.now(UTC).date()
    told = {"source": "arxiv", "set": "cs", "added": 3, "changed": 0, "day": str(day), "is_day_complete": True, **data}
    emit("events.assets", "harvest.finished", "", told)


def test_no_run_before_the_latest_time_without_papers(db, interests, emit, late_replica):
    """What is told of another source, of a part of the sets, and of another day makes no run."""
    made = interests.ready()
    late_replica(later(2))
    harvested(emit, source="biorxiv")
    harvested(emit, is_day_complete=False)
    harvested(emit, day=str(datetime.now(UTC).date() - timedelta(days=1)))
    for _ in range(3):
        assert refresh_status(db, made) == "completed"
    assert interests_tables.daily_runs(db) == []


def test_the_run_follows_the_harvest(db, interests, emit, late_replica):
    made = interests.ready(daily_count=2)
    late_replica(later(1))
    harvested(emit, set="stat")
    harvested(emit)
    wait_for(lambda: interests_tables.daily_runs(db), "the run has begun")
    wait_for(lambda: interests_tables.count_recommendations(db, made["id"]) == 2, "the interest is refreshed")
    assert len(interests_tables.daily_runs(db)) == 1


def test_the_latest_time_is_of_its_zone(db, late_replica):
    """Clocks ten hours behind UTC, at a time that came an hour ago."""
    at = datetime.now(UTC) - timedelta(hours=1)
    if at.date() != datetime.now(UTC).date():
        pytest.skip("too early today")
    late_replica((at - timedelta(hours=10)).strftime("%H:%M") + " Pacific/Honolulu")
    wait_for(lambda: interests_tables.daily_runs(db), "the run is made")


def test_a_run_goes_on_where_a_process_stopped(cluster, db, interests, other_interests):
    """The first account has its task already."""
    first, second = interests.ready(daily_count=2), other_interests.ready(daily_count=2)
    owners = {one["id"]: interests_tables.account_of(db, one["id"]) for one in (first, second)}
    done, left = (first, second) if owners[first["id"]] < owners[second["id"]] else (second, first)
    steps = {first["id"]: interests, second["id"]: other_interests}
    interests_tables.stop_daily_run_at(db, owners[done["id"]])
    cluster.restart(NAME)
    cluster.wait_ready(NAME)
    wait_for(lambda: len(steps[left["id"]].recommended(left)) == 2, "the other account is refreshed")
    ((_, tasks),) = interests_tables.daily_runs(db)
    assert tasks >= 2
    assert steps[done["id"]].recommended(done) == []


def test_the_end_of_an_account_is_told(cluster, db, interests, eager_replicas):
    made = interests.ready(daily_count=2)
    account = str(interests_tables.account_of(db, made["id"]))
    interests_tables.forget_daily_run(db)
    redis = cluster.redis.client()

    def told():
        rows = [fields for _, fields in redis.xrange("events.interests") if fields["account"] == account]
        return {fields["id"]: json.loads(fields["data"]) for fields in rows if fields["type"] == "day.refreshed"}

    wait_for(told, "the event")
    (data,) = told().values()
    assert data["day"] == str(datetime.now(UTC).date())
    assert data["interests"] >= 1
    assert data["recommended"] >= 2


def test_a_new_interest_does_not_wait_for_the_run(interests):
    made = interests.wait_pool(interests.create(daily_count=2))
    wait_for(lambda: len(interests.recommended(made)) == 2, "the first recommendations")

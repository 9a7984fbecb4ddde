"""The deletion of a large account has the account's lock for minutes: work on many accounts leaves it out and goes on."""

import secrets

import pytest

from lib.tables import common
from lib.tables import interests as interests_tables
from lib.wait import wait_for

NAME = "svc-interests"


@pytest.fixture
def eager(cluster, papers):
    """A replica that looks every 50 ms for what is due; stopped after the test."""
    count = len(cluster[NAME])
    cluster.add(NAME, DAILY_CHECK="50ms", SCHEDULE_CHECK="50ms", WORKFLOW_CHECK="50ms").wait_ready()
    yield
    cluster.retire(NAME, count)


@pytest.fixture
def deletion(cluster):
    """A connection whose transaction is rolled back."""
    with cluster.postgres.connect("interests") as connection:
        connection.autocommit = False
        yield connection
        connection.rollback()


@pytest.fixture
def deleted(interests):
    """An interest of the account that is deleted."""
    return interests.ready()["id"]


@pytest.fixture
def other(other_interests):
    """An interest of another account."""
    return other_interests.ready()["id"]


@pytest.fixture
def agents(db, deleted, other):
    """Both interests have an agent."""
    repo = f"acme-{secrets.token_hex(4)}/ranker"
    for interest in (deleted, other):
        interests_tables.add_agent(db, interest, repo)
    yield
    interests_tables.drop_agents(db, repo)


def test_the_daily_run(db, eager, deletion, deleted, other):
    accounts = [interests_tables.account_of(db, interest) for interest in (deleted, other)]
    common.begin_deletion(deletion, accounts[0])
    before = {task.id for task in common.tasks(db, "recommendations_refresh_all")}
    interests_tables.forget_daily_run(db)
    started = lambda: {t.account_id for t in common.tasks(db, "recommendations_refresh_all") if t.id not in before}  # noqa: E731
    wait_for(lambda: accounts[1] in started(), "the other account has its task")
    assert accounts[0] not in started()


def test_schedules(db, eager, deletion, deleted, other, agents):
    common.begin_deletion(deletion, interests_tables.account_of(db, deleted))
    for interest in (deleted, other):
        interests_tables.scheduled_time_comes(db, interest)
    wait_for(lambda: common.tasks(db, "scheduled_run", interest_id=other), "the other agent is started")
    assert not common.tasks(db, "scheduled_run", interest_id=deleted)


def test_renewals(db, eager, deletion, deleted, other, agents):
    common.begin_deletion(deletion, interests_tables.account_of(db, deleted))
    for interest in (deleted, other):
        interests_tables.outdate_workflow(db, interest)
    wait_for(lambda: interests_tables.renewals_started(db, other), "the other workflow is renewed")
    assert not interests_tables.renewals_started(db, deleted)


def test_digests(db, deletion, deleted, other):
    accounts = [interests_tables.account_of(db, interest) for interest in (deleted, other)]
    for account in accounts:
        interests_tables.add_waiting_digest(db, account)
    common.begin_deletion(deletion, accounts[0])
    for account in accounts:
        interests_tables.age_waiting_digests(db, account, 3)
    wait_for(lambda: not interests_tables.waiting_digests(db, accounts[1]), "the other digest is started")
    assert interests_tables.waiting_digests(db, accounts[0]) == 1


def test_another_embedder(db, deletion, deleted, other):
    refits = lambda interest: common.tasks(db, "preference_model_refit", interest_id=interest, is_follow=True)  # noqa: E731
    common.begin_deletion(deletion, interests_tables.account_of(db, deleted))
    for interest in (deleted, other):
        interests_tables.set_embedder(db, interest, "former")
    wait_for(lambda: refits(other), "the other model is fitted again")
    assert not refits(deleted)

"""Accounts share the workers: one that starts much does not delay the others."""

import pytest

from lib.tables import common
from lib.tables import interests as interests_tables
from lib.wait import wait_for

SLOTS = 2 * 4  # of two replicas
MANY = 600     # more than two replicas do while three other tasks run


@pytest.fixture
def queue(db):
    """Start `count` different refreshes of an interest; what still waits is deleted after the test."""
    accounts = set()

    def start(interest, count, kind="recommendations_refresh"):
        account = interests_tables.queue(db, kind, interest["id"], count)
        accounts.add(account)
        return account

    yield start
    common.drop_waiting_tasks(db, accounts)


def test_many_refreshes_do_not_delay_another_account(second, db, interests, queue, other_interests):
    mine, busy = interests.ready(daily_count=1), other_interests.ready(daily_count=1)
    account = queue(busy, MANY)
    wait_for(lambda: common.waiting_tasks(db, account) < MANY - SLOTS, "the workers are busy")
    for number in range(1, 4):
        task = interests.refresh(mine, num_results=number)
        assert task["status"] == "completed"
        assert interests_tables.started_while_waiting(db, account, task["task_id"]) <= SLOTS
    assert common.waiting_tasks(db, account) > 0


def test_an_equal_task_that_waits_is_returned(api, interests, queue):
    made = interests.ready(daily_count=1)
    queue(made, 500)
    path, body = "/papers/recommended/refresh", {"interest_id": made["id"], "num_results": 7}
    first = api.post(path, body, expect=202).json()
    assert api.post(path, body, expect=202).json() == first
    assert api.post(path, {**body, "num_results": 8}, expect=202).json()["task_id"] != first["task_id"]


@pytest.fixture
def lower_pending_max(db):
    """lower_pending_max(limit): lower TASKS_PENDING_MAX, as the processes have stored it. They store their setting again."""
    before = interests_tables.pending_max(db)
    yield lambda limit: interests_tables.set_pending_max(db, limit)
    interests_tables.set_pending_max(db, before)


def test_waiting_tasks_of_an_account_are_bounded(api, interests, queue, other_interests, lower_pending_max):
    made, other = interests.ready(), other_interests.ready()
    queue(made, 20, kind="of_a_newer_release")

    def refusal():
        lower_pending_max(20)
        answer = api.post("/papers/recommended/refresh", {"interest_id": made["id"]})
        return answer.status_code == 409 and answer.json()["detail"]

    assert "too many tasks of this account are waiting" in wait_for(refusal, "a refresh is refused")
    assert other_interests.refresh(other)["status"] == "completed"

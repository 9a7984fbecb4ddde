"""The limit of waiting tasks of an account, which task_put() mostly checks without counting them."""

import itertools
import uuid
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

LIMIT = 100
KIND = "of_a_newer_release"  # no process runs it
PUT = "SELECT (task_put(%s, %s, jsonb_build_object('n', %s::text), NULL, %s)).id"
INSERT = """SELECT count(*) FROM (SELECT array_agg(uuid_v7()), array_agg(jsonb_build_object('n', n)), array_agg(NULL::text)
            FROM unnest(%s::text[]) AS n) AS a (ids, inputs, requests), task_insert(a.ids, %s, %s, a.inputs, a.requests, %s)"""
WAITING = "SELECT count(*) FROM task WHERE account_id = %s AND status = 'pending'"


class Account:
    """An account without interests, whose tasks wait."""

    numbers = itertools.count()

    def __init__(self):
        self.id = uuid.uuid4()

    def put(self, db, count, limit=LIMIT):
        for _ in range(count):
            db.execute(PUT, [KIND, self.id, next(self.numbers), limit])

    def put_together(self, db, count, limit=LIMIT):
        numbers = [str(next(self.numbers)) for _ in range(count)]
        assert db.execute(INSERT, [numbers, KIND, self.id, limit]).fetchone()[0] == count

    def put_until_refused(self, db, limit=LIMIT):
        """How many the account may start."""
        for number in range(2 * limit):
            try:
                self.put(db, 1, limit)
            except psycopg.errors.UniqueViolation as error:
                assert error.diag.constraint_name == "task_pending_max"
                return number
        raise AssertionError("not refused")

    def waiting(self, db):
        return db.execute(WAITING, [self.id]).fetchone()[0]

    def noted(self, db):
        return db.execute("SELECT waiting FROM account_guard WHERE id = %s", [self.id]).fetchone()[0]


@pytest.fixture
def account(db):
    """Make an account; what is left of it is deleted after the test."""
    made = []

    def make():
        made.append(Account())
        return made[-1]

    yield make
    accounts = [one.id for one in made]
    db.execute("DELETE FROM task WHERE account_id = ANY (%s)", [accounts])
    db.execute("DELETE FROM account_guard WHERE id = ANY (%s)", [accounts])


def test_an_account_reaches_its_limit_and_another_does_not(db, account):
    busy, other = account(), account()
    assert busy.put_until_refused(db) == LIMIT
    assert busy.noted(db) is not None
    assert other.put_until_refused(db) == LIMIT
    assert busy.put_until_refused(db) == 0


@pytest.mark.parametrize("size", [2, 7, 33])
def test_tasks_that_are_put_together_reach_the_limit(db, account, size):
    busy = account()
    for _ in range(LIMIT // size):
        busy.put_together(db, size)
    assert busy.noted(db) is not None
    with pytest.raises(psycopg.errors.UniqueViolation) as refused:
        busy.put_together(db, LIMIT % size + 1)
    assert refused.value.diag.constraint_name == "task_pending_max"
    assert busy.waiting(db) == LIMIT // size * size
    assert busy.put_until_refused(db) == LIMIT % size


def test_tasks_that_are_put_together_have_consecutive_turns(db, account):
    busy = account()
    busy.put_together(db, 3)
    busy.put(db, 1)
    busy.put_together(db, 2)
    turns = [turn for (turn,) in db.execute("SELECT turn FROM task WHERE account_id = %s ORDER BY id", [busy.id])]
    assert turns == list(range(turns[0], turns[0] + 6))


def test_an_equal_task_is_not_refused(db, account):
    busy = account()
    busy.put_until_refused(db)
    (first,) = db.execute("SELECT id FROM task WHERE account_id = %s ORDER BY id LIMIT 1", [busy.id]).fetchone()
    number = db.execute("SELECT input->>'n' FROM task WHERE id = %s", [first]).fetchone()[0]
    assert db.execute(PUT, [KIND, busy.id, number, LIMIT]).fetchone()[0] == first


def test_background_tasks_count(db, account):
    busy = account()
    busy.put(db, 40)
    assert busy.noted(db) is not None
    busy.put(db, LIMIT - 45, limit=None)
    assert busy.put_until_refused(db) == 5


def test_claimed_tasks_make_room(db, account):
    busy = account()
    busy.put_until_refused(db)
    db.execute(
        "UPDATE task SET status = 'cancelled', turn = NULL, finished_at = now() WHERE id IN "
        "(SELECT id FROM task WHERE account_id = %s LIMIT 30)",
        [busy.id],
    )
    assert busy.put_until_refused(db) == 30


def test_tasks_that_were_rolled_back_do_not_count(db, account):
    busy = account()
    busy.put(db, 20)
    with db.transaction(force_rollback=True):
        busy.put(db, 60)
        assert busy.noted(db) is not None
    assert busy.noted(db) is None
    assert busy.put_until_refused(db) == LIMIT - 20


def test_a_raised_limit_is_exact(db, account):
    """A count that ended at the former limit says nothing about the tasks beyond it."""
    busy = account()
    busy.put(db, LIMIT + 50, limit=None)
    number = db.execute("SELECT max((input->>'n')::int) FROM task WHERE account_id = %s", [busy.id]).fetchone()[0]
    db.execute(PUT, [KIND, busy.id, number, LIMIT])
    assert busy.put_until_refused(db, limit=LIMIT + 60) == 10
    assert busy.put_until_refused(db) == 0


def test_a_restored_sequence_does_not_raise_the_limit(db, account):
    """Numbers that begin anew are below those that were noted."""
    busy = account()
    busy.put(db, 40)
    db.execute("UPDATE account_guard SET waiting_put = waiting_put + 1000000 WHERE id = %s", [busy.id])
    assert busy.put_until_refused(db) == LIMIT - 40


def test_nobody_waits_for_a_count(db, cluster, account):
    busy, other = account(), account()
    busy.put(db, 35)
    before = busy.noted(db)
    db.execute("UPDATE account_guard SET waiting = NULL WHERE id = %s", [busy.id])
    with cluster.postgres.connect("interests") as second, db.transaction():
        second.execute("SET lock_timeout = '1s'")
        busy.put(db, 1)
        assert busy.noted(db) > before
        busy.put(second, 5)
        other.put(second, 40)
        assert busy.noted(second) is None
    assert busy.waiting(db) == 41


def test_tasks_put_at_the_same_time(db, cluster, account):
    """Each connection can put one that the others do not see yet."""
    busy, connections = account(), 4

    def run(_):
        with cluster.postgres.connect("interests") as connection:
            return busy.put_until_refused(connection)

    with ThreadPoolExecutor(connections) as pool:
        started = sum(pool.map(run, range(connections)))
    assert started == busy.waiting(db)
    assert LIMIT <= started < LIMIT + connections

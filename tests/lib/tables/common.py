"""What every service has: tasks, the events that it sends, the accounts that it has forgotten; and what waits for a lock."""

import json
from contextlib import contextmanager
from datetime import timedelta

from psycopg.rows import namedtuple_row

from lib.wait import wait_for

# Upgrades


def functions_version(db, owner):
    return db.execute("SELECT version FROM functions WHERE owner = %s", [owner]).fetchone()[0]


def let_functions_be_older(db, owner):
    """The functions of the schema are those of an earlier version, as far as it knows."""
    db.execute("UPDATE functions SET version = version - 1 WHERE owner = %s", [owner])


# Fills


@contextmanager
def unfilled(db, holder, name, hold, forget):
    """As after the migration that made the fill: forget(db) deletes what it fills in, while hold(holder), on another connection, locks rows
    of its first batch, so that it gets nowhere. At the end it has been done."""
    with holder.transaction():
        hold(holder)
        with db.transaction():
            forget(db)
            db.execute("UPDATE fill SET cursor = 'ffffffff-ffff-ffff-ffff-ffffffffffff', rows = 0, finished_at = NULL WHERE name = %s", [name])
        yield
        assert not is_filled(db, name)
    wait_for(lambda: is_filled(db, name), f"the fill {name} is finished")


def is_filled(db, name):
    return db.execute("SELECT finished_at IS NOT NULL FROM fill WHERE name = %s", [name]).fetchone()[0]


# Tasks


def tasks(db, kind, **members):
    """The tasks of a kind whose input has these members."""
    with db.cursor(row_factory=namedtuple_row) as cursor:
        return cursor.execute(
            "SELECT id, account_id, status, message, error, request_id, input FROM task WHERE kind = %s AND input @> %s ORDER BY id",
            [kind, json.dumps(members)],
        ).fetchall()


def task_status(db, task):
    """That of a task which the service has started itself: the API does not show it."""
    return db.execute("SELECT status FROM task WHERE id = %s", [task]).fetchone()[0]


def wait_ended(db, task):
    """Wait until a task has ended. Returns (status, message)."""
    ended = "SELECT status, message FROM task WHERE id = %s AND status NOT IN ('pending', 'running')"
    return wait_for(lambda: db.execute(ended, [task]).fetchone(), "the task has ended")


def start_task(db, kind, account, **members):
    """Start a task as a handler does, with the account's lock. Returns its id."""
    return db.execute("SELECT (task_start(%s, %s, %s)).id", [kind, account, json.dumps(members)]).fetchone()[0]


def end_last_attempt(connection, task):
    """The last attempt of a task has failed, in the connection's transaction."""
    connection.execute("UPDATE task SET status = 'failed', error = 'x', turn = NULL, finished_at = now() WHERE id = %s", [task])


def was_tried(db, task):
    """Whether a task has ended, or an attempt to run it."""
    return db.execute("SELECT attempts > 0 AND status <> 'running' FROM task WHERE id = %s", [task]).fetchone()[0]


def end_lease(db, task):
    """The process that runs a task has not renewed its lease for too long."""
    assert db.execute("UPDATE task SET lease_until = now() WHERE id = %s AND status = 'running'", [task]).rowcount == 1


def fail_task(db, task, error):
    """A task has failed for good, whatever became of it."""
    db.execute("UPDATE task SET status = 'failed', attempts = attempts_max, result = NULL, error = %s WHERE id = %s", [error, task])


def refuse_task(db, task):
    """A task has failed by what its caller did wrong."""
    db.execute("UPDATE task SET is_refused = true WHERE id = %s", [task])


def drop_task(db, task):
    db.execute("DELETE FROM task WHERE id = %s", [task])


def account_of(db, task):
    return str(db.execute("SELECT account_id FROM task WHERE id = %s", [task]).fetchone()[0])


def add_failed_tasks(db, kind, count, error):
    """Tasks of a kind that no process runs, which have failed for good."""
    db.execute("INSERT INTO task (kind, status, error, attempts, started_at, finished_at)"
               " SELECT %s, 'failed', %s, 5, now(), now() FROM generate_series(1, %s)", [kind, error, count])


def add_completed_task(db, kind, waited_seconds=0):
    """A task that has ended now, after it had waited."""
    db.execute("INSERT INTO task (kind, status, created_at, started_at, finished_at)"
               " VALUES (%s, 'completed', now() - %s * interval '1 second', now(), now())", [kind, waited_seconds])


def add_completed_tasks(db, kind, count):
    db.execute("INSERT INTO task (kind, status, started_at, finished_at)"
               " SELECT %s, 'completed', now(), now() FROM generate_series(1, %s)", [kind, count])


def add_late_task(db, kind, hours):
    """A task of a kind that no process runs, which waits that long."""
    db.execute("INSERT INTO task (kind, turn, created_at) VALUES (%s, 0, now() - %s * interval '1 hour')", [kind, hours])


def next_attempt_s(db, kind, **members):
    """In how many seconds the task of a kind whose input has these members is tried next; None: it was not tried, or is over."""
    query = ("SELECT extract(epoch FROM run_after - now()) FROM task"
             " WHERE kind = %s AND input @> %s AND status = 'pending' AND attempts > 0")
    row = db.execute(query, [kind, json.dumps(members)]).fetchone()
    return row and row[0]


def add_delayed_task(db, kind):
    """A task of a kind that no process runs, whose next attempt is in an hour."""
    db.execute("INSERT INTO task (kind, run_after) VALUES (%s, now() + interval '1 hour')", [kind])


def drop_tasks(db, kind):
    db.execute("DELETE FROM task WHERE kind = %s", [kind])


def waiting_tasks(db, account):
    return db.execute("SELECT count(*) FROM task WHERE account_id = %s AND status = 'pending'", [account]).fetchone()[0]


def drop_waiting_tasks(db, accounts):
    db.execute("DELETE FROM task WHERE status = 'pending' AND account_id = ANY (%s)", [list(accounts)])


# Events


def outbox(db, **members):
    """The events that the service sends whose data have these members."""
    with db.cursor(row_factory=namedtuple_row) as cursor:
        return cursor.execute("SELECT event_id, type, data, request_id FROM outbox WHERE data @> %s ORDER BY id",
                              [json.dumps(members)]).fetchall()


def drop_from_outbox(db, **members):
    """The one event whose data have these members has left the outbox. Returns its id."""
    (event,) = db.execute("DELETE FROM outbox WHERE data @> %s RETURNING event_id", [json.dumps(members)]).fetchone()
    return event


def forget_settled(db, stream):
    """The notes of the events that were handled are lost, as when a process ends before it stores its position. Whether there were any."""
    return db.execute("DELETE FROM event_settled WHERE stream = %s", [stream]).rowcount > 0


def has_read(db, stream, entry):
    """Whether the service has read the entry of a stream, and handled, parked or given it up."""
    row = db.execute("SELECT entry_id FROM event_position WHERE stream = %s", [stream]).fetchone()
    number = lambda id: [int(part) for part in id.split("-")]  # noqa: E731
    return row is not None and number(row[0]) >= number(entry)


def park(db, stream, entry, kind, account):
    """An event of an account is tried again in an hour, and those behind it wait."""
    db.execute(
        "INSERT INTO event_parked (stream, entry_id, account, event_id, type, at, data, request_id, lane, next_try)"
        " VALUES (%s, %s, %s, '', %s, '2026-01-31T09:30:00.000Z', '{}', '', %s, now() + interval '1 hour')",
        [stream, entry, account, kind, account])


def parked(db, entry):
    """How often the entry of a stream is parked."""
    return db.execute("SELECT count(*) FROM event_parked WHERE entry_id = %s", [entry]).fetchone()[0]


def drop_parked(db, entry):
    db.execute("DELETE FROM event_parked WHERE entry_id = %s", [entry])


# Accounts


def note_deleted(db, account):
    """The service has received the deletion of an account; its rows are still there."""
    db.execute("INSERT INTO deleted_account (id) VALUES (%s)", [account])


def is_noted_deleted(db, account):
    return db.execute("SELECT FROM deleted_account WHERE id = %s", [account]).rowcount == 1


def begin_deletion(connection, account):
    """The connection's transaction begins to delete the account's rows: it has the account's lock, and comes to the rows later."""
    connection.execute("SELECT account_lock(%s, true)", [account])


def forget_account(connection, account):
    """Delete an account's rows in the connection's transaction, as the service does when it hears that the account was deleted."""
    connection.execute("SELECT account_forget(%s)", [account])


@contextmanager
def longer_reservation(db, account):
    """What the account has reserved by an Idempotency-Key ends no earlier than this block."""
    (until,) = db.execute("SELECT reserved_until FROM idempotency WHERE account_id = %s", [account]).fetchone()
    extend = "UPDATE idempotency SET reserved_until = %s WHERE account_id = %s"
    db.execute(extend, [until + timedelta(hours=1), account])
    yield
    db.execute(extend, [until, account])


# Rows of any table


def tables_with(db, tables, **columns):
    """Those of the tables that have a row whose column has a value, such as account_id."""
    ((column, value),) = columns.items()
    return [table for table in tables if db.execute(f"SELECT FROM {table} WHERE {column} = %s LIMIT 1", [value]).rowcount]


def rows_as_text(db, table, **columns):
    """All that a table has, or that the rows have whose columns have these values. A test looks for a secret in it."""
    where = "".join(f" AND {name} = %s" for name in columns)
    found = [text for (text,) in db.execute(f"SELECT t::text FROM {table} t WHERE true{where}", [*columns.values()])]
    assert found or not columns
    return "\n".join(found)


def plant_canary(db, text, octets):
    """A table of its own with what a search for secrets must find, as text and as bytes."""
    db.execute("CREATE TABLE canary AS SELECT %s::text AS plain, %s::bytea AS bytes", [text, octets])


def drop_canary(db):
    db.execute("DROP TABLE canary")


# Locks and notices


def blocked(db, service, words=""):
    """How many statements of svc-`service` that contain the words wait for a lock."""
    query = ("SELECT count(*) FROM pg_stat_activity"
             " WHERE usename = 'expops_' || %s AND wait_event_type = 'Lock' AND query ILIKE '%%' || %s || '%%'")
    return db.execute(query, [service, words]).fetchone()[0]


def blocked_for(db, service):
    """For how many milliseconds a statement of svc-`service` that waits for a lock runs; 0: none does."""
    query = ("SELECT coalesce(max(extract(epoch FROM clock_timestamp() - query_start) * 1000), 0) FROM pg_stat_activity"
             " WHERE usename = 'expops_' || %s AND wait_event_type = 'Lock'")
    return db.execute(query, [service]).fetchone()[0]


def blocked_by(db, holder):
    """How many connections wait for another one."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))"
    return db.execute(query, [holder.info.backend_pid]).fetchone()[0]


def wait_blocked(db, service):
    wait_for(lambda: blocked(db, service), "a statement waits for a lock")


def wait_unblocked(db, service):
    wait_for(lambda: not blocked(db, service), "no statement waits for a lock")


def collect_notices(db, level):
    """What Postgres says from now on about the connection's statements, from this level on: a list that grows."""
    notices = []
    db.add_notice_handler(lambda notice: notices.append(notice.message_primary))
    db.execute(f"SET client_min_messages = {level}")
    return notices


def nested_plans(db, query, *arguments):
    """The plans of the statements in the functions that a query calls, as EXPLAIN shows them."""
    db.execute("LOAD 'auto_explain'")
    db.execute("SET auto_explain.log_min_duration = 0")
    db.execute("SET auto_explain.log_nested_statements = on")
    notices = collect_notices(db, "log")
    db.execute(query, arguments)
    return notices


# The schema


def tables(db):
    """The names of the tables of the schema, without partitions."""
    return {name for (name,) in db.execute("SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
                                           " AND relkind IN ('r', 'p') AND NOT relispartition")}


def count(db, table):
    return db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


@contextmanager
def extra_table(db, name):
    """A table that no migration has made, while it lasts. Its owner is that of the others."""
    owner = db.execute("SELECT tableowner FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'migration'").fetchone()[0]
    db.execute(f"CREATE TABLE {name} (id int)")
    db.execute(f"ALTER TABLE {name} OWNER TO {owner}")
    try:
        yield
    finally:
        db.execute(f"DROP TABLE {name}")


# The audit log


def send_again(db, account):
    """What a service has told the audit log of the account is sent once more, with the next that it sends."""
    assert db.execute("UPDATE outbox SET sent_at = NULL, sent_batch = NULL WHERE account_id = %s AND stream LIKE 'events.audit.%%'", [account]).rowcount


# Others


@contextmanager
def locked(db, table):
    """Nobody else reads the table, or writes it."""
    with db.transaction():
        db.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield


def unsent(db):
    """How many events wait to be sent."""
    return db.execute("SELECT count(*) FROM outbox WHERE sent_at IS NULL").fetchone()[0]


def sent_batches(db, account, event_type):
    """[how many events of the type] in each batch that was sent with one of the account; None: some wait to be sent."""
    rows = db.execute("SELECT sent_batch, count(*) FROM outbox WHERE account_id = %s AND type = %s GROUP BY sent_batch", [account, event_type]).fetchall()
    return None if any(batch is None for batch, _ in rows) else [count for _, count in rows]


def waiting_for_locks(db):
    """How many statements of others wait for a lock."""
    return db.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid <> pg_backend_pid()").fetchone()[0]

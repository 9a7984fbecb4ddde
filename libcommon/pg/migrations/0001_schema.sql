-- replaces: 0050_task_insert and 0001_base 0002_stream 0003_task 0004_idempotency 0005_account 0006_task_interruptions 0007_lease
-- replaces: 0009_row_locks 0016_task_queue 0017_event_consumer 0027_arxiv_id 0028_event_lane 0029_idempotency_reservation
-- replaces: 0040_event_settled 0041_uuid 0042_event_emit 0043_task_failed 0044_outbox_written 0045_task_announced
-- replaces: 0046_task_complete_all 0047_task_claim 0048_task_waiting 0049_task_valid
--
-- The tables that every service's schema has, beside those of migrate_run(). Objects are created in the schema of the service,
-- which is the search_path of migrations.

-- Version 7 UUID (RFC 9562, section 5.7): 48 bits of Unix milliseconds, then the fraction of the millisecond in 12 bits
-- (section 6.2, method 3), then 62 random bits. Ascending over the microseconds, like uuid_new() in C.
--
-- In PL/pgSQL: the plan of an SQL function with its own FROM is made anew for each call, which took longer than all else in an
-- INSERT of a small row.
CREATE FUNCTION uuid_v7() RETURNS uuid LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$
DECLARE
    us bigint := extract(epoch FROM clock_timestamp()) * 1000000;
BEGIN
    RETURN encode(overlay(uuid_send(gen_random_uuid())
        PLACING substring(int8send(us / 1000) FROM 3) || int2send((28672 + us % 1000 * 4096 / 1000)::smallint)
        FROM 1 FOR 8), 'hex')::uuid;
END $$;

-- ---- Accounts ----

-- Accounts that were deleted: a request that was under way then leaves nothing behind, and what streams tell later is
-- not kept.
--
-- A service that keeps what belongs to accounts sets account_required() or account_skipped() on the tables that rows may
-- still come to, and defines account_forget(account): that takes the account's lock alone, notes the deletion here, and
-- deletes what the service has of the account. Where nothing is kept, this stays empty.
CREATE TABLE deleted_account (
    id         uuid PRIMARY KEY,
    deleted_at timestamptz NOT NULL DEFAULT now()
);

-- One row for each account that anything was inserted for, kept when the account is deleted. It is locked (account_lock()): a
-- lock on a row belongs to this schema, an advisory lock to every role that may connect to the database.
--
--   waiting      tasks that waited for their first attempt when they were last counted (task_insert()); null: never
--   waiting_put  the number of the put that counted them
--   is_deleted   the account is in deleted_account
CREATE TABLE account_guard (
    id          uuid PRIMARY KEY,
    waiting     int,
    waiting_put bigint,
    is_deleted  boolean NOT NULL DEFAULT false
);

-- ---- Tasks ----

-- Asynchronous work: one row is one task, its state, its attempts and its outcome.
--
--   id             version 7
--   kind           which job runs it
--   account_id     whose it is; null: the service's own
--   status         pending -> running -> completed | failed | cancelled; running -> pending when an attempt failed or
--                  its worker died
--   progress       0 to 100
--   message        where it stands or how it ended, for people
--   input          an object
--   result         null until completed
--   error          why it failed; null unless it did
--   attempts       begun so far; the number of the running one is its claim: a later claim makes earlier workers' commits
--                  match no row
--   attempts_max   the task is failed after that many attempts that were not interrupted
--   lease_until    while running: when others may take it over
--   lease_owner    while running: the process that runs it
--   run_after      while pending: not before
--   request_id     of the request that started it; null: unknown
--   interruptions  of `attempts`, those that ended because a part of the system was unavailable, or concurrent work was in
--                  the way: a task may go on for a day in spite of them
--   turn           while pending: its place in the queue of its kind (task_turn()); null: not due yet, or not yet queued again
--   input_md5      of `input`, to find an equal task that waits for its first attempt
--
-- The rules are one constraint. Postgres parses and plans the text of each CHECK anew in each statement that writes rows: for
-- the twelve of this table that took a sixth of the statement that makes an interest and its task. A call of a function in
-- PL/pgSQL is short, and its plan is kept.
CREATE TABLE task (
    id            uuid PRIMARY KEY DEFAULT uuid_v7(),
    kind          text NOT NULL,
    account_id    uuid,
    status        text NOT NULL DEFAULT 'pending',
    progress      smallint NOT NULL DEFAULT 0,
    message       text,
    input         jsonb NOT NULL DEFAULT '{}',
    result        jsonb,
    error         text,
    attempts      int NOT NULL DEFAULT 0,
    attempts_max  int NOT NULL DEFAULT 5,
    lease_until   timestamptz,
    lease_owner   text,
    run_after     timestamptz NOT NULL DEFAULT now(),
    created_at    timestamptz NOT NULL DEFAULT now(),
    started_at    timestamptz,
    finished_at   timestamptz,
    request_id    text,
    interruptions int NOT NULL DEFAULT 0,
    turn          bigint,
    input_md5     uuid
);

CREATE FUNCTION task_is_valid(t task) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN t.kind <> ''
       AND t.status IN ('pending', 'running', 'completed', 'failed', 'cancelled')
       AND t.progress BETWEEN 0 AND 100
       AND jsonb_typeof(t.input) = 'object'
       AND (t.result IS NULL OR t.status = 'completed')
       AND (t.error IS NULL OR t.status = 'failed')
       AND t.attempts >= 0 AND t.attempts_max > 0
       AND t.interruptions BETWEEN 0 AND t.attempts
       AND (t.status = 'running') = (t.lease_until IS NOT NULL)
       AND (t.status = 'running') = (t.lease_owner IS NOT NULL)
       AND (t.status IN ('completed', 'failed', 'cancelled')) = (t.finished_at IS NOT NULL);
END $$;

ALTER TABLE task ADD CONSTRAINT task_valid CHECK (task_is_valid(task)) NOT VALID;

CREATE INDEX task_queued ON task (kind, turn, id) WHERE status = 'pending' AND turn IS NOT NULL;
CREATE INDEX task_last_turn ON task (kind, coalesce(account_id, '00000000-0000-0000-0000-000000000000'), turn)
    WHERE status = 'pending' AND turn IS NOT NULL;
CREATE INDEX task_delayed ON task (run_after) WHERE status = 'pending' AND turn IS NULL;
CREATE UNIQUE INDEX task_equal ON task (account_id, kind, input_md5) NULLS NOT DISTINCT
    WHERE status = 'pending' AND attempts = 0 AND input_md5 IS NOT NULL;
CREATE INDEX task_running ON task (lease_until) WHERE status = 'running';
CREATE INDEX task_account ON task (account_id, kind, created_at DESC);
CREATE INDEX task_finished ON task (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX task_failed ON task (finished_at) WHERE status = 'failed';

-- Drawn by every put of a task (task_insert()).
CREATE SEQUENCE task_put_number;

-- One row. pending_max: tasks of one account that may wait for their first attempt; the processes write it from their
-- setting.
CREATE TABLE task_limit (
    is_only     boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    pending_max int NOT NULL CHECK (pending_max > 0)
);

INSERT INTO task_limit (pending_max) VALUES (5000);

-- Who does a work alone at present: the relay, the reconciler, the consumer of a stream (task/lease.h). No lock or
-- transaction stays open meanwhile, so a process that vanishes or is stopped blocks the others until `until` only.
--
--   name    `outbox`, `reconcile`, `events.experiments`
--   owner   the process that holds it; '': none did yet
--   until   when others may take it
--   fence   rises whenever the owner changes: what a former owner sends late has a lower one and is refused
CREATE TABLE lease (
    name  text PRIMARY KEY CHECK (octet_length(name) <= 200),
    owner text NOT NULL DEFAULT '',
    until timestamptz NOT NULL DEFAULT 'epoch',
    fence bigint NOT NULL DEFAULT 0
);

-- ---- Events ----

-- What goes to Redis Streams, written in the transaction that changes state.
--
--   id          ascending; the order of sending is the order of id among what is committed
--   event_id    the event's id: the same however often it is sent
--   stream      `events.experiments`
--   type        `experiment.updated`
--   account_id  null: nobody's
--   data        an object
--   request_id  of the request that caused it; null: unknown
--   created_at  also the `at` of the event
--   sent_at     null: the relay has not sent it yet
--   sent_batch  number of the batch that it was sent with; Redis holds the newest one's beside the streams. Where Redis
--               knows of an older one than this table, it has lost what came behind
--   lane        a reader handles the events of a lane in their order, and one that fails delays only those behind it in its
--               lane; null: the account is the lane. Events that concern no single account, such as what a repository's webhook
--               tells, wait for each other by a lane of their own
--
-- Rows are kept for some days after they were sent, so that they can be sent again when Redis has lost them.
CREATE TABLE outbox (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id   uuid NOT NULL DEFAULT uuid_v7() UNIQUE,
    stream     text NOT NULL CHECK (stream <> ''),
    type       text NOT NULL CHECK (type <> ''),
    account_id uuid,
    data       jsonb NOT NULL CHECK (jsonb_typeof(data) = 'object'),
    request_id text,
    created_at timestamptz NOT NULL DEFAULT now(),
    sent_at    timestamptz,
    sent_batch bigint,
    lane       text CHECK (octet_length(lane) BETWEEN 1 AND 300)
);

CREATE INDEX outbox_unsent ON outbox (id) WHERE sent_at IS NULL;
CREATE INDEX outbox_sent ON outbox (sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX outbox_sent_batch ON outbox (sent_batch) WHERE sent_batch IS NOT NULL;

CREATE SEQUENCE outbox_batch;

-- Events whose effect is in this schema already (event_is_new() in task.h).
CREATE TABLE event_seen (
    event_id uuid PRIMARY KEY,
    seen_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX event_seen_at ON event_seen (seen_at);

-- Events of the streams that this service reads which were handled or parked. Without it they would all be handled
-- again when the writer sends them again, which after the loss of Redis' data it does with those of two days, before new ones.
--
--   event_hash  of the event's id: the first half of its SHA-256
CREATE TABLE event_settled (
    stream     text NOT NULL CHECK (octet_length(stream) <= 200),
    event_hash uuid NOT NULL,
    settled_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (stream, event_hash)
);

CREATE INDEX event_settled_at ON event_settled (settled_at);

-- How far this service has come with each event stream that it reads. It is kept beside the effects of the events, not in
-- Redis: when this database is restored to an earlier point, the events since are read again.
--
--   entry_id  the newest entry that was handled, parked or given up
CREATE TABLE event_position (
    stream   text PRIMARY KEY CHECK (octet_length(stream) <= 200),
    entry_id text NOT NULL CHECK (octet_length(entry_id) <= 41),
    at       timestamptz NOT NULL DEFAULT now()
);

-- Events that could not be handled yet, and later events of the same lanes. They are tried again apart from the stream, a
-- lane's in the order of `id`.
--
--   account     UUID text; '': nobody's
--   failures    of the oldest of a lane: how often it failed by itself; an unavailable part of the system does not count
--   next_try    not before
--   error       of the last try; null: it was never tried
--   lane        as in the outbox, or the account; '': those of neither
CREATE TABLE event_parked (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stream     text NOT NULL CHECK (octet_length(stream) <= 200),
    entry_id   text NOT NULL CHECK (octet_length(entry_id) <= 41),
    account    text NOT NULL CHECK (octet_length(account) <= 36),
    event_id   text NOT NULL,
    type       text NOT NULL,
    at         text NOT NULL,
    data       text NOT NULL,
    request_id text NOT NULL,
    failures   int NOT NULL DEFAULT 0,
    next_try   timestamptz NOT NULL,
    error      text,
    parked_at  timestamptz NOT NULL DEFAULT now(),
    lane       text NOT NULL CHECK (octet_length(lane) <= 300),
    UNIQUE (stream, entry_id)
);

CREATE INDEX event_parked_order ON event_parked (stream, lane, id);

-- ---- Requests with an Idempotency-Key ----

-- First answers to requests with an Idempotency-Key, for 24 hours (idempotency.h). Operations that call outside services have
-- no transaction open meanwhile: they reserve their record, and complete it with the answer.
--
--   operation       the operationId; the same key may be used once for each
--   key_hash        SHA-256 of the key: its text is not kept
--   body_hash       SHA-256 over operation, path and body
--   answer          status, fields and body, sealed under a key made from the Idempotency-Key's text; null: the request still
--                   runs, or its process has died
--   owner           of the reservation; null: it is complete
--   reserved_until  when another request may take the reservation over
CREATE TABLE idempotency (
    account_id     uuid NOT NULL,
    operation      text NOT NULL,
    key_hash       bytea NOT NULL CHECK (length(key_hash) = 32),
    body_hash      bytea NOT NULL CHECK (length(body_hash) = 32),
    answer         bytea,
    created_at     timestamptz NOT NULL DEFAULT now(),
    owner          uuid,
    reserved_until timestamptz,
    PRIMARY KEY (account_id, operation, key_hash),
    CONSTRAINT idempotency_state CHECK ((answer IS NULL) = (owner IS NOT NULL) AND (owner IS NULL) = (reserved_until IS NULL))
);

CREATE INDEX idempotency_created_at ON idempotency (created_at);

-- The requests with an Idempotency-Key that are under way; no row is ever committed.
CREATE TABLE idempotency_running (
    claim bigint PRIMARY KEY
);

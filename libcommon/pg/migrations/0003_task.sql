-- Asynchronous work: one row is one task, its state, its attempts and its outcome.
--
--   id            version 7
--   kind          which job runs it
--   account_id    whose it is; null: the service's own
--   status        pending -> running -> completed | failed | cancelled; running -> pending when an attempt failed or
--                 its worker died
--   progress      0 to 100
--   message       where it stands or how it ended, for people
--   input         an object
--   result        null until completed
--   error         why it failed; null unless it did
--   attempts      begun so far; the number of the running one is its claim: a later claim makes earlier workers' commits
--                 match no row
--   attempts_max  after that many it is failed
--   lease_until   while running: when others may take it over
--   lease_owner   while running: the process that runs it
--   run_after     while pending: not before
--   request_id    of the request that started it; null: unknown
CREATE TABLE task (
    id           uuid PRIMARY KEY DEFAULT uuid_v7(),
    kind         text NOT NULL CHECK (kind <> ''),
    account_id   uuid,
    status       text NOT NULL DEFAULT 'pending'
                 CHECK (status IN ('pending', 'running', 'completed', 'failed', 'cancelled')),
    progress     smallint NOT NULL DEFAULT 0 CHECK (progress BETWEEN 0 AND 100),
    message      text,
    input        jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(input) = 'object'),
    result       jsonb CHECK (result IS NULL OR status = 'completed'),
    error        text CHECK (error IS NULL OR status = 'failed'),
    attempts     int NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    attempts_max int NOT NULL DEFAULT 5 CHECK (attempts_max > 0),
    lease_until  timestamptz,
    lease_owner  text,
    run_after    timestamptz NOT NULL DEFAULT now(),
    created_at   timestamptz NOT NULL DEFAULT now(),
    started_at   timestamptz,
    finished_at  timestamptz,
    request_id   text,
    CHECK ((status = 'running') = (lease_until IS NOT NULL)),
    CHECK ((status = 'running') = (lease_owner IS NOT NULL)),
    CHECK ((status IN ('completed', 'failed', 'cancelled')) = (finished_at IS NOT NULL))
);

CREATE INDEX task_pending ON task (run_after) WHERE status = 'pending';
CREATE INDEX task_running ON task (lease_until) WHERE status = 'running';
CREATE INDEX task_account ON task (account_id, kind, created_at DESC);
CREATE INDEX task_finished ON task (finished_at) WHERE finished_at IS NOT NULL;

-- Queue a task and what tells the workers of it.
CREATE FUNCTION task_start(kind text, account uuid, input jsonb, request_id text DEFAULT NULL)
RETURNS task LANGUAGE sql VOLATILE
BEGIN ATOMIC
    WITH made AS (
        INSERT INTO task (kind, account_id, input, request_id)
        VALUES ($1, $2, coalesce($3, '{}'), coalesce($4, request_id_now()))
        RETURNING *
    ), note AS (
        INSERT INTO outbox (stream, type, account_id, data, request_id)
        SELECT 'jobs', made.kind, made.account_id, jsonb_build_object('task', made.id), made.request_id FROM made
    )
    SELECT * FROM made;
END;

-- A task as the API shows it.
CREATE FUNCTION task_json(t task) RETURNS json LANGUAGE sql STABLE PARALLEL SAFE
RETURN json_build_object(
    'task_id', t.id,
    'kind', t.kind,
    'status', t.status,
    'progress', t.progress,
    'message', t.message,
    'result', t.result,
    'error', t.error,
    'attempts', t.attempts,
    'created_at', time_json(t.created_at),
    'started_at', time_json(t.started_at),
    'finished_at', time_json(t.finished_at)
);

-- Fair sharing of the workers between accounts, by start-time fair queueing (Goyal, Vin and Cheng, 1996): each task that
-- is queued gets a turn, and the lowest turn is claimed first. An account's next task gets the turn after its last one;
-- an account that has none gets the turn that is claimed now. So each account has its next task within one turn of the
-- front, however many others are queued, and a claim reads only the front of an index.
--
--   turn       while pending: its place in the queue of its kind; null: not due yet, or not yet queued again
--   input_md5  of `input`, to find an equal task that waits for its first attempt; null: older than this column
ALTER TABLE task ADD COLUMN turn bigint, ADD COLUMN input_md5 uuid;

DROP INDEX task_pending;
CREATE INDEX task_queued ON task (kind, turn, id) WHERE status = 'pending' AND turn IS NOT NULL;
CREATE INDEX task_last_turn ON task (kind, coalesce(account_id, '00000000-0000-0000-0000-000000000000'), turn)
    WHERE status = 'pending' AND turn IS NOT NULL;
CREATE INDEX task_delayed ON task (run_after) WHERE status = 'pending' AND turn IS NULL;
CREATE UNIQUE INDEX task_equal ON task (account_id, kind, input_md5) NULLS NOT DISTINCT
    WHERE status = 'pending' AND attempts = 0 AND input_md5 IS NOT NULL;

-- One row. pending_max: tasks of one account that may wait for their first attempt; the processes write it from their
-- setting.
CREATE TABLE task_limit (
    is_only     boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    pending_max int NOT NULL CHECK (pending_max > 0)
);

INSERT INTO task_limit (pending_max) VALUES (5000);

-- The turn of a task of the account that is queued now.
CREATE FUNCTION task_turn(kind text, account uuid) RETURNS bigint LANGUAGE sql VOLATILE
RETURN greatest(
    (SELECT max(t.turn) + 1 FROM task t
     WHERE t.kind = $1 AND coalesce(t.account_id, '00000000-0000-0000-0000-000000000000')
           = coalesce($2, '00000000-0000-0000-0000-000000000000') AND t.status = 'pending' AND t.turn IS NOT NULL),
    (SELECT min(t.turn) FROM task t WHERE t.kind = $1 AND t.status = 'pending' AND t.turn IS NOT NULL),
    0);

CREATE FUNCTION task_refuse() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RAISE unique_violation USING MESSAGE = 'too many tasks of the account are pending', CONSTRAINT = 'task_pending_max';
END $$;

-- Queue a task and its entry, or return the equal one (same account, kind and input) that waits for its first attempt.
-- With `pending_max`, violates the constraint task_pending_max when so many of the account wait.
CREATE FUNCTION task_put(kind text, account uuid, input jsonb, request_id text, pending_max int)
RETURNS task LANGUAGE sql VOLATILE
BEGIN ATOMIC
    WITH wanted AS MATERIALIZED (
        SELECT uuid_v7() AS id, coalesce($3, '{}') AS input, md5(coalesce($3, '{}')::text)::uuid AS input_md5,
               coalesce($4, request_id_now()) AS request_id
    ), made AS (
        INSERT INTO task (id, kind, account_id, input, input_md5, request_id, turn)
        SELECT w.id, $1, $2, w.input, w.input_md5, w.request_id, task_turn($1, $2) FROM wanted w
        WHERE CASE
            WHEN $5 IS NULL THEN true
            WHEN EXISTS (SELECT FROM task t
                         WHERE t.account_id = $2 AND t.kind = $1 AND t.input_md5 = w.input_md5 AND t.status = 'pending'
                           AND t.attempts = 0) THEN true
            WHEN (SELECT count(*) FROM (SELECT FROM task t
                                        WHERE t.account_id = $2 AND t.status = 'pending' AND t.attempts = 0
                                          AND t.input_md5 IS NOT NULL LIMIT $5) AS waiting) < $5 THEN true
            ELSE task_refuse() END
        ON CONFLICT (account_id, kind, input_md5) WHERE status = 'pending' AND attempts = 0 AND input_md5 IS NOT NULL
        DO UPDATE SET turn = task.turn
        RETURNING *
    ), entry AS (
        INSERT INTO outbox (stream, type, account_id, data, request_id)
        SELECT 'jobs', made.kind, made.account_id, jsonb_build_object('task', made.id), made.request_id
        FROM made JOIN wanted ON made.id = wanted.id
    )
    SELECT * FROM made;
END;

-- Start a task for a request. Background work, which must not stop at the bound of one account, calls task_put().
CREATE OR REPLACE FUNCTION task_start(kind text, account uuid, input jsonb, request_id text DEFAULT NULL)
RETURNS task LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT (put).* FROM (SELECT task_put($1, $2, $3, $4, (SELECT l.pending_max FROM task_limit l)) AS put OFFSET 0) AS made;
END;

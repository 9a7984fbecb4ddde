-- Tasks: enqueue, claim, complete, show (task/task.h).

-- The turn of a task of the account that is queued now. Fair sharing of the workers between accounts, by start-time fair queueing
-- (Goyal, Vin and Cheng, 1996): each task that is queued gets a turn, and the lowest turn is claimed first. An account's next task
-- gets the turn after its last one; an account that has none gets the turn that is claimed now. So each account has its next task
-- within one turn of the front, however many others are queued, and a claim reads only the front of an index.
--
-- With ORDER BY and LIMIT, and without sequential scans, each look reads one row of an index, also when the statistics say that the
-- table is as good as empty; max() and min() read all tasks that wait then.
CREATE OR REPLACE FUNCTION task_turn(kind text, account uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off AS $$
BEGIN
    RETURN coalesce(
        (SELECT t.turn + 1 FROM task t
         WHERE t.kind = $1 AND coalesce(t.account_id, '00000000-0000-0000-0000-000000000000')
               = coalesce($2, '00000000-0000-0000-0000-000000000000') AND t.status = 'pending' AND t.turn IS NOT NULL
         ORDER BY t.turn DESC LIMIT 1),
        (SELECT t.turn FROM task t WHERE t.kind = $1 AND t.status = 'pending' AND t.turn IS NOT NULL ORDER BY t.turn LIMIT 1),
        0);
END $$;

-- Queue tasks with these ids, or return the equal ones (same account, kind and input) that wait for their first attempt. The inputs
-- must differ from each other. With `pending_max`, violates the constraint task_pending_max when so many of the account wait.
--
-- The limit needs no count of the waiting tasks for each put. Every task draws a number. A put that counts the waiting tasks of its
-- account notes the result and its number; until that count and the numbers drawn since, by any account, reach the limit, the
-- account cannot have reached it either. A number whose put was rolled back, or returned an equal task, only brings the next count
-- forward, as do tasks that have been claimed since. A count does not see what other transactions have not committed: an account
-- can exceed the limit by the tasks of those that run at the same time.
--
-- The number is drawn before the count: what others put and commit in between may be counted twice, but is never missed. The tasks
-- of the call are not counted, so the count is noted with the first of its numbers. A count that stopped at the limit is not noted,
-- because the limit may be raised. Few tasks are counted faster than noted. Nobody waits for the row of account_guard: who does not
-- get its lock leaves it as it is.
--
-- The statement that calls it also calls task_notify(), once for all of its tasks.
CREATE OR REPLACE FUNCTION task_insert(new_ids uuid[], kind text, account uuid, inputs jsonb[], request_ids text[], pending_max int)
RETURNS SETOF task LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    added   int := cardinality($1);
    put     bigint := nextval('task_put_number');
    counted int;
BEGIN
    FOR i IN 2..added LOOP
        PERFORM nextval('task_put_number');
    END LOOP;
    IF $6 IS NOT NULL AND NOT EXISTS (SELECT FROM account_guard g WHERE g.id = $3 AND g.waiting_put < put
                                        AND g.waiting + put - g.waiting_put + added - 1 < $6) THEN
        counted := (SELECT count(*) FROM (SELECT FROM task t WHERE t.account_id = $3 AND t.status = 'pending' AND t.attempts = 0
                                            AND t.input_md5 IS NOT NULL LIMIT $6) AS of_account);
        IF counted + added <= $6 THEN
            IF counted >= 32 THEN
                UPDATE account_guard g SET waiting = counted, waiting_put = put
                FROM (SELECT id FROM account_guard WHERE id = $3 FOR NO KEY UPDATE SKIP LOCKED) AS free WHERE g.id = free.id;
            END IF;
        ELSIF EXISTS (SELECT FROM unnest($4) AS i (input)
                      WHERE NOT EXISTS (SELECT FROM task t WHERE t.account_id = $3 AND t.kind = $2 AND t.input_md5 = md5(i.input::text)::uuid
                                          AND t.status = 'pending' AND t.attempts = 0)) THEN
            RAISE unique_violation USING MESSAGE = 'too many tasks of the account are pending', CONSTRAINT = 'task_pending_max';
        END IF;
    END IF;
    RETURN QUERY
    INSERT INTO task (id, kind, account_id, input, input_md5, request_id, turn)
    SELECT w.id, $2, $3, w.input, md5(w.input::text)::uuid, coalesce(w.request_id, request_id_now()), first.turn + w.n - 1
    FROM task_turn($2, $3) AS first (turn), unnest($1, $4, $5) WITH ORDINALITY AS w (id, input, request_id, n)
    ON CONFLICT (account_id, kind, input_md5) WHERE status = 'pending' AND attempts = 0 AND input_md5 IS NOT NULL
    DO UPDATE SET turn = task.turn
    RETURNING *;
END $$;

-- Notify the client that tasks wait; it wakes a worker after the commit (task/wake.h). A worker finds a task without that at its next
-- look.
CREATE OR REPLACE FUNCTION task_notify() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM client_notify('XO002', 'a task waits');
END $$;

-- Queue a task, or return the equal one, as task_insert() does, and notify the workers. For background work, which must not stop at the
-- bound of one account.
CREATE OR REPLACE FUNCTION task_put(kind text, account uuid, input jsonb, request_id text, pending_max int)
RETURNS task LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
DECLARE
    new_id uuid := uuid_v7();
    made   task;
BEGIN
    SELECT * INTO made FROM task_insert(ARRAY[new_id], $1, $2, ARRAY[coalesce($3, '{}')], ARRAY[$4], $5);
    IF made.id = new_id THEN
        PERFORM task_notify();
    END IF;
    RETURN made;
END $$;

-- Start a task for a request.
CREATE OR REPLACE FUNCTION task_start(kind text, account uuid, input jsonb, request_id text DEFAULT NULL)
RETURNS task LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
BEGIN
    RETURN task_put($1, $2, $3, $4, (SELECT l.pending_max FROM task_limit l));
END $$;

-- Claim up to `wanted` tasks of the kinds, each with the number of attempts that it has at most, for an owner.
--
-- Of each kind the first of the queue are candidates, more than are claimed, because others may be claiming some; those of the
-- accounts with the fewest running tasks come first, then the lowest turns: among the tasks of an account the running ones count
-- before its candidates. Tasks that another worker claims at the same time are skipped.
--
-- A claim need not be durable: when Postgres crashes and forgets it, the task is pending again, and what the owner then commits
-- for it matches no row or is the only outcome. So the commit does not wait for the disk.
--
-- The attempt's number and the lease owner identify the claim: once another worker has claimed the task, updates of the former
-- worker match no row.
--
-- The settings keep a plan that is made once and that looks up what it needs in an index, whatever the statistics say of a table
-- that is filled and emptied all the time.
CREATE OR REPLACE FUNCTION task_claim(kinds text[], kinds_attempts_max int[], owner text, lease_ms float8, wanted int)
RETURNS TABLE (id uuid, kind text, attempts int, interruptions int, account_id uuid, input jsonb, request_id text)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    RETURN QUERY
    WITH waiting AS (
        SELECT front.id, runnable.attempts_max, front.account_id, front.turn - min(front.turn) OVER (PARTITION BY runnable.kind) AS distance
        FROM unnest(kinds, kinds_attempts_max) AS runnable (kind, attempts_max)
        CROSS JOIN LATERAL (SELECT t.id, t.account_id, t.turn FROM task t
            WHERE t.kind = runnable.kind AND t.status = 'pending' AND t.turn IS NOT NULL
            ORDER BY t.turn, t.id LIMIT 64 + 2 * wanted) AS front
    ), ranked AS MATERIALIZED (
        SELECT seen.id, seen.attempts_max, seen.distance,
            row_number() OVER (PARTITION BY seen.account_id ORDER BY seen.distance, seen.id) AS share
        FROM (SELECT w.id, w.attempts_max, w.account_id, w.distance FROM waiting w
            UNION ALL SELECT NULL, NULL, t.account_id, -1 FROM task t WHERE t.status = 'running') AS seen
    ), chosen AS MATERIALIZED (
        SELECT locked.id, first.attempts_max
        FROM (SELECT * FROM ranked r WHERE r.id IS NOT NULL ORDER BY r.share, r.distance, r.id) AS first
        CROSS JOIN LATERAL (SELECT t.id FROM task t WHERE t.id = first.id AND t.turn IS NOT NULL FOR UPDATE SKIP LOCKED) AS locked
        LIMIT wanted
    )
    UPDATE task t SET status = 'running', turn = NULL, attempts = t.attempts + 1, attempts_max = chosen.attempts_max,
        lease_owner = owner, lease_until = clock_timestamp() + make_interval(secs => lease_ms / 1000),
        started_at = coalesce(t.started_at, now()), message = NULL
    FROM chosen WHERE t.id = chosen.id
    RETURNING t.id, t.kind, t.attempts, t.interruptions, t.account_id, t.input, t.request_id;
END $$;

-- Complete tasks of one owner, of which each has its attempt, result and message (task/job_run.h): all, or none. One statement
-- for many, since most of the cost of an update of `task` is the same for any number of rows: its constraints and the conditions
-- of its indexes are read anew. A lost claim is an error, so that the caller can send its COMMIT behind this without waiting.
--
-- The settings keep the plan at one lookup of the primary key for each task, also when the statistics say that the table is
-- as good as empty. A task has a lease_owner only while it runs: with a condition on `status`, Postgres would read all that run.
CREATE OR REPLACE FUNCTION task_complete_all(ids uuid[], attempt_numbers int[], owner text, results jsonb[], messages text[])
RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $$
DECLARE
    completed int;
BEGIN
    UPDATE task t SET status = 'completed', progress = 100, result = ended.result, message = ended.message,
        lease_owner = NULL, lease_until = NULL, finished_at = now()
    FROM (SELECT * FROM unnest(ids, attempt_numbers, results, messages) AS e (id, attempt, result, message) ORDER BY id) AS ended
    WHERE t.id = ended.id AND t.attempts = ended.attempt AND t.lease_owner = owner;
    GET DIAGNOSTICS completed = ROW_COUNT;
    IF completed <> cardinality(ids) THEN
        RAISE 'another worker has taken a task over' USING ERRCODE = 'XO003';
    END IF;
END $$;

-- A task as the API shows it.
CREATE OR REPLACE FUNCTION task_json(t task) RETURNS json LANGUAGE sql STABLE PARALLEL SAFE
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

-- Tasks that failed by no mistake of who asked for them (task/dead.h), newest first: of a kind, with these ids, with an error that
-- contains `part` in any case, of an account; null: any.
CREATE OR REPLACE FUNCTION task_dead(kind text, ids uuid[], part text, account uuid, wanted int) RETURNS SETOF task
LANGUAGE sql STABLE AS $$
    SELECT t.* FROM task t
    WHERE t.status = 'failed' AND t.is_refused IS NOT TRUE AND ($1 IS NULL OR t.kind = $1) AND ($2 IS NULL OR t.id = ANY ($2))
      AND ($3 IS NULL OR strpos(lower(t.error), lower($3)) > 0) AND ($4 IS NULL OR t.account_id = $4)
    ORDER BY t.finished_at DESC LIMIT $5
$$;

-- How many tasks wait for a worker, up to `counted`; without those that wait for the time of their next attempt. The metric and the
-- summary for operators have it from here.
CREATE OR REPLACE FUNCTION task_queued(counted int) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT count(*) FROM (SELECT FROM task t WHERE t.status = 'pending' AND t.turn IS NOT NULL LIMIT counted) AS queued
$$;

-- A task as an operator sees it. `service`: which has it.
CREATE OR REPLACE FUNCTION task_operator_json(t task, service text) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT task_json(t)::jsonb || jsonb_build_object('type', 'task', 'service', service, 'account_id', t.account_id,
        'is_dead', t.status = 'failed' AND t.is_refused IS NOT TRUE, 'request_id', t.request_id)
$$;

-- Notify the account of a task that it has failed. `stream` null: the service writes none.
CREATE OR REPLACE FUNCTION task_failure_announce(t task, stream text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM message_emit(stream, 'task.failed', t.account_id, jsonb_build_object(
        'task_id', t.id, 'kind', t.kind, 'error', t.error, 'interest_id', t.input -> 'interest_id', 'repo', t.input -> 'repo',
        'url', '/console/'), t.request_id)
    WHERE stream IS NOT NULL AND t.account_id IS NOT NULL;
END $$;

-- name: job_claim(kinds, attempts_max, owner, lease_ms, limit)
-- Claim tasks of the kinds: see task_claim(). :attempts_max has an item for each kind.
SELECT id, kind, attempts, interruptions, account_id, input, request_id
FROM task_claim(:kinds, :attempts_max, :owner, :lease_ms, :limit);

-- name: job_renew(tasks, attempts, owner, lease_ms)
-- Locks the tasks in the order of their ids, as task_complete_all() does: neither waits for the other in a circle.
WITH held AS MATERIALIZED (
    SELECT task.id
    FROM task JOIN unnest(:tasks::uuid[], :attempts::int[]) AS running (id, attempt)
        ON task.id = running.id AND task.attempts = running.attempt
    WHERE task.lease_owner = :owner AND task.status = 'running'
    ORDER BY task.id
    FOR NO KEY UPDATE OF task
)
UPDATE task SET lease_until = clock_timestamp() + make_interval(secs => :lease_ms::float8 / 1000)
FROM held
WHERE task.id = held.id
RETURNING task.id;

-- name: job_progress(task, attempt, owner, progress, message)
-- :progress is in percent. A :message of NULL leaves it unchanged.
UPDATE task SET progress = :progress::smallint, message = coalesce(:message, message)
WHERE id = :task::uuid AND attempts = :attempt::int AND lease_owner = :owner AND status = 'running';

-- name: job_complete(tasks, attempts, owners, results, messages)
-- An item each (pg/batch.h). All :owners are the same. Violates SQLSTATE XO003 when one of the tasks is not the owner's.
SELECT task_complete_all(:tasks::uuid[], :attempts::int[], (:owners::text[])[1], :results::jsonb[], :messages::text[]);

-- name: job_fail(task, attempt, owner, is_final, error, pause_ms, is_interruption, interrupted_max_ms, is_refused, stream)
-- Record a failed attempt. The task fails when no attempts are left; otherwise it is due again.
--   :is_final            no other attempt is made, whatever is left
--   :pause_ms            until the next attempt
--   :is_interruption     the attempt is not counted; the task fails when it started more than :interrupted_max_ms ago
--   :is_refused          it failed by a mistake of its caller
--   :stream              that of the service (NULL: it has none)
UPDATE task SET status = CASE WHEN is_over THEN 'failed' ELSE 'pending' END,
    error = CASE WHEN is_over THEN :error END, message = :error, is_refused = :is_refused::boolean,
    finished_at = CASE WHEN is_over THEN now() END,
    run_after = clock_timestamp() + make_interval(secs => :pause_ms::float8 / 1000),
    interruptions = interruptions + :is_interruption::boolean::int, turn = NULL, lease_owner = NULL, lease_until = NULL
FROM (SELECT id, :is_final::boolean OR CASE
        WHEN :is_interruption::boolean THEN started_at < now() - make_interval(secs => :interrupted_max_ms::float8 / 1000)
    ELSE attempts - interruptions >= attempts_max END AS is_over FROM task WHERE id = :task::uuid) AS outcome
WHERE task.id = outcome.id AND attempts = :attempt::int AND lease_owner = :owner AND status = 'running'
RETURNING is_over, CASE WHEN is_over THEN task_failure_announce(task, :stream) END;

-- name: job_fail_abandoned(stream)
-- Fail the tasks whose lease expired during the last attempt. :stream as of job_fail.
UPDATE task SET status = 'failed', error = reason, message = reason, lease_owner = NULL, lease_until = NULL, finished_at = now()
FROM (VALUES ('the last attempt did not end: its worker stopped')) AS known (reason)
WHERE status = 'running' AND lease_until < clock_timestamp() AND attempts - interruptions >= attempts_max
RETURNING id, kind, task_failure_announce(task, :stream);

-- name: job_requeue(limit)
-- Queue tasks again: up to :limit pending ones that have become due, and as many running ones whose lease has expired.
WITH due AS (
    SELECT id FROM task WHERE status = 'pending' AND turn IS NULL AND run_after <= clock_timestamp()
    ORDER BY run_after LIMIT :limit::int FOR UPDATE SKIP LOCKED
), expired AS (
    SELECT id FROM task
    WHERE status = 'running' AND lease_until < clock_timestamp() AND attempts - interruptions < attempts_max
    ORDER BY lease_until LIMIT :limit::int FOR UPDATE SKIP LOCKED
)
UPDATE task SET status = 'pending', turn = task_turn(kind, account_id), lease_owner = NULL, lease_until = NULL
FROM (SELECT id FROM due UNION ALL SELECT id FROM expired) AS queued
WHERE task.id = queued.id;

-- name: job_queue(counted_max)
-- Returns the milliseconds until the next pending task is due, NULL: none waits for that; and how many tasks wait for a worker,
-- counted up to :counted_max.
SELECT (SELECT ceil(extract(epoch FROM min(run_after) - clock_timestamp()) * 1000)::bigint FROM task
    WHERE status = 'pending' AND turn IS NULL) AS due_ms,
    task_queued(:counted_max::int) AS waiting;

-- name: job_delete_old(days)
-- A batch of those that ended first.
DELETE FROM task
WHERE id IN (SELECT id FROM task WHERE finished_at < now() - make_interval(days => :days::int)
    ORDER BY finished_at LIMIT 500 FOR UPDATE SKIP LOCKED);

-- name: job_set_limit(pending_max)
UPDATE task_limit SET pending_max = :pending_max::int WHERE pending_max <> :pending_max::int;

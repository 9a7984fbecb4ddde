-- Claim up to $5 tasks of the kinds $1, whose attempts_max are $2, for the owner $3 and $4 milliseconds: see task_claim().
-- name: job_claim
SELECT id, kind, attempts, interruptions, account_id, input, request_id FROM task_claim($1, $2, $3, $4, $5);

-- name: job_renew
-- Locks the tasks in the order of their ids, as task_complete_all() does: neither waits for the other in a circle.
WITH held AS MATERIALIZED (
    SELECT task.id FROM task JOIN unnest($1::uuid[], $2::int[]) AS running (id, attempt)
        ON task.id = running.id AND task.attempts = running.attempt
    WHERE task.lease_owner = $3 AND task.status = 'running' ORDER BY task.id FOR NO KEY UPDATE OF task
)
UPDATE task SET lease_until = clock_timestamp() + make_interval(secs => $4::float8 / 1000)
FROM held WHERE task.id = held.id
RETURNING task.id;

-- name: job_progress
UPDATE task SET progress = $4::smallint, message = coalesce($5, message)
WHERE id = $1::uuid AND attempts = $2::int AND lease_owner = $3 AND status = 'running';

-- name: job_complete
-- $1 ids, $2 attempts, $3 owners, all of them the same, $4 results, $5 messages: an item each (pg/batch.h). Violates SQLSTATE XO003
-- when one of the tasks is not the owner's.
SELECT task_complete_all($1::uuid[], $2::int[], ($3::text[])[1], $4::jsonb[], $5::text[]);

-- Record a failed attempt; $7: it was interrupted. The task fails if $4 is true, no attempts are left, or an interrupted
-- one is the task's last after $8 milliseconds; otherwise it is due in $6 milliseconds. $9: by a mistake of its caller. $10: the
-- stream of the service (NULL: it has none).
-- name: job_fail
UPDATE task SET status = CASE WHEN is_over THEN 'failed' ELSE 'pending' END,
	error = CASE WHEN is_over THEN $5 END, message = $5, is_refused = $9::boolean,
	finished_at = CASE WHEN is_over THEN now() END,
	run_after = clock_timestamp() + make_interval(secs => $6::float8 / 1000),
	interruptions = interruptions + $7::boolean::int, turn = NULL, lease_owner = NULL, lease_until = NULL
FROM (SELECT id, $4::boolean OR CASE WHEN $7::boolean THEN started_at < now() - make_interval(secs => $8::float8 / 1000)
	ELSE attempts - interruptions >= attempts_max END AS is_over FROM task WHERE id = $1::uuid) AS outcome
WHERE task.id = outcome.id AND attempts = $2::int AND lease_owner = $3 AND status = 'running'
RETURNING is_over, CASE WHEN is_over THEN task_failure_announce(task, $10) END;

-- Fail the tasks whose lease expired during the last attempt. $1 as $10 of job_fail.
-- name: job_fail_abandoned
UPDATE task SET status = 'failed', error = reason, message = reason, lease_owner = NULL, lease_until = NULL, finished_at = now()
FROM (VALUES ('the last attempt did not end: its worker stopped')) AS known (reason)
WHERE status = 'running' AND lease_until < clock_timestamp() AND attempts - interruptions >= attempts_max
RETURNING id, kind, account_id, attempts, error, task_failure_announce(task, $1);

-- Queue up to $1 tasks again: pending ones that have become due, and running ones whose lease has expired.
-- name: job_requeue
WITH due AS (
	SELECT id FROM task WHERE status = 'pending' AND turn IS NULL AND run_after <= clock_timestamp()
	ORDER BY run_after LIMIT $1::int FOR UPDATE SKIP LOCKED
), expired AS (
	SELECT id FROM task
	WHERE status = 'running' AND lease_until < clock_timestamp() AND attempts - interruptions < attempts_max
	ORDER BY lease_until LIMIT $1::int FOR UPDATE SKIP LOCKED
)
UPDATE task SET status = 'pending', turn = task_turn(kind, account_id), lease_owner = NULL, lease_until = NULL
FROM (SELECT id FROM due UNION ALL SELECT id FROM expired) AS queued
WHERE task.id = queued.id;

-- Milliseconds until the next pending task is due, null: none waits for that; and how many tasks wait for a worker, counted up
-- to $1.
-- name: job_queue
SELECT (SELECT ceil(extract(epoch FROM min(run_after) - clock_timestamp()) * 1000)::bigint FROM task
	WHERE status = 'pending' AND turn IS NULL) AS due_ms,
	task_queued($1::int) AS waiting;

-- $1 days. A batch of those that ended first.
-- name: job_delete_old
DELETE FROM task WHERE id IN (SELECT id FROM task WHERE finished_at < now() - make_interval(days => $1::int)
	ORDER BY finished_at LIMIT 500 FOR UPDATE SKIP LOCKED);

-- name: job_set_limit
UPDATE task_limit SET pending_max = $1::int WHERE pending_max <> $1::int;


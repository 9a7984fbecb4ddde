-- The attempt's number and the lease owner identify the claim: once another worker has claimed the task, updates of the
-- former worker match no row.
-- name: job_claim
UPDATE task SET status = 'running', attempts = attempts + 1, attempts_max = $2::int, lease_owner = $3,
	lease_until = clock_timestamp() + make_interval(secs => $4::float8 / 1000),
	started_at = coalesce(started_at, now()), message = NULL
WHERE id = $1::uuid AND ((status = 'pending' AND run_after <= clock_timestamp())
	OR (status = 'running' AND lease_until < clock_timestamp() AND attempts - interruptions < attempts_max))
RETURNING attempts, interruptions, account_id, input, request_id;

-- name: job_renew
UPDATE task SET lease_until = clock_timestamp() + make_interval(secs => $4::float8 / 1000)
FROM unnest($1::uuid[], $2::int[]) AS running (id, attempt)
WHERE task.id = running.id AND task.attempts = running.attempt AND task.lease_owner = $3 AND task.status = 'running'
RETURNING task.id;

-- name: job_progress
UPDATE task SET progress = $4::smallint, message = coalesce($5, message)
WHERE id = $1::uuid AND attempts = $2::int AND lease_owner = $3 AND status = 'running';

-- name: job_complete
UPDATE task SET status = 'completed', progress = 100, result = $4::jsonb, message = $5, lease_owner = NULL,
	lease_until = NULL, finished_at = now()
WHERE id = $1::uuid AND attempts = $2::int AND lease_owner = $3 AND status = 'running';

-- Record a failed attempt; $7: it was interrupted. The task fails if $4 is true, no attempts are left, or an interrupted
-- one is the task's last after $8 milliseconds; otherwise it is due in $6 milliseconds.
-- name: job_fail
UPDATE task SET status = CASE WHEN is_over THEN 'failed' ELSE 'pending' END,
	error = CASE WHEN is_over THEN $5 END, message = CASE WHEN is_over THEN message ELSE $5 END,
	finished_at = CASE WHEN is_over THEN now() END,
	run_after = clock_timestamp() + make_interval(secs => $6::float8 / 1000),
	interruptions = interruptions + $7::boolean::int, lease_owner = NULL, lease_until = NULL
FROM (SELECT id, $4::boolean OR CASE WHEN $7::boolean THEN started_at < now() - make_interval(secs => $8::float8 / 1000)
	ELSE attempts - interruptions >= attempts_max END AS is_over FROM task WHERE id = $1::uuid) AS outcome
WHERE task.id = outcome.id AND attempts = $2::int AND lease_owner = $3 AND status = 'running'
RETURNING is_over;

-- Fail the tasks whose lease expired during the last attempt.
-- name: job_fail_abandoned
UPDATE task SET status = 'failed', error = 'the last attempt did not end: its worker stopped', lease_owner = NULL,
	lease_until = NULL, finished_at = now()
WHERE status = 'running' AND lease_until < clock_timestamp() AND attempts - interruptions >= attempts_max
RETURNING id, kind, account_id, attempts, error;

-- Tasks that should have an entry in the stream.
-- name: job_due
SELECT id, kind FROM task
WHERE (status = 'pending' AND run_after <= clock_timestamp()) OR (status = 'running' AND lease_until < clock_timestamp())
ORDER BY run_after LIMIT $1::int;

-- Milliseconds until the next pending task is due; null: none is pending.
-- name: job_next_due
SELECT ceil(extract(epoch FROM min(run_after) - clock_timestamp()) * 1000)::bigint FROM task
WHERE status = 'pending' AND run_after > clock_timestamp();


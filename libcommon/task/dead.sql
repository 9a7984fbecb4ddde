-- name: dead_task_list (read)
-- $1 kind or NULL, $2 ids or NULL, $3 limit, $4 whether with the input: newest first.
SELECT id, kind, (jsonb_build_object('id', id, 'type', 'task', 'kind', kind, 'account', account_id, 'attempts', attempts,
		'at', time_json(finished_at), 'error', error, 'request_id', request_id)
	|| CASE WHEN $4::boolean THEN jsonb_build_object('input', input) ELSE '{}' END)::text AS json
FROM task WHERE status = 'failed' AND is_refused IS NOT TRUE AND ($1::text IS NULL OR kind = $1) AND ($2::uuid[] IS NULL OR id = ANY ($2::uuid[]))
ORDER BY finished_at DESC LIMIT $3::int;

-- $1 id. It has all its attempts before it; those that it had are counted as interrupted.
-- name: dead_task_retry
UPDATE task SET status = 'pending', interruptions = attempts, turn = NULL, run_after = now(), progress = 0, message = NULL,
	error = NULL, started_at = NULL, finished_at = NULL
WHERE id = $1::uuid AND status = 'failed' AND is_refused IS NOT TRUE;

-- Tasks that were given up, counted up to $1.
-- name: dead_task_count (read)
SELECT count(*) FROM (SELECT FROM task WHERE status = 'failed' AND is_refused IS NOT TRUE LIMIT $1::int) AS dead;

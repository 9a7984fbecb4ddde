-- Of each statement: $1 kind, $2 ids, $3 a part of the error, $4 account, each or NULL, $5 limit. Newest first. Of those that change them: $6 who does so, as audit_emit()
-- tells it (NULL: an operator's command).

-- name: dead_task_list (read)
SELECT id, kind, json::text AS json, (json || jsonb_build_object('input', input))::text AS json_with_input
FROM (SELECT *, jsonb_build_object('id', id, 'type', 'task', 'kind', kind, 'account', account_id, 'attempts', attempts,
		'at', time_json(finished_at), 'error', error, 'request_id', request_id) AS json FROM task_dead($1, $2, $3, $4, $5)) AS dead;

-- Each has all its attempts before it; those that it had are counted as interrupted.
-- name: dead_task_retry
WITH meant AS MATERIALIZED (
    SELECT id, set_config('expops.audit', coalesce($6, '{"kind": "operator"}'), true) FROM task_dead($1, $2, $3, $4, $5)
)
UPDATE task SET status = 'pending', interruptions = attempts, turn = NULL, run_after = now(), progress = 0, message = NULL,
	error = NULL, started_at = NULL, finished_at = NULL
WHERE id IN (SELECT id FROM meant) AND status = 'failed'
RETURNING id, kind;

-- name: dead_task_drop
WITH meant AS MATERIALIZED (
    SELECT id, set_config('expops.audit', coalesce($6, '{"kind": "operator"}'), true) FROM task_dead($1, $2, $3, $4, $5)
)
UPDATE task SET status = 'cancelled', message = 'given up by an operator: ' || error, error = NULL
WHERE id IN (SELECT id FROM meant) AND status = 'failed';

-- name: dead_event_audit
-- $1 who changes it, as above, $2 account ('': none), $3 action, $4 id and $5 type of the event.
WITH who AS MATERIALIZED (SELECT set_config('expops.audit', coalesce($1, '{"kind": "operator"}'), true))
SELECT audit_emit(nullif($2, '')::uuid, $3, jsonb_build_object('kind', 'event', 'id', $4::text, 'name', $5::text), '[]') FROM who;

-- name: dead_task_count (read)
SELECT count(*) AS tasks FROM task_dead($1, $2, $3, $4, $5);

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

-- name: dead_event_settle
-- $1 the stream of dead events and $2 the entry, as dead_events_settled() has them, $3 who changes it, as above, $4 account ('': none),
-- $5 action, $6 id and $7 type of the event. No row: it is settled already.
WITH settled AS (
    INSERT INTO event_settled (stream, event_hash) VALUES ($1, md5($2)::uuid) ON CONFLICT DO NOTHING
    RETURNING set_config('expops.audit', coalesce($3, '{"kind": "operator"}'), true) AS by
)
SELECT audit_emit(nullif($4, '')::uuid, $5, jsonb_build_object('kind', 'event', 'id', $6::text, 'name', $7::text), '[]')
FROM settled WHERE by IS NOT NULL;

-- name: dead_events_settled (read)
-- $1 the stream of dead events, $2 an array of entries. The positions of those that are settled, from 0.
SELECT n - 1 FROM unnest($2::text[]) WITH ORDINALITY AS asked (entry, n)
WHERE EXISTS (SELECT FROM event_settled s WHERE s.stream = $1 AND s.event_hash = md5(asked.entry)::uuid);

-- name: dead_task_count (read)
SELECT count(*) AS tasks FROM task_dead($1, $2, $3, $4, $5);

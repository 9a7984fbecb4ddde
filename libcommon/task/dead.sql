-- Statements on tasks: newest first. :error is a part of the error. A NULL of :kind, :tasks, :error and :account means any.
-- Statements that change something: :by says who does so, as audit_emit() tells it (NULL: an operator's command).

-- name: dead_task_list(kind, tasks, error, account, limit) (read)
SELECT id, kind, json::text AS json, (json || jsonb_build_object('input', input))::text AS json_with_input
FROM (SELECT *, jsonb_build_object('id', id, 'type', 'task', 'kind', kind, 'account', account_id, 'attempts', attempts,
        'at', time_json(finished_at), 'error', error, 'request_id', request_id) AS json
      FROM task_dead(:kind, :tasks, :error, :account, :limit)) AS dead;

-- name: dead_task_retry(kind, tasks, error, account, limit, by)
-- Each has all its attempts before it; those that it had are counted as interrupted.
WITH meant AS MATERIALIZED (
    SELECT id, set_config('expops.audit', coalesce(:by, '{"kind": "operator"}'), true)
    FROM task_dead(:kind, :tasks, :error, :account, :limit)
)
UPDATE task SET status = 'pending', interruptions = attempts, turn = NULL, run_after = now(), progress = 0, message = NULL,
    error = NULL, started_at = NULL, finished_at = NULL
WHERE id IN (SELECT id FROM meant) AND status = 'failed'
RETURNING id, kind;

-- name: dead_task_drop(kind, tasks, error, account, limit, by)
WITH meant AS MATERIALIZED (
    SELECT id, set_config('expops.audit', coalesce(:by, '{"kind": "operator"}'), true)
    FROM task_dead(:kind, :tasks, :error, :account, :limit)
)
UPDATE task SET status = 'cancelled', message = 'given up by an operator: ' || error, error = NULL
WHERE id IN (SELECT id FROM meant) AND status = 'failed';

-- name: dead_event_settle(stream, entry, by, account, action, event, type)
-- :stream and :entry are as of dead_events_settled. An :account of '': none. :type is that of the event. No row: it is settled
-- already.
WITH settled AS (
    INSERT INTO event_settled (stream, event_hash)
    VALUES (:stream, md5(:entry)::uuid)
    ON CONFLICT DO NOTHING
    RETURNING set_config('expops.audit', coalesce(:by, '{"kind": "operator"}'), true) AS by
)
SELECT audit_emit(nullif(:account, '')::uuid, :action,
                  jsonb_build_object('kind', 'event', 'id', :event::text, 'name', :type::text), '[]')
FROM settled
WHERE by IS NOT NULL;

-- name: dead_events_settled(stream, entries) (read)
-- :stream is that of dead events. Returns the positions of the entries that are settled, from 0.
SELECT n - 1
FROM unnest(:entries::text[]) WITH ORDINALITY AS asked (entry, n)
WHERE EXISTS (SELECT FROM event_settled s WHERE s.stream = :stream AND s.event_hash = md5(asked.entry)::uuid);

-- name: dead_task_count(kind, tasks, error, account, limit) (read)
SELECT count(*) AS tasks FROM task_dead(:kind, :tasks, :error, :account, :limit);

-- name: task_find(kind, status, error, account, service, limit, counted_max) (read)
-- Newest first. :error is a part of the error, or of the message while none is final. A NULL of :kind, :status, :error and
-- :account means any.
WITH found AS MATERIALIZED (
    SELECT id FROM task
    WHERE (:kind::text IS NULL OR kind = :kind) AND (:status::text IS NULL OR status = :status)
                AND (:account::uuid IS NULL OR account_id = :account::uuid)
        AND (:error::text IS NULL OR strpos(lower(coalesce(error, message)), lower(:error)) > 0)
    ORDER BY id DESC LIMIT :counted_max::int
), shown AS (SELECT task FROM task JOIN (SELECT id FROM found ORDER BY id DESC LIMIT :limit::int) AS first USING (id))
SELECT jsonb_build_object('total', (SELECT count(*) FROM found),
    'items', (SELECT coalesce(jsonb_agg(task_operator_json(task, :service) ORDER BY (task).id DESC), '[]') FROM shown))::text;

-- name: task_summarize(service, counted_max, hours, dead_events) (read)
-- A :dead_events of NULL: unknown. Hours in which no task has ended are left out. `waited_ms`: from a task's creation to the
-- beginning of its last attempt, of nineteen in twenty at most so long.
SELECT jsonb_build_object('service', :service::text,
    'queued', task_queued(:counted_max::int),
    'running', (SELECT count(*) FROM (SELECT FROM task WHERE status = 'running' LIMIT :counted_max::int) AS t),
    'dead', (SELECT count(*) FROM task_dead(NULL, NULL, NULL, NULL, :counted_max::int)), 'dead_events', :dead_events::bigint,
    'late_ms', (SELECT coalesce(round(extract(epoch FROM now() - min(created_at)) * 1000), 0)::bigint
        FROM task WHERE status = 'pending' AND turn IS NOT NULL),
    'hours', coalesce((SELECT jsonb_agg(jsonb_build_object('at', time_json(at), 'completed', completed, 'failed', failed,
            'waited_ms', waited_ms) ORDER BY at)
        FROM (SELECT date_trunc('hour', finished_at) AS at, count(*) FILTER (WHERE status = 'completed') AS completed,
                count(*) FILTER (WHERE status = 'failed') AS failed,
                coalesce(round(percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM started_at - created_at)) * 1000), 0)::bigint
                    AS waited_ms
            FROM task WHERE finished_at >= date_trunc('hour', now()) - make_interval(hours => :hours::int - 1)
                        GROUP BY 1) AS hour), '[]'))::text;

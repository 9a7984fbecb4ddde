-- name: task_find (read)
-- $1 kind, $2 status, $3 a part of the error, or of the message while none is final, $4 account, each or NULL, $5 the service's name,
-- $6 how many are shown, $7 how many are counted. Newest first.
WITH found AS MATERIALIZED (
	SELECT id FROM task
	WHERE ($1::text IS NULL OR kind = $1) AND ($2::text IS NULL OR status = $2) AND ($4::uuid IS NULL OR account_id = $4::uuid)
		AND ($3::text IS NULL OR strpos(lower(coalesce(error, message)), lower($3)) > 0)
	ORDER BY id DESC LIMIT $7::int
), shown AS (SELECT task FROM task JOIN (SELECT id FROM found ORDER BY id DESC LIMIT $6::int) AS first USING (id))
SELECT jsonb_build_object('total', (SELECT count(*) FROM found),
	'items', (SELECT coalesce(jsonb_agg(task_operator_json(task, $5) ORDER BY (task).id DESC), '[]') FROM shown))::text;

-- Hours in which no task has ended are left out. `waited_ms`: from a task's creation to the beginning of its last attempt, of
-- nineteen in twenty at most so long.
-- name: task_summarize (read)
-- $1 the service's name, $2 up to how many are counted, $3 hours, $4 events that were given up, NULL: unknown.
SELECT jsonb_build_object('service', $1::text,
	'queued', task_queued($2::int),
	'running', (SELECT count(*) FROM (SELECT FROM task WHERE status = 'running' LIMIT $2::int) AS t),
	'dead', (SELECT count(*) FROM task_dead(NULL, NULL, NULL, NULL, $2::int)), 'dead_events', $4::bigint,
	'late_ms', (SELECT coalesce(round(extract(epoch FROM now() - min(created_at)) * 1000), 0)::bigint
		FROM task WHERE status = 'pending' AND turn IS NOT NULL),
	'hours', coalesce((SELECT jsonb_agg(jsonb_build_object('at', time_json(at), 'completed', completed, 'failed', failed,
			'waited_ms', waited_ms) ORDER BY at)
		FROM (SELECT date_trunc('hour', finished_at) AS at, count(*) FILTER (WHERE status = 'completed') AS completed,
				count(*) FILTER (WHERE status = 'failed') AS failed,
				coalesce(round(percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM started_at - created_at)) * 1000), 0)::bigint
					AS waited_ms
			FROM task WHERE finished_at >= date_trunc('hour', now()) - make_interval(hours => $3::int - 1) GROUP BY 1) AS hour), '[]'))::text;

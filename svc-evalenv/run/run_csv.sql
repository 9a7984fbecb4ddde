-- name: run_csv_outline(account, status, template, only_repository, limit) (read)
-- Of the runs of run_list: the newest :limit, the names of their metrics, and the number of all. Metrics that are stored apart
-- are left out, as in lists.
WITH found AS MATERIALIZED (
    SELECT r.id FROM run r JOIN work w USING (id)
    WHERE r.account_id = :account
      AND (:status::text IS NULL OR w.status = :status)
      AND (:template::uuid IS NULL OR r.template_id = :template)
      AND (:only_repository::text IS NULL OR lower(w.repo) = (SELECT repository_key(:only_repository)))
), newest AS MATERIALIZED (
    SELECT id FROM found ORDER BY id DESC LIMIT :limit
)
SELECT (SELECT coalesce(json_agg(n.id ORDER BY n.id DESC), '[]') FROM newest n) AS ids,
       (SELECT coalesce(json_agg(m.name ORDER BY m.name), '[]')
        FROM (SELECT DISTINCT k.name FROM newest JOIN run r USING (id), jsonb_object_keys(r.metrics) AS k (name)
              ORDER BY 1 LIMIT 1000) m) AS names,
       (SELECT count(*) FROM found) AS total;

-- name: run_csv_rows(account, runs) (read)
-- :runs: a JSON array of ids.
SELECT coalesce(json_agg(jsonb_build_object(
           'run_id', r.id, 'name', r.name, 'status', w.status, 'target', r.target, 'template_id', r.template_id,
           'template_version', r.template_version, 'template_digest', r.template_digest, 'build_id', r.build_id, 'repo', w.repo,
           'params', r.params, 'timeout_seconds', w.timeout_seconds, 'metrics', r.metrics, 'results', r.results,
           'attempts', w.attempts, 'worker', w.worker, 'error', w.error, 'created_at', time_json(w.created_at),
           'started_at', time_json(w.started_at), 'finished_at', time_json(w.finished_at),
           'duration_seconds', extract(epoch FROM w.finished_at - w.started_at)) ORDER BY i.place), '[]')
FROM jsonb_array_elements_text(:runs::jsonb) WITH ORDINALITY AS i (id, place)
JOIN run r ON r.id = i.id::uuid AND r.account_id = :account
JOIN work w ON w.id = r.id;

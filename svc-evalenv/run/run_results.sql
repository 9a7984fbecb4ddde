-- name: run_results_get (read)
-- $1 run, $2 account, $3 the only repository that the caller's key may see (NULL: all).
SELECT jsonb_build_object(
    'run_id', r.id, 'status', w.status, 'error_kind', w.error -> 'kind', 'has_begun', w.attempts > 0 OR w.started_at IS NOT NULL OR r.result IS NOT NULL,
    'template_digest', r.template_digest,
    'seed', coalesce(r.params, l.params) -> 'seed', 'metrics', coalesce(r.metrics, l.metrics),
    'examples', run_examples(coalesce(r.results, l.results) -> 'examples'))
FROM run r JOIN work w USING (id) LEFT JOIN run_large l ON l.run_id = r.id
WHERE r.id = $1 AND r.account_id = $2 AND ($3::text IS NULL OR lower(w.repo) = (SELECT repository_key($3)));

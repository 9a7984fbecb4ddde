-- name: run_results_get(run, account, only_repository) (read)
-- An :only_repository of NULL: all; else the key may see no other.
SELECT jsonb_build_object(
    'run_id', r.id, 'status', w.status, 'error_kind', w.error -> 'kind',
    'has_begun', w.attempts > 0 OR w.started_at IS NOT NULL OR r.result IS NOT NULL,
    'template_digest', r.template_digest,
    'seed', coalesce(r.params, l.params) -> 'seed', 'metrics', coalesce(r.metrics, l.metrics),
    'examples', run_examples(coalesce(r.results, l.results) -> 'examples'))
FROM run r
JOIN work w USING (id)
LEFT JOIN run_large l ON l.run_id = r.id
WHERE r.id = :run AND r.account_id = :account
  AND (:only_repository::text IS NULL OR lower(w.repo) = (SELECT repository_key(:only_repository)));

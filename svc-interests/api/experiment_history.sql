-- name: history_interest (read)
-- $1 account, $2 history.
SELECT id FROM interest WHERE account_id = $1 AND experiment_history_id = $2;

-- name: history_load (read)
-- $1 account, $2 history: name, context and model of the interest, its pool, the version of its vectors, and
-- document frequencies.
SELECT i.name, interest_context(i) AS context, m.model, coalesce(m.version, 0) AS version,
       (SELECT coalesce(jsonb_agg(content || jsonb_build_object('relevance', e.relevance) ORDER BY e.relevance DESC, e.arxiv_id), '[]')
        FROM pool_entry e JOIN paper p USING (arxiv_id), paper_content(p, coalesce(m.embedder, i.embedder)) AS content
        WHERE e.interest_id = i.id AND e.pool_version = i.pool_version
          AND p.asset -> 'withdrawn' IS DISTINCT FROM 'true') AS pool,
       coalesce(m.embedder, i.embedder) AS embedder,
       (SELECT frequencies FROM background) AS frequencies
FROM interest i LEFT JOIN preference_model m ON m.interest_id = i.id
WHERE i.account_id = $1 AND i.experiment_history_id = $2;

-- name: refit_start
-- $1 account, $2 history, $3 request id. No row: no such history.
SELECT task_json(task), task.id
FROM interest i
CROSS JOIN LATERAL task_start('preference_model_refit', $1,
                              jsonb_build_object('history_id', i.experiment_history_id, 'interest_id', i.id), $3) AS task
WHERE i.account_id = $1 AND i.experiment_history_id = $2;

-- name: refit_task_get (read)
-- $1 account, $2 history, $3 task.
SELECT task_json(t) FROM task t
WHERE account_id = $1 AND id = $3 AND kind = 'preference_model_refit' AND input ->> 'history_id' = $2
  AND EXISTS (SELECT FROM interest WHERE account_id = $1 AND experiment_history_id = $2::uuid);

-- name: embedder_seen
-- $1 version that svc-search named.
SELECT embedder_seen($1);

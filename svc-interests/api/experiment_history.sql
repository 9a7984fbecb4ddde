-- name: history_load (read)
-- $1 account, $2 history: name, context and model of the interest, and its pool.
SELECT i.name, i.context, m.model, coalesce(m.version, 0),
       (SELECT coalesce(jsonb_agg(paper_json(p) || jsonb_build_object('relevance', e.relevance)
                                  ORDER BY e.relevance DESC, e.arxiv_id), '[]')
        FROM pool_entry e JOIN paper p USING (arxiv_id)
        WHERE e.interest_id = i.id AND e.pool_version = i.pool_version)
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

-- name: refit_unknown_papers (read)
-- $1 interest: an array of the papers that have a signal and are not stored yet.
SELECT jsonb_agg(DISTINCT s.arxiv_id)
FROM signal s WHERE s.interest_id = $1 AND NOT EXISTS (SELECT FROM paper p WHERE p.arxiv_id = s.arxiv_id);

-- name: refit_load (read)
-- $1 interest: name, context, version of its model, papers with signals, papers of the pool without signals.
WITH given AS MATERIALIZED (
    SELECT arxiv_id, signal FROM signal WHERE interest_id = $1
)
SELECT i.name, i.context, coalesce((SELECT version FROM preference_model WHERE interest_id = i.id), 0),
       (SELECT coalesce(jsonb_agg(paper_json(p) || jsonb_build_object('signal', g.signal) ORDER BY g.arxiv_id, g.signal), '[]')
        FROM given g JOIN paper p USING (arxiv_id)),
       (SELECT coalesce(jsonb_agg(paper_json(p) ORDER BY e.relevance DESC, e.arxiv_id), '[]')
        FROM pool_entry e JOIN paper p USING (arxiv_id)
        WHERE e.interest_id = i.id AND e.pool_version = i.pool_version
          AND NOT EXISTS (SELECT FROM given g WHERE g.arxiv_id = e.arxiv_id))
FROM interest i WHERE i.id = $1;

-- name: refit_save
-- $1 interest, $2 model. No row: the interest was deleted.
INSERT INTO preference_model AS m (interest_id, version, model)
SELECT id, 1, $2 FROM interest WHERE id = $1 FOR KEY SHARE
ON CONFLICT (interest_id) DO UPDATE SET version = m.version + 1, model = excluded.model, fitted_at = now()
RETURNING version;

-- name: refit_save_papers
-- $1 an answer of svc-search: store its papers.
SELECT paper_keep($1::jsonb);

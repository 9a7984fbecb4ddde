-- name: history_interest(account, history) (read)
SELECT id FROM interest WHERE account_id = :account AND experiment_history_id = :history;

-- name: history_load(account, history) (read)
-- Returns name, context and model of the interest, its pool, the version of its vectors, and document frequencies.
SELECT i.name, interest_context(i) AS context, m.model, coalesce(m.version, 0) AS version,
       (SELECT coalesce(jsonb_agg(content || jsonb_build_object('relevance', e.relevance)
                                  ORDER BY e.relevance DESC, e.arxiv_id), '[]')
        FROM pool_entry e JOIN paper p USING (arxiv_id), paper_content(p, coalesce(m.embedder, i.embedder)) AS content
        WHERE e.interest_id = i.id AND e.pool_version = i.pool_version
          AND p.asset -> 'withdrawn' IS DISTINCT FROM 'true') AS pool,
       coalesce(m.embedder, i.embedder) AS embedder,
       (SELECT frequencies FROM background) AS frequencies
FROM interest i LEFT JOIN preference_model m ON m.interest_id = i.id
WHERE i.account_id = :account AND i.experiment_history_id = :history;

-- name: refit_start(account, history, request_id)
-- No row: there is no such history.
SELECT task_json(task), task.id
FROM interest i
CROSS JOIN LATERAL task_start('preference_model_refit', :account,
                              jsonb_build_object('history_id', i.experiment_history_id, 'interest_id', i.id),
                              :request_id) AS task
WHERE i.account_id = :account AND i.experiment_history_id = :history;

-- name: refit_task_get(account, history, task) (read)
SELECT task_json(t)
FROM task t
WHERE account_id = :account AND id = :task AND kind = 'preference_model_refit' AND input ->> 'history_id' = :history
  AND EXISTS (SELECT FROM interest WHERE account_id = :account AND experiment_history_id = :history::uuid);

-- name: embedder_seen(embedder)
-- :embedder is the version that svc-search named.
SELECT embedder_seen(:embedder);

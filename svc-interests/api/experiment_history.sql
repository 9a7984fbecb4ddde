-- name: history_interest (read)
-- $1 account, $2 history.
SELECT id FROM interest WHERE account_id = $1 AND experiment_history_id = $2;

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
-- $1 interest, $2 maximum length of an id, $3 maximum number of papers, $4 size of a batch: arrays of the papers that have a
-- signal and are not stored yet.
SELECT jsonb_agg(arxiv_id ORDER BY arxiv_id)
FROM (SELECT arxiv_id, (row_number() OVER (ORDER BY arxiv_id) - 1) / $4::integer AS batch
      FROM (SELECT DISTINCT s.arxiv_id
            FROM signal s
            WHERE s.interest_id = $1 AND char_length(s.arxiv_id) BETWEEN 1 AND $2::integer
              AND NOT EXISTS (SELECT FROM paper p WHERE p.arxiv_id = s.arxiv_id)
            ORDER BY s.arxiv_id DESC LIMIT $3::integer) unknown) numbered
GROUP BY batch ORDER BY batch;

-- name: refit_load (read)
-- $1 interest, $2 maximum number of examples: name, context, version of its model, papers with signals (those with the
-- highest ids, which are the newest), papers of the pool without signals, and the time of reading.
WITH given AS MATERIALIZED (
    SELECT s.arxiv_id, s.signal FROM signal s JOIN paper p USING (arxiv_id)
    WHERE s.interest_id = $1 ORDER BY s.arxiv_id DESC, s.signal LIMIT $2
)
SELECT i.name, i.context, coalesce((SELECT version FROM preference_model WHERE interest_id = i.id), 0),
       (SELECT coalesce(jsonb_agg(paper_json(p) || jsonb_build_object('signal', g.signal) ORDER BY g.arxiv_id, g.signal), '[]')
        FROM given g JOIN paper p USING (arxiv_id)),
       (SELECT coalesce(jsonb_agg(paper_json(p) ORDER BY e.relevance DESC, e.arxiv_id), '[]')
        FROM pool_entry e JOIN paper p USING (arxiv_id)
        WHERE e.interest_id = i.id AND e.pool_version = i.pool_version
          AND NOT EXISTS (SELECT FROM given g WHERE g.arxiv_id = e.arxiv_id)),
       now()
FROM interest i WHERE i.id = $1;

-- name: refit_save
-- $1 interest, $2 model, $3 when its examples were read. A model with newer examples is kept. Returns the version of the
-- interest's model and whether it is the new one. No row: the interest was deleted.
INSERT INTO preference_model AS m (interest_id, version, model, examples_at)
SELECT id, 1, $2, $3 FROM interest WHERE id = $1 FOR KEY SHARE
ON CONFLICT (interest_id) DO UPDATE SET (version, model, examples_at, fitted_at) = (
    SELECT m.version + 1, excluded.model, excluded.examples_at, now() WHERE m.examples_at <= excluded.examples_at
    UNION ALL
    SELECT m.version, m.model, m.examples_at, m.fitted_at WHERE m.examples_at > excluded.examples_at)
RETURNING version, examples_at = $3;

-- name: refit_save_papers
-- $1 an answer of svc-search: store its papers.
SELECT paper_keep($1::jsonb);

-- name: refit_is_behind (read)
-- $1 interest: whether it uses another version than its pool has, and another than the current one. No row: it was deleted.
SELECT pool_embedder IS DISTINCT FROM embedder AS behind_pool,
       embedder IS DISTINCT FROM (SELECT version FROM embedder ORDER BY seen_at DESC LIMIT 1) AS behind_current
FROM interest WHERE id = $1;

-- name: refit_missing_vectors (read)
-- $1 interest, $2 maximum length of an id, $3 maximum number of papers, $4 size of a batch, $5 version: arrays of the papers
-- that are not stored, or have no vector of this version: those with a signal, of the pool, of the background, and recommended
-- recently.
SELECT jsonb_agg(arxiv_id ORDER BY arxiv_id)
FROM (SELECT arxiv_id, (row_number() OVER (ORDER BY arxiv_id) - 1) / $4::integer AS batch
      FROM (SELECT used.arxiv_id
            FROM (SELECT arxiv_id FROM signal WHERE interest_id = $1
                  UNION
                  SELECT arxiv_id FROM pool_entry WHERE interest_id = $1
                  UNION
                  SELECT unnest(arxiv_ids) FROM background
                  UNION
                  (SELECT arxiv_id FROM recommendation WHERE interest_id = $1 ORDER BY recommended_at DESC, rank LIMIT 100)) used
            WHERE char_length(used.arxiv_id) BETWEEN 1 AND $2::integer
              AND (NOT EXISTS (SELECT FROM paper p WHERE p.arxiv_id = used.arxiv_id)
                   OR $5::text IS NOT NULL
                      AND NOT EXISTS (SELECT FROM paper_vector v WHERE v.arxiv_id = used.arxiv_id AND v.embedder = $5))
            ORDER BY used.arxiv_id DESC LIMIT $3::integer) missing) numbered
GROUP BY batch ORDER BY batch;

-- name: refit_load (read)
-- $1 interest, $2 maximum number of examples, $3 version of the vectors: name, context, version of its model, papers with signals (the
-- newest, which are last), papers of the background without signals, frequencies, and the time of reading.
WITH given AS MATERIALIZED (
    SELECT * FROM signals_newest($1, $2::int)
)
SELECT i.name, interest_context(i) AS context, coalesce((SELECT version FROM preference_model WHERE interest_id = i.id), 0) AS version,
       (SELECT coalesce(jsonb_agg(content || jsonb_build_object('signal', g.signal)
                                  ORDER BY g.paper_at NULLS FIRST, g.arxiv_id, g.signal), '[]')
        FROM given g JOIN paper p USING (arxiv_id), paper_content(p, $3) AS content) AS examples,
       (SELECT coalesce(jsonb_agg(content ORDER BY drawn.place), '[]')
        FROM background, unnest(arxiv_ids) WITH ORDINALITY AS drawn (arxiv_id, place) JOIN paper p USING (arxiv_id),
             paper_content(p, $3) AS content
        WHERE NOT EXISTS (SELECT FROM given g WHERE g.arxiv_id = drawn.arxiv_id)) AS background,
       (SELECT frequencies FROM background) AS frequencies,
       now() AS read_at
FROM interest i WHERE i.id = $1;

-- name: refit_save
-- $1 interest, $2 model, $3 when its examples were read, $4 version of its vectors, $5 its facts, without the version. A model with
-- newer examples is kept. Returns the version of the interest's model and whether it is the new one. No row: the interest was deleted.
INSERT INTO preference_model AS m (interest_id, version, model, examples_at, embedder, facts)
SELECT id, 1, $2, $3, $4, $5::jsonb || '{"model_version": 1}' FROM interest WHERE id = $1 FOR KEY SHARE
ON CONFLICT (interest_id) DO UPDATE SET (version, model, examples_at, fitted_at, embedder, facts) = (
    SELECT m.version + 1, excluded.model, excluded.examples_at, now(), excluded.embedder,
           excluded.facts || jsonb_build_object('model_version', m.version + 1)
    WHERE m.examples_at <= excluded.examples_at
    UNION ALL
    SELECT m.version, m.model, m.examples_at, m.fitted_at, m.embedder, m.facts WHERE m.examples_at > excluded.examples_at)
RETURNING version, examples_at = $3 AS is_new;

-- name: refit_save_evidence
-- $1 interest, $2 version of its model, $3 the examples that it learned from.
INSERT INTO preference_evidence (interest_id, version, examples) VALUES ($1, $2, $3)
ON CONFLICT (interest_id) DO UPDATE SET version = excluded.version, examples = excluded.examples;

-- name: refit_follow
-- $1 interest, $2 version: its papers, which have vectors of this version now, are compared by them.
UPDATE interest SET embedder = $2, pool_embedder = $2 WHERE id = $1;

-- name: refit_queue
-- Refit the interests that do not use the current version yet, at most $1 of them. Those of an account that was deleted are left
-- out: the statement would fail for all.
SELECT count(task_put('preference_model_refit', behind.account_id,
                      jsonb_build_object('history_id', behind.experiment_history_id, 'interest_id', behind.id, 'is_follow', true),
                      NULL, NULL))
FROM (SELECT i.* FROM interest i
      WHERE i.embedder IS DISTINCT FROM (SELECT version FROM embedder ORDER BY seen_at DESC LIMIT 1) AND i.pool_status = 'ready'
        AND NOT EXISTS (SELECT FROM deleted_account d WHERE d.id = i.account_id)
        AND NOT EXISTS (SELECT FROM task t
                        WHERE t.account_id = i.account_id AND t.kind = 'preference_model_refit'
                          AND t.status IN ('pending', 'running') AND t.input ->> 'interest_id' = i.id::text)
      ORDER BY i.id LIMIT $1) behind;

-- name: refit_remove_vectors
-- Remove vectors of versions that no interest and no model uses, at most $1.
WITH unused AS MATERIALIZED (
    SELECT version FROM embedder e
    WHERE seen_at < (SELECT max(seen_at) FROM embedder) AND seen_at < now() - interval '1 hour'
      AND NOT EXISTS (SELECT FROM interest i WHERE e.version IN (i.embedder, i.pool_embedder))
      AND NOT EXISTS (SELECT FROM preference_model m WHERE m.embedder = e.version)
), removed AS (
    DELETE FROM paper_vector v USING (SELECT arxiv_id, embedder FROM paper_vector JOIN unused ON version = embedder LIMIT $1) old
    WHERE v.arxiv_id = old.arxiv_id AND v.embedder = old.embedder
    RETURNING v.embedder
)
DELETE FROM embedder e USING unused
WHERE e.version = unused.version AND NOT EXISTS (SELECT FROM paper_vector v WHERE v.embedder = e.version);

-- name: refit_is_behind(interest) (read)
-- Returns whether it uses another version than its pool has, and another than the current one. No row: it was deleted.
SELECT pool_embedder IS DISTINCT FROM embedder AS behind_pool,
       embedder IS DISTINCT FROM (SELECT version FROM embedder ORDER BY seen_at DESC LIMIT 1) AS behind_current
FROM interest
WHERE id = :interest;

-- name: refit_missing_vectors(interest, id_length_max, limit, batch_size, embedder) (read)
-- Returns arrays of at most :batch_size ids of papers, :limit in all, that are not stored, or have no vector of :embedder: those
-- with a signal, of the pool, of the background, and recommended recently. Ids longer than :id_length_max are left out.
SELECT jsonb_agg(arxiv_id ORDER BY arxiv_id)
FROM (SELECT arxiv_id, (row_number() OVER (ORDER BY arxiv_id) - 1) / :batch_size::integer AS batch
      FROM (SELECT used.arxiv_id
            FROM (SELECT arxiv_id FROM signal WHERE interest_id = :interest
                  UNION
                  SELECT arxiv_id FROM pool_entry WHERE interest_id = :interest
                  UNION
                  SELECT unnest(arxiv_ids) FROM background
                  UNION
                  (SELECT arxiv_id FROM recommendation
                   WHERE interest_id = :interest ORDER BY recommended_at DESC, rank LIMIT 100)) used
            WHERE char_length(used.arxiv_id) BETWEEN 1 AND :id_length_max::integer
              AND (NOT EXISTS (SELECT FROM paper p WHERE p.arxiv_id = used.arxiv_id)
                   OR :embedder::text IS NOT NULL
                      AND NOT EXISTS (SELECT FROM paper_vector v WHERE v.arxiv_id = used.arxiv_id AND v.embedder = :embedder))
            ORDER BY used.arxiv_id DESC
            LIMIT :limit::integer) missing) numbered
GROUP BY batch
ORDER BY batch;

-- name: refit_load(interest, limit, embedder) (read)
-- Returns name, context, version of its model, at most :limit papers with signals (the newest, which are last), papers of the
-- background without signals, frequencies, and the time of reading. :embedder is the version of their vectors.
WITH given AS MATERIALIZED (
    SELECT * FROM signals_newest(:interest, :limit::int)
)
SELECT i.name, interest_context(i) AS context,
       coalesce((SELECT version FROM preference_model WHERE interest_id = i.id), 0) AS version,
       (SELECT coalesce(jsonb_agg(content || jsonb_build_object('signal', g.signal)
                                  ORDER BY g.paper_at NULLS FIRST, g.arxiv_id, g.signal), '[]')
        FROM given g JOIN paper p USING (arxiv_id), paper_content(p, :embedder) AS content) AS examples,
       (SELECT coalesce(jsonb_agg(content ORDER BY drawn.place), '[]')
        FROM background, unnest(arxiv_ids) WITH ORDINALITY AS drawn (arxiv_id, place) JOIN paper p USING (arxiv_id),
             paper_content(p, :embedder) AS content
        WHERE NOT EXISTS (SELECT FROM given g WHERE g.arxiv_id = drawn.arxiv_id)) AS background,
       (SELECT frequencies FROM background) AS frequencies,
       now() AS read_at
FROM interest i
WHERE i.id = :interest;

-- name: refit_save(interest, model, examples_at, embedder, facts)
-- :examples_at is when the examples of :model were read, :embedder the version of its vectors. :facts lacks the version of the
-- model. A model with newer examples is kept. Returns the version of the interest's model and whether it is the new one. No row:
-- the interest was deleted.
INSERT INTO preference_model AS m (interest_id, version, model, examples_at, embedder, facts)
SELECT id, 1, :model, :examples_at, :embedder, :facts::jsonb || '{"model_version": 1}'
FROM interest
WHERE id = :interest
FOR KEY SHARE
ON CONFLICT (interest_id) DO UPDATE SET (version, model, examples_at, fitted_at, embedder, facts) = (
    SELECT m.version + 1, excluded.model, excluded.examples_at, now(), excluded.embedder,
           excluded.facts || jsonb_build_object('model_version', m.version + 1)
    WHERE m.examples_at <= excluded.examples_at
    UNION ALL
    SELECT m.version, m.model, m.examples_at, m.fitted_at, m.embedder, m.facts WHERE m.examples_at > excluded.examples_at)
RETURNING version, examples_at = :examples_at AS is_new;

-- name: refit_save_evidence(interest, model_version, examples)
-- :examples are those that the model learned from.
INSERT INTO preference_evidence (interest_id, version, examples) VALUES (:interest, :model_version, :examples)
ON CONFLICT (interest_id) DO UPDATE SET version = excluded.version, examples = excluded.examples;

-- name: refit_follow(interest, embedder)
-- Its papers, which have vectors of :embedder now, are compared by them.
UPDATE interest SET embedder = :embedder, pool_embedder = :embedder WHERE id = :interest;

-- name: refit_queue(limit)
-- Refits at most :limit of the interests that do not use the current version yet. Those of an account that was deleted are left
-- out: the statement would fail for all; so are those of one that is being deleted, which nobody waits for.
SELECT count(task_put('preference_model_refit', behind.account_id,
                      jsonb_build_object('history_id', behind.experiment_history_id, 'interest_id', behind.id, 'is_follow', true),
                      NULL, NULL))
FROM (SELECT old.*
      FROM (SELECT i.* FROM interest i
            WHERE i.embedder IS DISTINCT FROM (SELECT version FROM embedder ORDER BY seen_at DESC LIMIT 1) AND i.pool_status = 'ready'
              AND NOT EXISTS (SELECT FROM task t
                              WHERE t.account_id = i.account_id AND t.kind = 'preference_model_refit'
                                AND t.status IN ('pending', 'running') AND t.input ->> 'interest_id' = i.id::text)
            ORDER BY i.id OFFSET 0) old
      WHERE account_share_try(old.account_id)
      LIMIT :limit) behind;

-- name: refit_remove_vectors(limit)
-- Removes at most :limit vectors of versions that no interest and no model uses.
WITH unused AS MATERIALIZED (
    SELECT version FROM embedder e
    WHERE seen_at < (SELECT max(seen_at) FROM embedder) AND seen_at < now() - interval '1 hour'
      AND NOT EXISTS (SELECT FROM interest i WHERE e.version IN (i.embedder, i.pool_embedder))
      AND NOT EXISTS (SELECT FROM preference_model m WHERE m.embedder = e.version)
), removed AS (
    DELETE FROM paper_vector v
    USING (SELECT arxiv_id, embedder FROM paper_vector JOIN unused ON version = embedder LIMIT :limit) old
    WHERE v.arxiv_id = old.arxiv_id AND v.embedder = old.embedder
    RETURNING v.embedder
)
DELETE FROM embedder e USING unused
WHERE e.version = unused.version AND NOT EXISTS (SELECT FROM paper_vector v WHERE v.embedder = e.version);

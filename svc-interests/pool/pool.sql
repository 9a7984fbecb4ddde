-- name: pool_source (read)
-- $1 interest: what to search its candidates with, the number of papers recommended already, and whether there is nothing to
-- search with.
SELECT name, interest_context(i), pool_version, pool_status,
       (SELECT count(*) FROM recommendation r
        WHERE r.interest_id = i.id AND r.context_version = i.context_version),
       interest_is_unread(i)
FROM interest i WHERE id = $1;

-- name: pool_fail
-- $1 interest, $2 its pool_version.
UPDATE interest SET pool_status = 'failed' WHERE id = $1 AND pool_version = $2 AND pool_status <> 'ready';

-- name: pool_save
-- $1 interest, $2 its pool_version when the candidates were searched, $3 the answer of svc-search. A paper that
-- the context names is not a candidate, because the user knows it. Returns the number of candidates and of papers in the index. No row: the interest was changed or deleted meanwhile.
WITH target AS (
    SELECT id, context, pool_version FROM interest WHERE id = $1 AND pool_version = $2 FOR UPDATE
), kept AS (
    SELECT paper_keep($3::jsonb) FROM target
), found AS (
    SELECT target.id, target.pool_version, r.arxiv_id, greatest(0, least(1, r.relevance)) AS relevance,
           coalesce(r.matched, '[]') AS matched
    FROM target, jsonb_to_recordset($3::jsonb -> 'results') AS r (arxiv_id text, relevance double precision, matched jsonb)
    WHERE strpos(target.context, r.arxiv_id) = 0
), dropped AS (
    DELETE FROM pool_entry e USING target
    WHERE e.interest_id = target.id
      AND (e.pool_version, e.arxiv_id) NOT IN (SELECT pool_version, arxiv_id FROM found)
), stored AS (
    INSERT INTO pool_entry AS e (interest_id, pool_version, arxiv_id, relevance, matched) SELECT * FROM found
    ON CONFLICT (interest_id, pool_version, arxiv_id) DO UPDATE
    SET relevance = excluded.relevance, matched = excluded.matched
    WHERE (e.relevance, e.matched) IS DISTINCT FROM (excluded.relevance, excluded.matched)
), updated AS (
    UPDATE interest i SET pool_status = 'ready', pool_size = (SELECT count(*) FROM found), pool_embedder = $3::jsonb ->> 'model',
                          embedder = coalesce(i.embedder, $3::jsonb ->> 'model')
    FROM target WHERE i.id = target.id
    RETURNING i.pool_size
)
SELECT pool_size, coalesce(($3::jsonb ->> 'documents')::integer, 0), (SELECT count(*) FROM kept) FROM updated;

-- name: pool_start_refresh
-- $1 interest, $2 request id: start a refresh when the interest is active and all its recommendations are of earlier
-- contexts.
SELECT count(task_put('recommendations_refresh', account_id, jsonb_build_object('interest_id', id), $2, NULL))
FROM interest i
WHERE id = $1 AND is_active AND last_recommendation_at IS NOT NULL
  AND NOT EXISTS (SELECT FROM recommendation r WHERE r.interest_id = i.id AND r.context_version = i.context_version);

-- name: pool_source(interest, limit) (read)
-- Returns what to search its candidates with, at most :limit of the papers recommended already, newest first (NULL: there are
-- none), their number and how many since the last search of all papers, by which version of the context and when the newest was
-- recommended, whether there is nothing to search with, the sources that its papers may be from (NULL: all), and the last search,
-- whether all papers are to be searched again, and what is stored of it (NULL: nothing).
SELECT i.name, interest_context(i) AS context, i.pool_version, i.pool_status, i.context_version, i.last_recommendation_at,
       known.papers AS recommended, known.count AS recommended_count, known.count_since AS recommended_since,
       interest_is_unread(i) AS is_unread, to_jsonb(i.sources) AS sources,
       s.question, s.cursor, s.whole_on < pool_turn(i.id) AS is_outdated, stored.relevances
FROM interest i LEFT JOIN pool_search s ON s.interest_id = i.id AND s.pool_version = i.pool_version
LEFT JOIN LATERAL (SELECT json_object_agg(e.arxiv_id, e.relevance::real) AS relevances FROM pool_entry e
                   WHERE s.cursor IS NOT NULL AND e.interest_id = i.id AND e.pool_version = i.pool_version) stored ON true
CROSS JOIN LATERAL (SELECT jsonb_agg(newest.arxiv_id) AS papers, count(*) AS count,
                           count(*) FILTER (WHERE (newest.recommended_at AT TIME ZONE 'UTC')::date >= s.whole_on) AS count_since
                    FROM (SELECT r.arxiv_id, r.recommended_at FROM recommended r
                          WHERE r.interest_id = i.id AND r.context_version = i.context_version
                          ORDER BY r.recommended_at DESC NULLS LAST, r.rank
                          LIMIT :limit) newest) known
WHERE i.id = :interest;

-- name: pool_fail(interest, pool_version)
UPDATE interest SET pool_status = 'failed'
WHERE id = :interest AND pool_version = :pool_version AND pool_status <> 'ready';

-- name: pool_missing_papers(rows, embedder) (read)
-- :rows are those of an answer of svc-search, :embedder is its embedder. Returns the papers that are not stored, or in an earlier
-- version, or without a vector of :embedder. NULL: none. OFFSET 0 has each paper looked up by its key: for a hundred rows the
-- planner would read all papers, while they are some ten thousand.
SELECT jsonb_agg(r.arxiv_id)
FROM jsonb_to_recordset(:rows::jsonb) AS r (arxiv_id text, version bigint, has_vector boolean)
LEFT JOIN LATERAL (SELECT p.version FROM paper p WHERE p.arxiv_id = r.arxiv_id OFFSET 0) stored ON true
CROSS JOIN LATERAL (SELECT NOT r.has_vector
                           OR EXISTS (SELECT FROM paper_vector v
                                      WHERE v.arxiv_id = r.arxiv_id AND v.embedder = :embedder OFFSET 0) AS is_whole) vector
WHERE stored.version IS NULL OR stored.version < r.version OR NOT vector.is_whole;

-- name: pool_keep_papers(answer)
-- :answer is one of svc-search with papers.
SELECT paper_keep(:answer::jsonb);

-- name: pool_save(interest, pool_version, change)
-- Stores what a search changes (pool/pool_change.h). :pool_version is that of the interest when the candidates were searched. A
-- paper that the context names is not a candidate, because the user knows it. Returns the number of candidates, and that of
-- papers in the index if the background is to be drawn (0: it is not). No row: the interest was changed or deleted meanwhile, or
-- the stored pool is not that of the cursor `last_cursor` any more.
WITH change AS (
    SELECT *
    FROM jsonb_to_record(:change::jsonb)
         AS c (last_cursor text, question text, cursor text, model text, documents integer, is_whole boolean, kept integer)
), locked AS (
    SELECT id, context, pool_version, pool_status, pool_size, pool_embedder, embedder
    FROM interest
    WHERE id = :interest AND pool_version = :pool_version
    FOR UPDATE
), searched AS (
    INSERT INTO pool_search AS s (interest_id, pool_version, question, cursor, whole_on)
    SELECT locked.id, locked.pool_version, c.question, c.cursor, (now() AT TIME ZONE 'UTC')::date
    FROM locked, change c WHERE c.cursor IS NOT NULL
    ON CONFLICT (interest_id) DO UPDATE SET
        pool_version = excluded.pool_version, question = excluded.question, cursor = excluded.cursor,
        whole_on = CASE WHEN (:change::jsonb ->> 'is_whole')::boolean THEN excluded.whole_on ELSE s.whole_on END
    WHERE :change::jsonb ->> 'last_cursor' IS NULL OR s.cursor = :change::jsonb ->> 'last_cursor'
    RETURNING interest_id
), target AS MATERIALIZED (
    SELECT * FROM locked WHERE :change::jsonb ->> 'last_cursor' IS NULL OR EXISTS (SELECT FROM searched)
), found AS MATERIALIZED (
    SELECT target.id, target.pool_version, r.arxiv_id, greatest(0, least(1, r.relevance)) AS relevance, r.matched
    FROM target
    CROSS JOIN jsonb_to_recordset(:change::jsonb -> 'rows') AS r (arxiv_id text, relevance double precision, matched jsonb)
    WHERE strpos(target.context, r.arxiv_id) = 0 AND EXISTS (SELECT FROM paper p WHERE p.arxiv_id = r.arxiv_id OFFSET 0)
), gone AS (
    DELETE FROM pool_entry e USING target, jsonb_array_elements_text(:change::jsonb -> 'gone') AS g (arxiv_id)
    WHERE (e.interest_id, e.pool_version, e.arxiv_id) = (target.id, target.pool_version, g.arxiv_id)
), replaced AS (
    DELETE FROM pool_entry e USING target
    WHERE :change::jsonb ->> 'last_cursor' IS NULL AND e.interest_id = target.id
      AND (e.pool_version, e.arxiv_id) NOT IN (SELECT pool_version, arxiv_id FROM found)
), stored AS (
    INSERT INTO pool_entry AS e (interest_id, pool_version, arxiv_id, relevance, matched)
    SELECT id, pool_version, arxiv_id, relevance, coalesce(matched, '[]') FROM found
    ON CONFLICT (interest_id, pool_version, arxiv_id) DO UPDATE
    SET relevance = excluded.relevance, matched = excluded.matched
), seen AS (
    SELECT embedder_seen(c.model) FROM target, change c
), size AS (
    SELECT c.kept + (SELECT count(*)::integer FROM found) AS size, c.model, c.documents FROM change c
), updated AS (
    UPDATE interest i SET
        pool_status = 'ready',
        pool_size = size.size,
        pool_embedder = size.model,
        embedder = coalesce(i.embedder, size.model)
    FROM target, size
    WHERE i.id = target.id
      AND (target.pool_status, target.pool_size, target.pool_embedder, target.embedder)
          IS DISTINCT FROM ('ready', size.size, size.model, coalesce(target.embedder, size.model))
)
SELECT size.size, CASE WHEN background_is_due(size.documents) THEN size.documents ELSE 0 END AS documents,
       (SELECT count(*) FROM seen)
FROM target, size;

-- name: pool_start_refresh(interest, request_id)
-- Starts a refresh when the interest is active and nothing was recommended for its context yet: a new interest does not wait for
-- the daily run.
SELECT count(task_put('recommendations_refresh', account_id, jsonb_build_object('interest_id', id), :request_id, NULL))
FROM interest
WHERE id = :interest AND is_active AND computed_for IS DISTINCT FROM context_version;

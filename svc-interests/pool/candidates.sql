-- name: candidates_stored(interest) (read)
-- Returns its pool, in the form of an answer of svc-search.
SELECT coalesce(jsonb_agg(jsonb_build_object('arxiv_id', e.arxiv_id, 'relevance', e.relevance, 'matched', e.matched)), '[]')
FROM interest i JOIN pool_entry e ON e.interest_id = i.id AND e.pool_version = i.pool_version
WHERE i.id = :interest;

-- name: atom_feed(hash) (read)
-- :hash is that of the token. A time of Last-Modified is of whole seconds, and papers of that second may come after it: that of
-- the last minute is left out (RFC 9110, section 8.8.2.2). It is also that of the last change of the interest, whose name the
-- feed has, and of the papers.
SELECT f.id, 'expops: ' || coalesce(i.name, 'recommended papers') AS title, time_json(last.at) AS updated,
       CASE WHEN last.changed_at < now() - interval '1 minute'
            THEN to_char(last.changed_at AT TIME ZONE 'UTC', 'Dy, DD Mon YYYY HH24:MI:SS "GMT"') END AS last_modified,
       '/console/' || coalesce('?interest=' || f.interest_id, '') AS page
FROM feed f LEFT JOIN interest i ON i.id = f.interest_id,
     LATERAL (SELECT coalesce(max(r.recommended_at), f.created_at) AS at,
                     coalesce(greatest(max(r.recommended_at), i.updated_at,
                                       max((SELECT p.updated_at FROM paper p WHERE p.arxiv_id = r.arxiv_id OFFSET 0))),
                              f.created_at) AS changed_at
              FROM feed_recommendations(f) r) AS last
WHERE f.hash = :hash;

-- name: atom_entries(feed) (read)
-- Returns the newest 50 papers.
SELECT r.id, p.asset ->> 'title' AS title, p.asset ->> 'url' AS url, time_json(r.recommended_at) AS recommended_at,
       coalesce(p.asset -> 'categories', '[]') AS categories,
       concat_ws(E'\n\n', 'Score ' || round(r.relevance_score::numeric, 2) || '. ' || r.reasoning,
                 nullif(p.abstract, '')) AS summary
FROM feed f, LATERAL feed_recommendations(f) r JOIN paper p USING (arxiv_id)
WHERE f.id = :feed
ORDER BY r.recommended_at DESC, r.id DESC;

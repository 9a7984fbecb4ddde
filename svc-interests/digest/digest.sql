-- name: digest_tag (read)
-- $1 account, $2 the only interest that the key may see (NULL: all).
SELECT digest_tag($1, $2);

-- name: digest_get (read)
-- $1 account, $2 period, $3 limit for each interest, $4 the only interest that the key may see (NULL: all), $5 source_type or NULL,
-- $6 number of interests, $7 offset: the digest, the number of active interests, and the text of its entity tag. In json, which is
-- only appended to, where jsonb would copy each paper again at every level.
WITH page AS MATERIALIZED (
    SELECT id FROM interest
    WHERE account_id = $1 AND is_active AND ($4::uuid IS NULL OR id = $4)
    ORDER BY created_at DESC, id DESC LIMIT $6 OFFSET $7
), shown AS MATERIALIZED (
    SELECT i.created_at, i.id, best.count, json_build_object(
               'id', i.id, 'name', i.name, 'daily_count', i.daily_count, 'pool_status', i.pool_status, 'count', best.count,
               'message', CASE WHEN best.count = 0 THEN interest_waits_for(i)
                               WHEN best.far = best.count THEN 'The papers are hardly related to this interest, but nothing closer is left.'
                               WHEN best.far > 0
                               THEN 'Some of the papers are hardly related to this interest, but nothing closer is left.' END,
               'recommendations', best.papers) AS json
    FROM page JOIN interest i USING (id)
    CROSS JOIN LATERAL (
        SELECT count(*) AS count, count(*) FILTER (WHERE is_far) AS far, coalesce(json_agg(paper), '[]') AS papers
        FROM (SELECT recommendation_shown(r, i.name, p, s.signals) AS paper, r.reasoning LIKE '%; nothing closer was found.' AS is_far
              FROM (SELECT * FROM recommendation of_interest
                    WHERE interest_id = i.id AND is_of_period(of_interest, i, $2) AND ($5::text IS NULL OR source_type(of_interest) = $5)
                    ORDER BY relevance_score DESC, id LIMIT $3) r
              JOIN paper p USING (arxiv_id)
              CROSS JOIN recommendation_signals(r.id) s
              ORDER BY r.relevance_score DESC, r.id LIMIT $3) ordered
    ) best
)
SELECT json_build_object(
           'date', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
           'period', $2::text,
           'source_types', CASE WHEN $5 IS NULL THEN source_types() ELSE json_build_array($5::text) END,
           'total', (SELECT coalesce(sum(count), 0) FROM shown),
           'interests', (SELECT coalesce(json_agg(json ORDER BY created_at DESC, id DESC), '[]') FROM shown)),
       (SELECT count(*) FROM interest WHERE account_id = $1 AND is_active AND ($4::uuid IS NULL OR id = $4)) AS total,
       digest_tag($1, $4) AS tag;

-- name: digest_tag(account, only_interest) (read)
-- :only_interest is the only one that the key may see. NULL: all.
SELECT tag FROM digest_tags(:account, :only_interest);

-- name: digest_get(account, period, limit, only_interest, source_type, limit_interests, offset) (read)
-- Returns a row for each paper, and one for each interest without (digest/digest_json.h), with the columns of
-- recommended/recommended_paper.h. Each has the text of the entity tag and the number of active interests, which are computed
-- once. Without an interest there is one row. :limit is that of the papers of an interest. :limit_interests and :offset select
-- the interests. :only_interest is the only one that the key may see. NULL: all. A :source_type of NULL: any. OFFSET 0: one
-- look-up for each paper, where the planner would read the whole table for as many as it expects.
WITH page AS MATERIALIZED (
    SELECT id FROM interest
    WHERE account_id = :account AND is_active AND (:only_interest::uuid IS NULL OR id = :only_interest)
    ORDER BY created_at DESC, id DESC LIMIT :limit_interests OFFSET :offset
), shown AS (
    SELECT i.id AS interest_id, i.created_at AS interest_created_at, i.name AS interest_name, i.daily_count, i.pool_status,
           CASE WHEN r.id IS NULL THEN interest_waits_for(i) END AS waits_for,
           r.reasoning LIKE '%; nothing closer was found.' AS is_far,
           r.id AS recommendation_id, r.arxiv_id, r.relevance_score, r.rank, r.reasoning, r.suggested_experiment, r.recommended_at
    FROM page JOIN interest i USING (id)
    LEFT JOIN LATERAL (SELECT * FROM recommendation of_interest
                       WHERE interest_id = i.id AND is_of_period(of_interest, i, :period)
                         AND (:source_type::text IS NULL OR source_type(of_interest) = :source_type)
                       ORDER BY relevance_score DESC, id
                       LIMIT :limit) r ON true
)
SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS date,
       (SELECT t.tag FROM digest_tags(:account, :only_interest) t) AS tag,
       (SELECT count(*) FROM interest
        WHERE account_id = :account AND is_active AND (:only_interest::uuid IS NULL OR id = :only_interest)) AS total,
       s.interest_id, s.interest_name, s.daily_count, s.pool_status, s.waits_for, s.is_far,
       s.recommendation_id, s.arxiv_id AS resource_id, s.reasoning, s.suggested_experiment,
       time_json(s.recommended_at) AS recommended_at, s.relevance_score, s.rank,
       (SELECT g.signals FROM recommendation_signals(s.recommendation_id) g) AS signals,
       p.updated_at AS paper_updated_at
FROM (SELECT) one LEFT JOIN shown s ON true
LEFT JOIN LATERAL (SELECT updated_at FROM paper WHERE arxiv_id = s.arxiv_id OFFSET 0) p ON true
ORDER BY s.interest_created_at DESC, s.interest_id DESC, s.relevance_score DESC, s.recommendation_id;

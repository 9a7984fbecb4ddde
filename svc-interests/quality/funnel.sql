-- name: funnel_get(account, only_interest, days, since) (read)
-- Returns what became of the papers since :since, and the same by the bounds of the score. :only_interest is the only one that
-- the key may see. NULL: all. :days is the number of days until today, :since the first of them of which all recommendations are
-- there, in UTC.
WITH paper AS (
    SELECT r.relevance_score AS score, bool_or(f.signal IN ('like', 'save', 'implemented')) AS is_liked,
           bool_or(f.signal IN ('dislike', 'dismiss')) AS is_disliked, bool_or(f.signal = 'implemented') AS is_implemented
    FROM recommendation r LEFT JOIN feedback f ON f.recommendation_id = r.id
    WHERE r.account_id = :account AND (:only_interest::uuid IS NULL OR r.interest_id = :only_interest)
      AND r.recommended_at >= :since::date::timestamp AT TIME ZONE 'UTC'
    GROUP BY r.id
), counted AS (
    SELECT b.bound, count(p.score) AS recommended, count(*) FILTER (WHERE p.is_liked) AS liked,
           count(*) FILTER (WHERE p.is_disliked AND NOT p.is_liked) AS disliked,
           count(*) FILTER (WHERE p.is_implemented) AS implemented
    FROM (VALUES (0.8, 2), (0.6, 0.8), (0.4, 0.6), (0, 0.4)) AS b (bound, below)
    LEFT JOIN paper p ON p.score >= b.bound AND p.score < b.below
    GROUP BY b.bound
)
SELECT jsonb_build_object(
    'days', :days::int, 'since', :since::date,
    'recommended', sum(recommended), 'liked', sum(liked), 'disliked', sum(disliked), 'implemented', sum(implemented),
    'bands', jsonb_agg(jsonb_build_object('from', bound, 'recommended', recommended, 'liked', liked, 'disliked', disliked)
                       ORDER BY bound DESC))
FROM counted;

-- name: quality_get(account, interest, since, until) (read)
-- :since and :until are the first and the last day, in UTC. Every week of the period has a row, also one without recommendations.
-- The period is empty where the last day is before the first. A pull request or issue is of the interest that its run names, else
-- of that of the recommendation. An experiment that names the paper is of each interest for which the paper was recommended. No
-- row: there is no such interest.
WITH recommended AS (
    SELECT r.id, r.arxiv_id, date_trunc('week', r.recommended_at, 'UTC') AS week
    FROM recommendation r
    WHERE r.account_id = :account AND r.interest_id = :interest
      AND r.recommended_at >= :since::date::timestamp AT TIME ZONE 'UTC'
      AND r.recommended_at < (:until::date + 1)::timestamp AT TIME ZONE 'UTC'
), outcome AS (
    SELECT r.id, o.stage = 'merged' AS is_merged, false AS is_shipped
    FROM recommended r JOIN run_outcome o ON o.recommendation_id = r.id
    WHERE o.account_id = :account AND o.stage <> 'withdrawn' AND coalesce(o.interest_id, :interest) = :interest
    UNION ALL
    SELECT r.id, o.stage = 'merged', false
    FROM recommended r JOIN run_outcome o ON o.interest_id = :interest AND o.arxiv_id = r.arxiv_id
    WHERE o.account_id = :account AND o.stage <> 'withdrawn'
    UNION ALL
    SELECT r.id, e.pr_status = 'merged', e.status = 'shipped' OR e.outcome = 'ship'
    FROM recommended r JOIN experiment_paper p ON p.account_id = :account AND p.arxiv_id = r.arxiv_id
    JOIN experiment e ON e.id = p.experiment_id AND NOT e.is_deleted
    WHERE e.status <> 'draft' OR e.outcome IS NOT NULL OR e.pr_status IS NOT NULL
), tried AS (
    SELECT id, bool_or(is_merged) AS is_merged, bool_or(is_shipped) AS is_shipped FROM outcome GROUP BY id
), counted AS (
    SELECT r.week, count(*) AS recommended,
           count(*) FILTER (WHERE EXISTS (SELECT FROM feedback f WHERE f.recommendation_id = r.id)) AS rated,
           count(t.id) AS run, count(*) FILTER (WHERE t.is_merged) AS merged, count(*) FILTER (WHERE t.is_shipped) AS shipped
    FROM recommended r LEFT JOIN tried t USING (id)
    GROUP BY r.week
)
SELECT (SELECT coalesce(json_agg(json_build_object(
                   'week', to_char(week AT TIME ZONE 'UTC', 'YYYY-MM-DD'), 'recommended', coalesce(c.recommended, 0),
                   'rated', coalesce(c.rated, 0), 'run', coalesce(c.run, 0), 'merged', coalesce(c.merged, 0),
                   'shipped', coalesce(c.shipped, 0)) ORDER BY week), '[]')
        FROM generate_series(date_trunc('week', :since::date::timestamp) AT TIME ZONE 'UTC',
                             :until::date::timestamp AT TIME ZONE 'UTC',
                             interval '168 hours') AS week
        LEFT JOIN counted c USING (week)
        WHERE :since::date <= :until::date)
FROM interest i
WHERE i.id = :interest AND i.account_id = :account;

-- name: budget_put
-- $1 account, $2 the body, $3 the repository as first seen, or NULL.
SELECT budget_put($1, $2, $3);

-- name: budget_repo (read)
-- $1 account, $2 repository. Its name as first seen; no row: it is outside the account's footprint.
SELECT f.repo FROM repo_in_footprint($1, repository_now($2)) AS f (repo) WHERE f.repo IS NOT NULL;

-- name: budget_list (read)
-- $1 account, $2 repository and $3 interest of a key that is limited (NULL: not), $4 whether it is, $5 limit, $6 offset.
WITH seen AS (
    SELECT b FROM budget b WHERE b.account_id = $1 AND (NOT $4 OR budget_has(b, repository_key($2), $3))
), page AS (
    SELECT s.b FROM seen s ORDER BY (s.b).scope, (s.b).target, (s.b).period LIMIT $5 OFFSET $6
)
SELECT (SELECT coalesce(jsonb_agg(CASE WHEN $4 AND (x.b).scope = 'account' THEN budget_limited_json(x.b) ELSE budget_json(x.b) END
                                  ORDER BY (x.b).scope, (x.b).target, (x.b).period), '[]') FROM page x) AS page,
       (SELECT count(*) FROM seen) AS total;

-- name: budget_history (read)
-- $1 account, $2 budget, $3 limit, $4 offset. The periods that have ended, newest first; no row: there is no such budget.
SELECT (SELECT coalesce(jsonb_agg(budget_period_json(b, x.starts_at, x.ends_at, x) ORDER BY x.starts_at DESC), '[]')
        FROM (SELECT p.* FROM budget_period p WHERE p.budget_id = b.id AND p.ends_at <= now()
              ORDER BY p.starts_at DESC LIMIT $3 OFFSET $4) x) AS page,
       (SELECT count(*) FROM budget_period p WHERE p.budget_id = b.id AND p.ends_at <= now()) AS total
FROM budget b WHERE b.account_id = $1 AND b.id = $2;

-- name: budget_delete
-- $1 account, $2 budget. No row: there is none.
SELECT jsonb_build_object('budget_id', $2::uuid, 'deleted', true) WHERE budget_remove($1, $2);

-- name: budget_next (read)
-- $1 budget. The next ones that are to be compared with their runs.
SELECT b.id FROM budget b WHERE budget_is_due(b) AND b.id > $1 ORDER BY b.id LIMIT 100;

-- name: budget_check_due
-- $1 budget. Whether it was compared with its runs, and what came of it.
SELECT is_done, drift_usd, lost_zone, fault FROM budget_check_due($1);

-- name: budget_leave_out
-- $1 budget.
UPDATE budget b SET checked_at = now() WHERE b.id = $1 AND budget_is_due(b);

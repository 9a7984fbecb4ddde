-- name: budget_put(account, body, repository)
-- :repository is the name as first seen, or NULL.
SELECT budget_put(:account, :body, :repository);

-- name: budget_repo(account, repository) (read)
-- Returns its name as first seen. No row: it is outside the account's footprint.
SELECT f.repo FROM repo_in_footprint(:account, repository_now(:repository)) AS f (repo) WHERE f.repo IS NOT NULL;

-- name: budget_list(account, only_repository, only_interest, is_limited, limit, offset) (read)
-- :is_limited: the key is limited, to :only_repository and :only_interest. Either of NULL: not to it.
WITH seen AS (
    SELECT b FROM budget b
    WHERE b.account_id = :account AND (NOT :is_limited OR budget_has(b, repository_key(:only_repository), :only_interest))
), page AS (
    SELECT s.b FROM seen s
    ORDER BY (s.b).scope, (s.b).target, (s.b).period LIMIT :limit OFFSET :offset
)
SELECT (SELECT coalesce(jsonb_agg(CASE WHEN :is_limited AND (x.b).scope = 'account'
                                       THEN budget_limited_json(x.b) ELSE budget_json(x.b) END
                                  ORDER BY (x.b).scope, (x.b).target, (x.b).period), '[]') FROM page x) AS page,
       (SELECT count(*) FROM seen) AS total;

-- name: budget_history(account, budget, limit, offset) (read)
-- Returns the periods that have ended, newest first. No row: there is no such budget.
SELECT (SELECT coalesce(jsonb_agg(budget_period_json(b, x.starts_at, x.ends_at, x) ORDER BY x.starts_at DESC), '[]')
        FROM (SELECT p.* FROM budget_period p WHERE p.budget_id = b.id AND p.ends_at <= now()
              ORDER BY p.starts_at DESC LIMIT :limit OFFSET :offset) x) AS page,
       (SELECT count(*) FROM budget_period p WHERE p.budget_id = b.id AND p.ends_at <= now()) AS total
FROM budget b WHERE b.account_id = :account AND b.id = :budget;

-- name: budget_delete(account, budget)
-- No row: there is none.
SELECT jsonb_build_object('budget_id', :budget::uuid, 'deleted', true) WHERE budget_remove(:account, :budget);

-- name: budget_next(after) (read)
-- Returns the next budgets behind the budget :after that are to be compared with their runs.
SELECT b.id FROM budget b WHERE budget_is_due(b) AND b.id > :after ORDER BY b.id LIMIT 100;

-- name: budget_check_due(budget)
-- Returns whether it was compared with its runs, and what came of it.
SELECT is_done, drift_usd, lost_zone, fault FROM budget_check_due(:budget);

-- name: budget_leave_out(budget)
UPDATE budget b SET checked_at = now() WHERE b.id = :budget AND budget_is_due(b);

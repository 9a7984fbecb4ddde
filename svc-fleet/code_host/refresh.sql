-- name: refresh_list(account, only_repository) (read)
-- :only_repository is the only one that the key may see; NULL: all. Returns the account's repositories, the longest unseen first:
-- name, since when it is known (NULL: it never was fetched), and whether the last fetch has not come to its end.
SELECT repo_in_footprint(:account, r.repo_key) AS repo, time_json(f.fetched_at) AS fetched_at,
    f.tried_at IS NOT NULL AND f.fetched_at >= f.tried_at IS NOT TRUE AS is_unfinished
FROM (SELECT i.repo_key FROM installation i WHERE i.account_id = :account
      UNION SELECT s.repo_key FROM run_repo s WHERE s.account_id = :account) r
LEFT JOIN repo_fetch f ON f.account_id = :account AND f.repo_key = r.repo_key
WHERE :only_repository::text IS NULL OR r.repo_key = repository_key(:only_repository)
ORDER BY f.tried_at NULLS FIRST, r.repo_key;

-- name: refresh_begin(account, repository, pause_s)
-- Notes when fetching it begins. Returns that, with all digits. No row: that was less than :pause_s seconds ago, or the account was
-- deleted.
INSERT INTO repo_fetch AS f (account_id, repo_key, tried_at) VALUES (:account, lower(repository_hold(:repository)), now())
ON CONFLICT (account_id, repo_key) DO UPDATE SET tried_at = excluded.tried_at
WHERE f.tried_at <= now() - make_interval(secs => :pause_s::float8)
RETURNING f.tried_at::text AS begun_at;

-- name: refresh_own(account, repository)
-- The code host has let the account read it.
SELECT repo_own(:account, repository_hold(:repository));

-- name: refresh_pull_requests_update(repository, pull_requests)
SELECT code_host_items_update(repository_hold(:repository), 'pull_request', :pull_requests);

-- name: refresh_issues_update(repository, issues)
SELECT code_host_items_update(repository_hold(:repository), 'issue', :issues);

-- name: refresh_runs_update(repository, runs)
-- :runs are workflow runs.
SELECT workflow_runs_update(repository_hold(:repository), :runs);

-- name: refresh_end(account, repository, begun_at)
-- All of it was fetched. Another one may have begun since :begun_at.
UPDATE repo_fetch SET fetched_at = greatest(fetched_at, :begun_at::timestamptz)
WHERE account_id = :account AND repo_key = repository_key(:repository);

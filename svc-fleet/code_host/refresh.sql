-- name: refresh_list (read)
-- $1 account, $2 the only repository that the key may see (NULL: all). The account's repositories, the longest unseen first:
-- name, and since when it is known; NULL: it never was fetched.
SELECT repo_in_footprint($1, r.repo_key) AS repo, time_json(f.fetched_at) AS fetched_at
FROM (SELECT i.repo_key FROM installation i WHERE i.account_id = $1
      UNION SELECT s.repo_key FROM run_repo s WHERE s.account_id = $1) r
LEFT JOIN repo_fetch f ON f.account_id = $1 AND f.repo_key = r.repo_key
WHERE $2::text IS NULL OR r.repo_key = repository_key($2)
ORDER BY f.tried_at NULLS FIRST, r.repo_key;

-- name: refresh_begin
-- $1 account, $2 repository: when fetching it begins.
INSERT INTO repo_fetch AS f (account_id, repo_key, tried_at) VALUES ($1, lower(repository_hold($2)), now())
ON CONFLICT (account_id, repo_key) DO UPDATE SET tried_at = excluded.tried_at;

-- name: refresh_own
-- $1 account, $2 repository: the code host has let the account read it.
SELECT repo_own($1, repository_hold($2));

-- name: refresh_pull_requests_update
-- $1 repository, $2 pull requests.
SELECT code_host_items_update(repository_hold($1), 'pull_request', $2);

-- name: refresh_issues_update
-- $1 repository, $2 issues.
SELECT code_host_items_update(repository_hold($1), 'issue', $2);

-- name: refresh_runs_update
-- $1 repository, $2 workflow runs.
SELECT workflow_runs_update(repository_hold($1), $2);

-- name: refresh_end
-- $1 account, $2 repository: all of it was fetched.
UPDATE repo_fetch SET fetched_at = tried_at WHERE account_id = $1 AND repo_key = repository_key($2);

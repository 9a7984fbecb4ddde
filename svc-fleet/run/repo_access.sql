-- name: repo_access_is_due(account, repository) (read)
SELECT repo_access_is_due(:account, repository_now(:repository));

-- name: repo_access_due(repository) (read)
-- Returns the owners to be asked about again.
SELECT o.account_id FROM owned_repo o
WHERE o.repo_key = repository_key(:repository) AND repo_access_is_due(o.account_id, o.repo_key);

-- name: repo_access_own(account, repository)
SELECT repo_own(:account, repository_hold(:repository));

-- name: repo_access_disown(account, repository)
DELETE FROM owned_repo WHERE account_id = :account AND repo_key = repository_key(:repository);

-- name: repo_access_end(account, repository, web_url, occurred_at)
-- A :repository of NULL: all. :web_url is the address of the code host's pages.
SELECT repo_access_end(:account, repository_hold(:repository), :web_url, :occurred_at::timestamptz);

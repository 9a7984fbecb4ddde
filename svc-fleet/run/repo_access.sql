-- name: repo_access_is_due (read)
-- $1 account, $2 repository.
SELECT repo_access_is_due($1, repository_now($2));

-- name: repo_access_due (read)
-- $1 repository: the owners to be asked about again.
SELECT o.account_id FROM owned_repo o WHERE o.repo_key = repository_key($1) AND repo_access_is_due(o.account_id, o.repo_key);

-- name: repo_access_own
-- $1 account, $2 repository.
SELECT repo_own($1, repository_hold($2));

-- name: repo_access_disown
DELETE FROM owned_repo WHERE account_id = $1 AND repo_key = repository_key($2);

-- name: repo_access_end
-- $1 account, $2 repository or NULL: all, $3 address of the code host's pages, $4 when.
SELECT repo_access_end($1, repository_hold($2), $3, $4::timestamptz);

-- name: run_status_ask
-- $1 account, $2 repository. Its name as first seen, whether the code host is to be asked now, and the time. No row: it is outside
-- the account's footprint.
SELECT f.repo, run_status_ask($1, f.repo) AS is_due, now() AS now FROM repo_in_footprint($1, repository_hold($2)) AS f (repo) WHERE f.repo IS NOT NULL;

-- name: run_status_give_up
SELECT run_status_give_up($1, repository_hold($2));

-- name: run_status_update
-- $1 account, $2 repository, $3 run, or JSON null: there is none, $4 when it was asked for.
SELECT run_status_update($1, repository_hold($2), $3, $4);

-- name: run_status_get
-- $1 account, $2 repository.
SELECT run_status_json($1, repository_now($2));

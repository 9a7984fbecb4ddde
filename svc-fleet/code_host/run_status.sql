-- name: run_status_ask(account, repository)
-- Returns its name as first seen, whether the code host is to be asked now, and the time. No row: it is outside the account's
-- footprint.
SELECT f.repo, run_status_ask(:account, f.repo) AS is_due, now() AS now
FROM repo_in_footprint(:account, repository_hold(:repository)) AS f (repo)
WHERE f.repo IS NOT NULL;

-- name: run_status_give_up(account, repository)
SELECT run_status_give_up(:account, repository_hold(:repository));

-- name: run_status_update(account, repository, run, asked_at)
-- A :run of JSON null: there is none. :asked_at is when it was asked for.
SELECT run_status_update(:account, repository_hold(:repository), :run, :asked_at);

-- name: run_status_get(account, repository)
SELECT run_status_json(:account, repository_now(:repository));

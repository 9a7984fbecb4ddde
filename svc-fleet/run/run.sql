-- name: runs_update
-- $1 what is told of runs, see the function: an item each (pg/batch.h).
SELECT place, is_new, shown FROM runs_update(run_updates_held(to_jsonb($1::jsonb[])));

-- name: run_remove
-- $1 account, $2 repository, $3 run. No row: there is none.
SELECT r FROM run_remove($1, repository_hold($2), $3) r WHERE r IS NOT NULL;

-- name: run_list (read)
-- $1 account, $2 repository, $3 outcome, $4 agent, $5 interest, $6 paper (NULL: any), $7 first day, $8 last day, $9 first
-- day and $10 last day of the merge of its pull request (NULL: unbounded), $11 whether with the large members, $12 limit,
-- $13 offset, $14 repositories as a JSON array (repos_named(); NULL: any), $15 id of the run (NULL: any).
SELECT page, total FROM run_page($1, repository_key($2), repos_named($14), $15, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13);

-- name: run_partitions_make
SELECT run_partitions_make((now() AT TIME ZONE 'UTC')::date, 3);

-- name: run_told_months_keep
SELECT told_months_keep();

-- name: run_guards_forget
-- Delete up to 1000 rows of repo_guard that nobody holds: whoever locks a repository next makes its row again. How many.
WITH free AS (
    SELECT repo_key FROM repo_guard LIMIT 1000 FOR UPDATE SKIP LOCKED
), deleted AS (
    DELETE FROM repo_guard g USING free WHERE g.repo_key = free.repo_key RETURNING 1
)
SELECT count(*) FROM deleted;

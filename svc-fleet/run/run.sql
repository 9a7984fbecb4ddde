-- name: runs_update(updates)
-- :updates is what is told of runs, see the function: an item each (pg/batch.h).
SELECT place, is_new, shown FROM runs_update(run_updates_held(to_jsonb(:updates::jsonb[])));

-- name: run_remove(account, repository, run)
-- No row: there is none.
SELECT r FROM run_remove(:account, repository_hold(:repository), :run) r WHERE r IS NOT NULL;

-- name: run_list(account, repository, outcome, agent, interest, paper, first_day, last_day, merged_from, merged_until,
--   with_large, limit, offset, repositories, run) (read)
-- A filter of NULL: any. A day of NULL: unbounded. :merged_from and :merged_until are the first and the last day of the merge of
-- the pull request. :with_large: with the large members. :repositories is a JSON array (repos_named()).
SELECT page, total
FROM run_page(:account, repository_key(:repository), repos_named(:repositories), :run, :outcome, :agent, :interest, :paper,
              :first_day, :last_day, :merged_from, :merged_until, :with_large, :limit, :offset);

-- name: run_partitions_make
SELECT run_partitions_make((now() AT TIME ZONE 'UTC')::date, 3);

-- name: run_told_months_keep
SELECT told_months_keep();

-- name: run_guards_forget
-- Deletes up to 1000 rows of repo_guard that nobody holds: whoever locks a repository next makes its row again. Returns how many.
WITH free AS (
    SELECT repo_key FROM repo_guard LIMIT 1000 FOR UPDATE SKIP LOCKED
), deleted AS (
    DELETE FROM repo_guard g USING free WHERE g.repo_key = free.repo_key RETURNING 1
)
SELECT count(*) FROM deleted;

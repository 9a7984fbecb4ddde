-- name: run_report
-- $1 account, $2 repository, $3 run id, $4 report, $5 its large members, $6 whether the account is known to own the repository.
SELECT shown, is_new, CASE WHEN $6::boolean THEN repo_own($1, $2) END FROM run_report($1, $2, $3, $4, $5);

-- name: run_list (read)
-- $1 account, $2 repository, $3 outcome, $4 agent, $5 interest, $6 paper (NULL: any), $7 first day, $8 last day, $9 first
-- day and $10 last day of the merge of its pull request (NULL: unbounded), $11 whether with the large members, $12 limit,
-- $13 offset.
SELECT page, total FROM run_page($1, lower($2), $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13);

-- name: run_partitions_make
SELECT run_partitions_make((now() AT TIME ZONE 'UTC')::date, 3);

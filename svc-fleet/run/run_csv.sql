-- name: run_csv_outline (read)
-- $1 account, $2 repository, $3 outcome, $4 agent, $5 interest, $6 paper (NULL: any), $7 first day, $8 last day, $9 first day and $10 last day
-- of the merge (NULL: unbounded), $11 repositories as a JSON array, $12 id of the run (NULL: any), $13 the most rows.
SELECT ids, names, total FROM run_outline($1, repository_key($2), repos_named($11), $12, $3, $4, $5, $6, $7, $8, $9, $10, $13);

-- name: run_csv_rows (read)
-- $1 account, $2 ids as a JSON array, $3 the members that are columns.
SELECT page, taken FROM run_csv_rows($1, $2::jsonb, $3::text[]);

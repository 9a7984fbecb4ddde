-- name: retention_delete_runs
-- $1 days, $2 the last id that was looked at, $3 how many at most, $4 whether only those that were exported: the last id now (NULL: none is
-- left), and how many were deleted.
SELECT last_id, deleted FROM runs_expire($1::int, $2, $3::int, $4::boolean);

-- name: retention_forget
-- $1 days. How many of 10,000 were deleted.
SELECT rejections_forget($1::int, 10000);

-- name: retention_delete_others
-- $1 days. How many of 10,000 were deleted.
SELECT fleet_others_delete_old($1::int, 10000);

-- name: retention_drop
-- $1 days of details, $2 days of runs, $3 whether details wait until their runs were exported. How many months were dropped.
SELECT run_details_expire($1::int, $3::boolean) + run_months_drop($2::int);

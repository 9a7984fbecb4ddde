-- name: retention_delete_runs
-- $1 days, $2 the last id that was looked at, $3 how many at most, $4 whether only those that were exported: the last id now (NULL: none is
-- left), and how many were deleted.
SELECT last_id, deleted FROM runs_expire($1::int, $2, $3::int, $4::boolean);

-- name: retention_forget
-- $1 days. How many of 10,000 were deleted.
SELECT rejections_forget($1::int, 10000);

-- name: retention_drop_details
-- $1 days of details, $2 whether they wait until their runs were exported: whether a month was dropped.
SELECT run_detail_month_drop($1::int, $2::boolean);

-- name: retention_drop_runs
-- $1 days of runs: whether an empty month was dropped.
SELECT run_month_drop($1::int);

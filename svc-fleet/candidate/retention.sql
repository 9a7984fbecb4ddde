-- name: retention_forget
-- $1 days. How many of 10,000 were deleted.
SELECT rejections_forget($1::int, 10000);

-- name: retention_drop
-- $1 days. How many months were dropped.
SELECT run_details_drop($1::int);

-- name: retention_prepare
-- Whether there was something to do.
SELECT explanation_default_prepare();

-- name: retention_keep_months
-- $1 days of explanations: how many partitions were dropped.
SELECT explanation_months_keep($1::int);

-- name: retention_delete
-- $1 the last id that was looked at, $2 days, $3 how many at most: the last id now, and how many were deleted.
SELECT last_id, deleted FROM recommendations_delete_old($1, $2::int, $3::int);

-- name: retention_prepare
-- Returns whether there was something to do.
SELECT explanation_default_prepare();

-- name: retention_keep_months(days)
-- Keeps the explanations of the last :days. Returns how many partitions were dropped.
SELECT explanation_months_keep(:days::int);

-- name: retention_delete(after, days, limit)
-- Looks at the next :limit recommendations of before the last :days, and deletes those that are unused. :after is the last id
-- that was looked at. Returns the last id now, and how many were deleted.
SELECT last_id, deleted FROM recommendations_delete_old(:after, :days::int, :limit::int);

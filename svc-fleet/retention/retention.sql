-- name: retention_delete_runs(days, after, limit, only_exported)
-- Looks at :limit runs at most, behind the run :after, that are older than :days. :only_exported: it deletes only those that were
-- exported. Returns the last id that was looked at (NULL: none is left), and how many were deleted.
SELECT last_id, deleted FROM runs_expire(:days::int, :after, :limit::int, :only_exported::boolean);

-- name: retention_forget(days)
-- Returns how many of 10,000 were deleted.
SELECT rejections_forget(:days::int, 10000);

-- name: retention_drop_details(days, only_exported)
-- Returns whether a month was dropped. :only_exported: the details wait until their runs were exported.
SELECT run_detail_month_drop(:days::int, :only_exported::boolean);

-- name: retention_drop_runs(days)
-- Returns whether an empty month was dropped.
SELECT run_month_drop(:days::int);

-- name: retained_table_delete_old(table, condition, days, limit, has_index)
-- :has_index: an index finds the rows. Returns how many were deleted.
SELECT table_delete_old(:table, :condition, :days::int, :limit::int, :has_index);

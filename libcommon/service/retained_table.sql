-- name: retained_table_delete_old
-- $1 table, $2 condition, $3 days, $4 how many at most: how many were deleted.
SELECT table_delete_old($1, $2, $3::int, $4::int);

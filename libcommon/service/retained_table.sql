-- name: retained_table_delete_old
-- $1 table, $2 condition, $3 days, $4 how many at most, $5 whether an index finds them: how many were deleted.
SELECT table_delete_old($1, $2, $3::int, $4::int, $5);

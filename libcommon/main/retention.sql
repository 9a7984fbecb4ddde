-- name: retention_tables (read)
-- Returns rows, bytes and name of each table.
SELECT t.name, t.bytes, r.rows, r.is_estimate
FROM tables_of_schema() t, table_rows(t.name) r
ORDER BY t.name;

-- name: retention_oldest(table, column) (read)
-- :column has the age.
SELECT to_char(table_oldest(:table, :column) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');

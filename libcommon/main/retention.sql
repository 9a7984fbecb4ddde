-- name: retention_tables (read)
-- Rows, bytes and name of each table.
SELECT t.name, t.bytes, r.rows, r.is_estimate FROM tables_of_schema() t, table_rows(t.name) r ORDER BY t.name;

-- name: retention_oldest (read)
-- $1 table, $2 the column with the age.
SELECT to_char(table_oldest($1, $2) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');

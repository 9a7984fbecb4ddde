-- name: experiment_csv_outline (read)
-- $1 account, $2 project, $3 status, $4 ticket source, $5 ticket, $6 created_via, $7 tag (NULL: any), $8 whether the key is limited, to
-- the repository $9 and the project $10, $11 the most rows.
SELECT ids, names, total FROM experiment_outline($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

-- name: experiment_csv_of_ids (read)
-- $1 account, $2 ids as a JSON array: the outline of these.
SELECT $2::json AS ids, experiment_figure_names(f.found) AS names, cardinality(f.found) AS total
FROM (SELECT ARRAY(SELECT e.id FROM experiment e WHERE e.account_id = $1
                   AND e.id = ANY (ARRAY(SELECT i::uuid FROM json_array_elements_text($2::json) i)))) AS f (found);

-- name: experiment_csv_rows (read)
-- $1 account, $2 ids as a JSON array.
SELECT experiment_rows($1, $2::jsonb);

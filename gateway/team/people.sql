-- name: people_find (read)
-- $1 account, $2 ids of persons and keys as a JSON array.
SELECT people_named($1, $2);

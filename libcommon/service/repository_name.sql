-- name: repository_renamed
-- $1 number, $2 name, $3 name before (NULL: unknown), $4 version of the event, $5 address of the code host's pages.
SELECT repository_renamed($1, $2, $3, $4, $5);

-- name: repository_forgotten
-- $1 number.
SELECT repository_forgotten($1);

-- name: repository_named (read)
-- $1 name, $2 number (NULL: unknown).
SELECT repository_named($1, $2);

-- name: repository_is_same (read)
SELECT repository_key($1) = repository_key($2);

-- name: catalogue_outcome (read)
-- $1 id of a paper: the members of it that change.
SELECT build_outcome($1);

-- name: spend_reprice
-- $1 first day, $2 and $3 behind which run, or NULL; see the function.
SELECT last_at, last_id, runs, changed FROM spend_reprice($1, $2, $3);

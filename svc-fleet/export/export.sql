-- name: export_days
-- $1 the first day that is not exported, $2 target: the days that are to be written.
SELECT export_days($1::date, $2);

-- name: export_has_changed (read)
-- $1 day, $2 target: whether a run has changed since the newest file.
SELECT export_day_has_changed($1::date, $2);

-- name: export_next (read)
-- $1 day, $2 target: the number of the file to write, and whether it was begun before.
SELECT part, was_begun FROM export_next($1::date, $2);

-- name: export_start
-- $1 day, $2 target, $3 number of a file that the store does not have.
SELECT export_start($1::date, $2, $3::int);

-- name: export_page (read)
-- $1 day, $2 the last id, $3 how many runs at most: their ids and lines.
SELECT id, line FROM export_page($1::date, $2, $3::int);

-- name: export_finish
-- $1 day, $2 target, $3 number of the file, $4 its runs, $5 its bytes (NULL: not known).
UPDATE run_export SET finished_at = now(), runs = $4::bigint, bytes = $5::bigint
WHERE day = $1::date AND target = $2 AND part = $3::int;

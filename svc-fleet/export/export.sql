-- name: export_days(before, target)
-- Returns the days that are to be written. :before is the first day that is not exported.
SELECT export_days(:before::date, :target);

-- name: export_has_changed(day, target) (read)
-- Returns whether a run has changed since the newest file.
SELECT export_day_has_changed(:day::date, :target);

-- name: export_next(day, target) (read)
-- Returns the number of the file to write, and whether it was begun before.
SELECT part, was_begun FROM export_next(:day::date, :target);

-- name: export_start(day, target, part, lease, owner, fence)
-- :part is the number of a file that the store does not have. No row: another process has the lease.
SELECT export_start(:day::date, :target, :part::int)
FROM (SELECT FROM lease WHERE name = :lease AND owner = :owner AND fence = :fence::bigint FOR KEY SHARE) held;

-- name: export_page(day, after, limit) (read)
-- Returns the ids and lines of at most :limit runs behind the run :after.
SELECT id, line FROM export_page(:day::date, :after, :limit::int);

-- name: export_finish(day, target, part, runs, bytes, lease, owner, fence)
-- :part is the number of the file. :bytes of NULL: not known. No row: another process has the lease.
UPDATE run_export SET finished_at = now(), runs = :runs::bigint, bytes = :bytes::bigint
FROM (SELECT FROM lease WHERE name = :lease AND owner = :owner AND fence = :fence::bigint FOR KEY SHARE) held
WHERE day = :day::date AND target = :target AND part = :part::int
RETURNING part;

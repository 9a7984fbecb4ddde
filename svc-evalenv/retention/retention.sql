-- name: retention_delete
-- $1 days, $2 how many runs, and how many builds, at most. Work that ended before: runs, and builds that no run used. How many.
WITH old_run AS (
    SELECT w.id FROM work w
    WHERE w.kind = 'run' AND w.finished_at < now() - make_interval(days => $1::int)
    ORDER BY w.finished_at LIMIT $2::int FOR UPDATE SKIP LOCKED
), old_build AS (
    SELECT w.id FROM work w
    WHERE w.kind = 'build' AND w.finished_at < now() - make_interval(days => $1::int)
      AND NOT EXISTS (SELECT FROM run r WHERE r.build_id = w.id)
    ORDER BY w.finished_at LIMIT $2::int FOR UPDATE SKIP LOCKED
), deleted AS (
    DELETE FROM work WHERE id IN (SELECT id FROM old_run UNION ALL SELECT id FROM old_build) RETURNING 1
)
SELECT count(*) FROM deleted;

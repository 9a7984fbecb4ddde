-- name: retention_delete(days, limit)
-- Delete work that ended :days ago: runs, and builds that no run used, at most :limit of each. Returns their number.
WITH old_run AS (
    SELECT w.id FROM work w
    WHERE w.kind = 'run' AND w.finished_at < now() - make_interval(days => :days::int)
    ORDER BY w.finished_at LIMIT :limit::int FOR UPDATE SKIP LOCKED
), old_build AS (
    SELECT w.id FROM work w
    WHERE w.kind = 'build' AND w.finished_at < now() - make_interval(days => :days::int)
      AND NOT EXISTS (SELECT FROM run r WHERE r.build_id = w.id)
    ORDER BY w.finished_at LIMIT :limit::int FOR UPDATE SKIP LOCKED
), deleted AS (
    DELETE FROM work WHERE id IN (SELECT id FROM old_run UNION ALL SELECT id FROM old_build) RETURNING 1
)
SELECT count(*) FROM deleted;

-- name: replica_lock_take(name, holder, duration_s)
-- No row: somebody else has it. Also deletes up to 20 that have ended.
WITH ended AS (
    DELETE FROM replica_lock WHERE name IN (
        SELECT name FROM replica_lock WHERE until < clock_timestamp() - interval '1 minute' AND name <> :name
        LIMIT 20 FOR UPDATE SKIP LOCKED)
)
INSERT INTO replica_lock AS l (name, holder, until)
VALUES (:name, :holder, clock_timestamp() + make_interval(secs => :duration_s::float8))
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE l.until < clock_timestamp()
RETURNING 1;

-- name: replica_lock_give_up(name, holder)
DELETE FROM replica_lock WHERE name = :name AND holder = :holder;

-- name: replica_lock_take
-- $1 name, $2 holder, $3 for how many seconds. No row: somebody else has it. Also deletes up to 20 that have ended.
WITH ended AS (
    DELETE FROM replica_lock WHERE name IN (
        SELECT name FROM replica_lock WHERE until < clock_timestamp() - interval '1 minute' AND name <> $1
        LIMIT 20 FOR UPDATE SKIP LOCKED)
)
INSERT INTO replica_lock AS l (name, holder, until)
VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3::float8))
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE l.until < clock_timestamp()
RETURNING 1;

-- name: replica_lock_give_up
-- $1 name, $2 holder.
DELETE FROM replica_lock WHERE name = $1 AND holder = $2;

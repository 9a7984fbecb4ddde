-- name: rate_limit_get(name) (read)
-- Returns the seconds until the limit ends, at least 1. No row: none is known.
SELECT greatest(1, ceil(extract(epoch FROM until - clock_timestamp())))::bigint
FROM rate_limit WHERE name = :name AND until > clock_timestamp();

-- name: rate_limit_set(name, wait_s)
-- The limit ends in :wait_s. Also deletes up to 20 that have ended.
WITH ended AS (
    DELETE FROM rate_limit WHERE name IN (
        SELECT name FROM rate_limit WHERE until < clock_timestamp() AND name <> :name LIMIT 20 FOR UPDATE SKIP LOCKED)
)
INSERT INTO rate_limit AS l (name, until)
VALUES (:name, clock_timestamp() + make_interval(secs => :wait_s::float8))
ON CONFLICT (name) DO UPDATE SET until = greatest(l.until, excluded.until);

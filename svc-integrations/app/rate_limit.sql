-- name: rate_limit_get (read)
-- $1 whose: seconds until the limit ends, at least 1; no row: none is known.
SELECT greatest(1, ceil(extract(epoch FROM until - clock_timestamp())))::bigint
FROM rate_limit WHERE name = $1 AND until > clock_timestamp();

-- name: rate_limit_set
-- $1 whose, $2 seconds until it ends. Also deletes up to 20 that have ended.
WITH ended AS (
    DELETE FROM rate_limit WHERE name IN (
        SELECT name FROM rate_limit WHERE until < clock_timestamp() AND name <> $1 LIMIT 20 FOR UPDATE SKIP LOCKED)
)
INSERT INTO rate_limit AS l (name, until) VALUES ($1, clock_timestamp() + make_interval(secs => $2::float8))
ON CONFLICT (name) DO UPDATE SET until = greatest(l.until, excluded.until);

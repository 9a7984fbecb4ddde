-- $1 name, $2 owner, $3 duration in ms. The fence, NULL when another process holds the lease; for how many ms the lease was
-- held before. No row: there is no such lease. One that is held for longer than its duration is of before the server's clock was set back.
-- name: lease_take
WITH taken AS (
	UPDATE lease SET owner = $2, until = clock_timestamp() + make_interval(secs => $3::float8 / 1000),
		fence = fence + CASE WHEN owner = $2 THEN 0 ELSE 1 END
	WHERE name = $1 AND (owner = $2 OR until <= clock_timestamp()
	                     OR until > clock_timestamp() + make_interval(secs => $3::float8 / 1000) * 2)
	RETURNING fence
)
SELECT (SELECT fence FROM taken) AS fence, ceil(extract(epoch FROM until - clock_timestamp()) * 1000)::bigint AS left_ms
FROM lease WHERE name = $1;

-- name: lease_create
INSERT INTO lease (name) VALUES ($1) ON CONFLICT DO NOTHING;

-- name: lease_owner (read)
SELECT owner FROM lease WHERE name = $1 AND until > clock_timestamp();

-- $1 name, $2 owner, $3 the fence that Redis knows.
-- name: lease_raise_fence
UPDATE lease SET fence = greatest(fence, $3::bigint) + 1
WHERE name = $1 AND owner = $2 AND until > clock_timestamp() RETURNING fence;

-- name: lease_give_up_all
UPDATE lease SET until = clock_timestamp() WHERE owner = $1 AND until > clock_timestamp();

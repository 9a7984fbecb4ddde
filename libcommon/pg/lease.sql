-- name: lease_take(name, owner, term_ms)
-- Returns the fence, NULL when another process holds the lease, and the milliseconds that the lease had left before. No row:
-- there is no such lease. One that is held for longer than :term_ms is of before the server's clock was set back.
WITH taken AS (
    UPDATE lease SET owner = :owner, until = clock_timestamp() + make_interval(secs => :term_ms::float8 / 1000),
        fence = fence + CASE WHEN owner = :owner THEN 0 ELSE 1 END
    WHERE name = :name AND (owner = :owner OR until <= clock_timestamp()
                            OR until > clock_timestamp() + make_interval(secs => :term_ms::float8 / 1000) * 2)
    RETURNING fence
)
SELECT (SELECT fence FROM taken) AS fence, ceil(extract(epoch FROM until - clock_timestamp()) * 1000)::bigint AS left_ms
FROM lease
WHERE name = :name;

-- name: lease_create(name)
INSERT INTO lease (name) VALUES (:name) ON CONFLICT DO NOTHING;

-- name: lease_owner(name) (read)
SELECT owner FROM lease WHERE name = :name AND until > clock_timestamp();

-- name: lease_raise_fence(name, owner, known_fence)
-- Redis knows :known_fence.
UPDATE lease SET fence = greatest(fence, :known_fence::bigint) + 1
WHERE name = :name AND owner = :owner AND until > clock_timestamp()
RETURNING fence;

-- name: lease_give_up_all(owner)
UPDATE lease SET until = clock_timestamp() WHERE owner = :owner AND until > clock_timestamp();

-- name: source_take_turn(source, delay_ms, wait_max_ms)
-- Takes the next turn of all processes. :delay_ms is the time between two requests. Returns for how many ms the caller must wait
-- before its request. No row: that would be longer than :wait_max_ms.
INSERT INTO source_pace AS p (name, next_request_at)
VALUES (:source, clock_timestamp() + make_interval(secs => :delay_ms::float8 / 1000))
ON CONFLICT (name) DO UPDATE
SET next_request_at = source_free_at(p.next_request_at) + make_interval(secs => :delay_ms::float8 / 1000)
WHERE source_free_at(p.next_request_at) <= clock_timestamp() + make_interval(secs => :wait_max_ms::float8 / 1000)
RETURNING greatest(ceil(extract(epoch FROM next_request_at - clock_timestamp()) * 1000) - :delay_ms::float8, 0)::bigint;

-- name: asset_withdraw(papers)
-- :papers is an array of ids that the source has deleted. Returns how many papers were withdrawn.
WITH withdrawn AS (
    UPDATE asset SET is_deleted = true
    WHERE arxiv_id IN (SELECT jsonb_array_elements_text(:papers::jsonb)) AND NOT is_deleted
    RETURNING 1
)
SELECT count(*) FROM withdrawn;

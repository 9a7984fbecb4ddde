-- name: source_take_turn
-- $1 the source, $2 ms between two requests, $3 how many ms the caller can wait. For how many it must wait before its request: it
-- has the next turn of all processes. No row: that would be too long.
INSERT INTO source_pace AS p (name, next_request_at) VALUES ($1, clock_timestamp() + make_interval(secs => $2::float8 / 1000))
ON CONFLICT (name) DO UPDATE
SET next_request_at = source_free_at(p.next_request_at) + make_interval(secs => $2::float8 / 1000)
WHERE source_free_at(p.next_request_at) <= clock_timestamp() + make_interval(secs => $3::float8 / 1000)
RETURNING greatest(ceil(extract(epoch FROM next_request_at - clock_timestamp()) * 1000) - $2::float8, 0)::bigint;

-- name: asset_withdraw
-- $1 an array of ids that the source has deleted.
WITH withdrawn AS (
    UPDATE asset SET is_deleted = true
    WHERE arxiv_id IN (SELECT jsonb_array_elements_text($1::jsonb)) AND NOT is_deleted RETURNING 1
)
SELECT count(*) FROM withdrawn;

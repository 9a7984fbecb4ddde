-- name: lane_claim
-- $1 lanes of quick endpoints, $2 of others, $3 seconds.
SELECT endpoint_id, is_retry, claim, is_quick FROM lane_claim($1::int, $2::int, $3::int);

-- name: lane_wait (read)
-- Milliseconds until a lane is due; null: nothing waits.
SELECT ceil(extract(epoch FROM least(
    (SELECT due_at FROM endpoint_lane WHERE is_quick AND due_at IS NOT NULL ORDER BY due_at LIMIT 1),
    (SELECT due_at FROM endpoint_lane WHERE NOT is_quick AND due_at IS NOT NULL ORDER BY due_at LIMIT 1)) - now()) * 1000)::bigint;

-- name: lane_step
-- $1 endpoint, $2 whether it is the lane of attempts after a failure, $3 claim, $4 how the last attempt ended or null, $5 seconds of
-- the claim, $6 whether it is given up.
SELECT delivery_id, day, message_id, tries, body, account_id, kind, url, secret, old_secret
FROM lane_step($1, $2, $3::bigint, $4::jsonb, $5::int, $6);

-- name: lane_measure (read)
-- Seconds for which the lane that is due for longest has waited; active endpoints that fail, and others; deliveries that wait.
SELECT greatest(0, extract(epoch FROM now() - (SELECT min(due_at) FROM endpoint_lane WHERE due_at IS NOT NULL))),
       count(*) FILTER (WHERE failing_since IS NOT NULL), count(*) FILTER (WHERE failing_since IS NULL), (SELECT count(*) FROM delivery_queue)
FROM endpoint WHERE status = 'active';

-- name: lane_claim
-- $1 whether of quick endpoints, $2 lanes, $3 places of an account, $4 accounts of the places in use, $5 seconds.
SELECT endpoint_id, is_retry, claim, account_id FROM lane_claim($1, $2::int, $3::int, $4::uuid[], $5::int);

-- name: lane_claim_mail
-- As lane_claim, without $1.
SELECT endpoint_id, is_retry, claim, account_id FROM lane_claim_mail($1::int, $2::int, $3::uuid[], $4::int);

-- name: lane_wait (read)
-- Milliseconds until a lane is due; null: nothing waits.
SELECT ceil(extract(epoch FROM least(
    (SELECT due_at FROM endpoint_lane WHERE is_quick AND NOT is_mail AND due_at IS NOT NULL ORDER BY due_at LIMIT 1),
    (SELECT due_at FROM endpoint_lane WHERE NOT is_quick AND NOT is_mail AND due_at IS NOT NULL ORDER BY due_at LIMIT 1),
    (SELECT due_at FROM endpoint_lane WHERE is_mail AND due_at IS NOT NULL ORDER BY due_at LIMIT 1)) - now()) * 1000)::bigint;

-- name: lane_step
-- $1 endpoint, $2 whether it is the lane of attempts after a failure, $3 claim, $4 how the last attempt ended or null, $5 seconds of
-- the claim, $6 whether it is given up.
SELECT s.delivery_id, s.day, s.message_id, s.tries, s.body, s.account_id, s.kind, s.url, s.secret, s.old_secret,
       endpoint_target(s.url, s.secret) AS target,
       (SELECT e.name FROM endpoint e WHERE e.id = $1 AND s.kind = 'email') AS name
FROM lane_step($1, $2, $3::bigint, $4::jsonb, $5::int, $6) s;

-- name: lane_measure (read)
-- Seconds for which the lane that is due for longest has waited; active endpoints that fail, and others; deliveries that wait.
SELECT greatest(0, extract(epoch FROM now() - (SELECT min(due_at) FROM endpoint_lane WHERE due_at IS NOT NULL))) AS due_s,
       count(*) FILTER (WHERE failing_since IS NOT NULL) AS failing, count(*) FILTER (WHERE failing_since IS NULL) AS working,
       (SELECT count(*) FROM delivery_queue) AS waiting
FROM endpoint WHERE status = 'active';

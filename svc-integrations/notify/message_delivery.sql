-- name: message_delivery_list (read)
-- $1 endpoint, $2 account, $3 status, $4 type, $5 since, $6 until, each or NULL; $7 limit, $8 offset. No row: there is no such endpoint.
-- The page is read by its index; only the count reads all.
WITH chosen AS NOT MATERIALIZED (
    SELECT d.* FROM message_delivery d
    WHERE d.account_id = $2 AND d.endpoint_id = $1 AND ($3::text IS NULL OR d.status = $3) AND ($4::text IS NULL OR d.type = $4)
      AND ($5::timestamptz IS NULL OR d.created_at >= $5) AND ($6::timestamptz IS NULL OR date_trunc('milliseconds', d.created_at) <= $6)
)
SELECT coalesce((SELECT jsonb_agg(message_delivery_json(c, q, e.not_before) ORDER BY c.id DESC)
                 FROM (SELECT * FROM chosen ORDER BY id DESC LIMIT $7 OFFSET $8) c
                 LEFT JOIN delivery_queue q ON q.delivery_id = c.id), '[]'),
       (SELECT count(*) FROM chosen) AS total
FROM endpoint e WHERE e.id = $1 AND e.account_id = $2;

-- name: message_delivery_get (read)
-- $1 endpoint, $2 account, $3 delivery. The body is JSON that was checked when it was made.
SELECT message_delivery_json(d, q, e.not_before) || jsonb_build_object('payload', m.body::jsonb, 'attempt_log', coalesce((
           SELECT jsonb_agg(jsonb_build_object('at', time_json(a.at), 'status', a.status, 'duration_ms', a.duration_ms,
                                               'error', a.error, 'response', a.response) ORDER BY a.attempt)
           FROM message_attempt a WHERE a.day = d.day AND a.delivery_id = d.id), '[]'))
FROM endpoint e
JOIN message_delivery d ON d.account_id = e.account_id AND d.endpoint_id = e.id
JOIN message m ON m.day = d.day AND m.id = d.message_id
LEFT JOIN delivery_queue q ON q.delivery_id = d.id
WHERE e.id = $1 AND e.account_id = $2 AND d.id = $3;

-- name: message_delivery_again
-- $1 endpoint, $2 account, $3 delivery.
SELECT again FROM delivery_again($1, $2, $3) AS again WHERE again IS NOT NULL;

-- name: message_delivery_recover
-- $1 endpoint, $2 account, $3 since, $4 until, $5 how many.
SELECT jsonb_build_object('queued', queued) FROM deliveries_recover($1, $2, $3, coalesce($4::timestamptz, now()), $5::int) AS queued
WHERE queued IS NOT NULL;

-- name: message_delivery_endpoint (read)
-- $1 endpoint, $2 account: what a message to it needs, and whether nothing may be sent to it.
SELECT kind, coalesce(url, email) AS url, secret, CASE WHEN old_secret_expires_at > now() THEN old_secret END AS old_secret, name,
       status = 'unconfirmed' OR coalesce(disabled_reason = 'unsubscribed', false) AS is_silent
FROM endpoint WHERE id = $1 AND account_id = $2;

-- name: message_delivery_email_take
-- $1 account.
SELECT email_take($1);

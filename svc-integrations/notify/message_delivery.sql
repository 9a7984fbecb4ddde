-- name: message_delivery_list(endpoint, account, status, type, since, until, limit, offset) (read)
-- A :status, :type, :since or :until of NULL: any. No row: there is no such endpoint. The page is read by its index; only the
-- count reads all.
WITH chosen AS NOT MATERIALIZED (
    SELECT d.* FROM message_delivery d
    WHERE d.account_id = :account AND d.endpoint_id = :endpoint
      AND (:status::text IS NULL OR d.status = :status)
      AND (:type::text IS NULL OR d.type = :type)
      AND (:since::timestamptz IS NULL OR d.created_at >= :since)
      AND (:until::timestamptz IS NULL OR date_trunc('milliseconds', d.created_at) <= :until)
)
SELECT coalesce((SELECT jsonb_agg(message_delivery_json(c, q, e.not_before) ORDER BY c.id DESC)
                 FROM (SELECT * FROM chosen ORDER BY id DESC LIMIT :limit OFFSET :offset) c
                 LEFT JOIN delivery_queue q ON q.delivery_id = c.id), '[]'),
       (SELECT count(*) FROM chosen) AS total
FROM endpoint e WHERE e.id = :endpoint AND e.account_id = :account;

-- name: message_delivery_get(endpoint, account, delivery) (read)
-- The body is JSON that was checked when it was made.
SELECT message_delivery_json(d, q, e.not_before) || jsonb_build_object('payload', m.body::jsonb, 'attempt_log', coalesce((
           SELECT jsonb_agg(jsonb_build_object('at', time_json(a.at), 'status', a.status, 'duration_ms', a.duration_ms,
                                               'error', a.error, 'response', a.response) ORDER BY a.attempt)
           FROM message_attempt a WHERE a.day = d.day AND a.delivery_id = d.id), '[]'))
FROM endpoint e
JOIN message_delivery d ON d.account_id = e.account_id AND d.endpoint_id = e.id
JOIN message m ON m.day = d.day AND m.id = d.message_id
LEFT JOIN delivery_queue q ON q.delivery_id = d.id
WHERE e.id = :endpoint AND e.account_id = :account AND d.id = :delivery;

-- name: message_delivery_again(endpoint, account, delivery)
SELECT again FROM delivery_again(:endpoint, :account, :delivery) AS again WHERE again IS NOT NULL;

-- name: message_delivery_recover(endpoint, account, since, until, limit)
-- An :until of NULL: now. Returns how many are sent again, at most :limit. No row: there is no such endpoint.
SELECT jsonb_build_object('queued', queued)
FROM deliveries_recover(:endpoint, :account, :since, coalesce(:until::timestamptz, now()), :limit::int) AS queued
WHERE queued IS NOT NULL;

-- name: message_delivery_endpoint(endpoint, account) (read)
-- Returns what a message to it needs, and whether nothing may be sent to it.
SELECT kind, coalesce(url, email) AS url, secret, CASE WHEN old_secret_expires_at > now() THEN old_secret END AS old_secret, name,
       status = 'unconfirmed' OR coalesce(disabled_reason = 'unsubscribed', false) AS is_silent
FROM endpoint WHERE id = :endpoint AND account_id = :account;

-- name: message_delivery_email_take(account)
-- Count a mail of today. False: it is none, because the account has had those of the day.
SELECT email_take(:account);

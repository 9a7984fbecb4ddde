-- name: delivery_take
-- $1 delivery, $2 secret, $3 event, $4 action, $5 repository, $6 installation, $7 body, $8 why it is ignored or NULL,
-- $9 events, $10 whether the installation has changed, $11 changed repositories, $12 names of repositories, $13 address of the code
-- host's pages.
SELECT status, reason, is_new
FROM delivery_take($1, $2::int, $3, $4, $5, nullif($6::bigint, 0), $7, $8, $9, $10, $11, $12, $13);

-- name: delivery_days_keep
-- $1 days.
SELECT webhook_days_keep($1::int);

-- name: delivery_list (read)
-- $1 status or NULL, $2 repository in any case or NULL, $3 limit: newest first.
SELECT delivery_json(d) FROM delivery d
WHERE ($1::text IS NULL OR d.status = $1) AND ($2::text IS NULL OR lower(d.repo) = lower($2))
ORDER BY d.received_at DESC LIMIT $3;

-- name: delivery_get (read)
-- $1 delivery: its row with its events, their times of sending as far as they are known, and its body.
SELECT jsonb_pretty(delivery_json(d) || jsonb_build_object('events', coalesce((
           SELECT jsonb_agg(jsonb_build_object('id', e.id, 'first_said_by', f.delivery_id, 'sent_at', time_json(o.sent_at)))
           FROM unnest(d.events) AS e (id) LEFT JOIN fact f ON f.id = e.id LEFT JOIN outbox o ON o.event_id = e.id), '[]'))) AS json,
       d.event, d.body
FROM delivery_seen s JOIN delivery d ON d.received_on = s.received_on AND d.id = s.id WHERE s.id = $1;

-- name: delivery_replay
-- $1 delivery, $2 action, $3 repository, $4 installation, $5 why it is ignored or NULL, $6 events, $7 whether the
-- installation has changed, $8 changed repositories, $9 names of repositories, $10 address of the code host's pages.
SELECT sent FROM delivery_replay($1, $2, $3, nullif($4::bigint, 0), $5, $6, $7, $8, $9, $10);

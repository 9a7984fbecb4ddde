-- Only one relay of the schema sends at a time, which keeps the order. Also returns the newest batch that was sent.
-- name: outbox_lock
SELECT pg_try_advisory_xact_lock(hashtextextended(current_schema() || '.outbox', 0)),
	coalesce((SELECT max(sent_batch) FROM outbox), 0);

-- name: outbox_unsent
SELECT id, stream, data->>'task', type, event_id, coalesce(account_id::text, ''), time_json(created_at), data,
	coalesce(request_id, '')
FROM outbox WHERE sent_at IS NULL ORDER BY id LIMIT $1::int;

-- name: outbox_batch_next
SELECT nextval('outbox_batch');

-- name: outbox_mark_sent
UPDATE outbox SET sent_at = now(), sent_batch = $2::bigint WHERE id = ANY ($1::bigint[]);

-- Mark the rows of batches that Redis has lost (newer than $1) as unsent, except tasks: the reconciler publishes those.
-- name: outbox_send_again
UPDATE outbox SET sent_batch = NULL, sent_at = CASE WHEN stream = 'jobs' THEN sent_at END
WHERE sent_batch > $1::bigint;

-- name: outbox_count_unsent
SELECT count(*) FROM (SELECT FROM outbox WHERE sent_at IS NULL LIMIT 100000) AS unsent;

-- name: outbox_delete_old
DELETE FROM outbox WHERE id IN
	(SELECT id FROM outbox WHERE sent_at < now() - interval '2 days' ORDER BY sent_at LIMIT 5000);

-- name: event_seen_delete_old
DELETE FROM event_seen WHERE event_id IN
	(SELECT event_id FROM event_seen WHERE seen_at < now() - interval '7 days' ORDER BY seen_at LIMIT 5000);

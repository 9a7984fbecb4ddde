-- Rows to send, in the order of sending.
-- name: outbox_unsent (read)
SELECT id, stream, type, event_id, coalesce(account_id::text, '') AS account, time_json(created_at) AS at, data,
	coalesce(request_id, '') AS request_id, coalesce(lane, '') AS lane
FROM outbox WHERE sent_at IS NULL ORDER BY id LIMIT $1::int;

-- The newest batch that was sent, and the newest that was numbered.
-- name: outbox_batches (read)
SELECT coalesce((SELECT max(sent_batch) FROM outbox), 0) AS sent,
	(SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM outbox_batch) AS numbered;

-- name: outbox_batch_next
SELECT nextval('outbox_batch');

-- $1 ids, $2 batch, $3 owner of the lease, $4 its fence. Nothing is marked when the lease was taken over: Redis may have
-- lost the batch since, and the new holder may have noticed.
-- name: outbox_mark_sent
UPDATE outbox SET sent_at = clock_timestamp(), sent_batch = $2::bigint
WHERE id = ANY ($1::bigint[])
	AND EXISTS (SELECT FROM lease WHERE name = 'outbox' AND owner = $3 AND fence = $4::bigint);

-- Redis has lost the batches after $1: mark their rows as unsent, $2 of them.
-- name: outbox_send_again
UPDATE outbox SET sent_batch = NULL, sent_at = NULL
WHERE id IN (SELECT id FROM outbox WHERE sent_batch > $1::bigint ORDER BY sent_batch LIMIT $2::int);

-- Redis has the batch $1, which was never numbered here: Postgres was restored to an earlier point, and consumers may
-- have lost what they did since. Mark every row as unsent, $2 at a time.
-- name: outbox_send_all_again
UPDATE outbox SET sent_batch = NULL, sent_at = NULL
WHERE id IN (SELECT id FROM outbox WHERE sent_at IS NOT NULL ORDER BY sent_at LIMIT $2::int)
	AND (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM outbox_batch) < $1::bigint;

-- Continue the numbering of batches after $1. Run after outbox_send_all_again.
-- name: outbox_number_after
SELECT setval('outbox_batch', $1::bigint) FROM outbox_batch
WHERE CASE WHEN is_called THEN last_value ELSE 0 END < $1::bigint;

-- $1 stream: mark the rows that were sent from $2 to $3 as unsent, $4 of them.
-- name: outbox_send_stream_again
UPDATE outbox SET sent_batch = NULL, sent_at = NULL
WHERE id IN (SELECT id FROM outbox WHERE stream = $1 AND sent_at >= $2 AND sent_at <= $3 ORDER BY sent_at LIMIT $4::int);

-- Number of unsent rows, up to 100,000, and age of the oldest in seconds.
-- name: outbox_lag (read)
SELECT count(*) AS unsent, coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8 AS oldest_s
FROM (SELECT created_at FROM outbox WHERE sent_at IS NULL ORDER BY id LIMIT 100000) AS unsent;

-- $1 stream, $2 when the entry was added that the slowest reader needs next: delete rows that were sent two days ago and
-- that all readers have read, $4 of them. A reader that is away for $3 days is not waited for.
-- name: outbox_delete_old
DELETE FROM outbox WHERE id IN
	(SELECT id FROM outbox WHERE stream = $1
		AND sent_at < greatest(least(now() - interval '2 days', $2::timestamptz - interval '5 minutes'), now() - make_interval(days => $3::int))
	ORDER BY sent_at LIMIT $4::int);

-- $1 days, $2 how many.
-- name: event_settled_delete_old
DELETE FROM event_settled WHERE (stream, event_hash) IN
	(SELECT stream, event_hash FROM event_settled WHERE settled_at < now() - make_interval(days => $1::int) ORDER BY settled_at LIMIT $2::int);

-- $1 stream: an event of no account, that says nothing.
-- name: outbox_pass
SELECT event_emit($1, 'passed', NULL, '{}');

-- Accounts that were deleted not long ago: what is given up of them later than that belongs to no account.
-- name: outbox_deleted_accounts (read)
SELECT id FROM deleted_account WHERE deleted_at > now() - interval '1 day';

-- name: outbox_unsent(limit) (read)
-- Returns rows to send, in the order of sending.
SELECT id, stream, type, event_id, coalesce(account_id::text, '') AS account, time_json(created_at) AS at, data,
    coalesce(request_id, '') AS request_id, coalesce(lane, '') AS lane
FROM outbox
WHERE sent_at IS NULL
ORDER BY id
LIMIT :limit::int;

-- name: outbox_batches (read)
-- Returns the newest batch that was sent, and the newest that was numbered.
SELECT coalesce((SELECT max(sent_batch) FROM outbox), 0) AS sent,
    (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM outbox_batch) AS numbered;

-- name: outbox_batch_next
SELECT nextval('outbox_batch');

-- name: outbox_mark_sent(ids, batch, owner, fence)
-- :owner and :fence are of the lease. Nothing is marked when it was taken over: Redis may have lost the batch since, and the new
-- holder may have noticed.
UPDATE outbox SET sent_at = clock_timestamp(), sent_batch = :batch::bigint
WHERE id = ANY (:ids::bigint[])
    AND EXISTS (SELECT FROM lease WHERE name = 'outbox' AND owner = :owner AND fence = :fence::bigint);

-- name: outbox_send_again(batch, limit)
-- Redis has lost the batches after :batch: mark their rows as unsent, :limit of them.
UPDATE outbox SET sent_batch = NULL, sent_at = NULL
WHERE id IN (SELECT id FROM outbox WHERE sent_batch > :batch::bigint ORDER BY sent_batch LIMIT :limit::int);

-- name: outbox_send_all_again(batch, limit)
-- Redis has the batch :batch, which was never numbered here: Postgres was restored to an earlier point, and consumers may
-- have lost what they did since. Mark every row as unsent, :limit at a time.
UPDATE outbox SET sent_batch = NULL, sent_at = NULL
WHERE id IN (SELECT id FROM outbox WHERE sent_at IS NOT NULL ORDER BY sent_at LIMIT :limit::int)
    AND (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM outbox_batch) < :batch::bigint;

-- name: outbox_number_after(batch)
-- Continue the numbering of batches after :batch. Run after outbox_send_all_again. No row: the numbers are past it.
SELECT setval('outbox_batch', :batch::bigint)
FROM outbox_batch
WHERE CASE WHEN is_called THEN last_value ELSE 0 END < :batch::bigint;

-- name: outbox_send_stream_again(stream, from, to, limit)
-- Mark the rows of the stream that were sent in that time, both ends included, as unsent, :limit of them.
UPDATE outbox SET sent_batch = NULL, sent_at = NULL
WHERE id IN (
    SELECT id
    FROM outbox
    WHERE stream = :stream AND sent_at >= :from AND sent_at <= :to
    ORDER BY sent_at
    LIMIT :limit::int);

-- name: outbox_lag (read)
-- Returns the number of unsent rows, up to 100,000, and the age of the oldest in seconds.
SELECT count(*) AS unsent, coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8 AS oldest_s
FROM (SELECT created_at FROM outbox WHERE sent_at IS NULL ORDER BY id LIMIT 100000) AS unsent;

-- name: outbox_delete_old(stream, needed_at, days, limit)
-- Delete rows that were sent two days ago and that all readers have read, :limit of them. :needed_at is when the entry was added
-- that the slowest reader needs next. A reader that is away for :days is not waited for.
DELETE FROM outbox
WHERE id IN
    (SELECT id FROM outbox WHERE stream = :stream
        AND sent_at < greatest(least(now() - interval '2 days', :needed_at::timestamptz - interval '5 minutes'),
                                       now() - make_interval(days => :days::int))
    ORDER BY sent_at LIMIT :limit::int);

-- name: event_settled_delete_old(days, limit)
DELETE FROM event_settled
WHERE (stream, event_hash) IN
    (SELECT stream, event_hash FROM event_settled WHERE settled_at < now() - make_interval(days => :days::int)
         ORDER BY settled_at LIMIT :limit::int);

-- name: outbox_pass(stream)
-- Send an event of no account, that says nothing.
SELECT event_emit(:stream, 'passed', NULL, '{}');

-- name: outbox_deleted_accounts (read)
-- Returns accounts that were deleted not long ago: what is given up of them later than that belongs to no account.
SELECT id FROM deleted_account WHERE deleted_at > now() - interval '1 day';

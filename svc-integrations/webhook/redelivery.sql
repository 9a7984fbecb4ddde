-- name: redelivery_begin(interval_ms)
-- Returns where reading goes on, and until when (Unix milliseconds). It is due again in :interval_ms. No row: it is not due.
UPDATE redelivery_state SET due_at = clock_timestamp() + make_interval(secs => :interval_ms::float8 / 1000)
WHERE due_at <= clock_timestamp()
RETURNING cursor, (extract(epoch FROM greatest(read_until, now() - interval '3 days')) * 1000)::bigint AS until_ms;

-- name: redelivery_note(deliveries, newest_ms, cursor)
-- :deliveries of a page as [{"id", "attempt", "at"}]; those that the ledger has are left out. :newest_ms: the newest of the page
-- (Unix milliseconds). :cursor: where reading goes on; NULL: it has ended.
WITH missing AS (
    INSERT INTO redelivery AS known (delivery_id, attempt_id, delivered_at)
    SELECT DISTINCT ON (l.id) l.id, l.attempt, l.at
    FROM jsonb_to_recordset(:deliveries) AS l (id text, attempt bigint, at timestamptz)
    WHERE l.at > now() - interval '3 days' AND NOT EXISTS (SELECT FROM delivery_seen s WHERE s.id = l.id)
    ORDER BY l.id, l.attempt DESC
    ON CONFLICT (delivery_id) DO UPDATE SET attempt_id = greatest(known.attempt_id, excluded.attempt_id)
)
UPDATE redelivery_state SET
    cursor = :cursor::text,
    began_at = CASE WHEN :cursor IS NOT NULL THEN coalesce(began_at, newest.at) END,
    read_until = CASE WHEN :cursor IS NULL THEN greatest(read_until, coalesce(began_at, newest.at)) ELSE read_until END
FROM (SELECT to_timestamp(:newest_ms::float8 / 1000) AS at) AS newest;

-- name: redelivery_restart
-- The cursor is of no use any more: read from the newest.
UPDATE redelivery_state SET cursor = NULL, began_at = NULL;

-- name: redelivery_settle
-- Forget those that have arrived, and those that are too old. Returns the number of the latter.
WITH gone AS (
    DELETE FROM redelivery r
    WHERE r.delivered_at < now() - interval '3 days' OR EXISTS (SELECT FROM delivery_seen s WHERE s.id = r.delivery_id)
    RETURNING r.delivery_id
)
SELECT count(*) FROM gone g WHERE NOT EXISTS (SELECT FROM delivery_seen s WHERE s.id = g.delivery_id);

-- name: redelivery_claim(interval_ms)
-- Returns the next that is due, and the attempt to repeat. It may be asked for again after :interval_ms, then after twice as long
-- each time.
UPDATE redelivery r SET
    asked = asked + 1,
    ask_at = clock_timestamp()
        + least(make_interval(secs => :interval_ms::float8 / 1000 * 2 ^ least(asked, 20)), interval '6 hours')
WHERE r.delivery_id = (SELECT d.delivery_id FROM redelivery d WHERE d.ask_at <= clock_timestamp()
                       ORDER BY d.ask_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING r.delivery_id, r.attempt_id;

-- name: redelivery_forget(delivery)
DELETE FROM redelivery WHERE delivery_id = :delivery;

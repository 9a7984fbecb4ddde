-- name: redelivery_begin
-- $1 milliseconds until it is due again. Where reading goes on, and until when (Unix milliseconds); no row: it is not due.
UPDATE redelivery_state SET due_at = clock_timestamp() + make_interval(secs => $1::float8 / 1000)
WHERE due_at <= clock_timestamp()
RETURNING cursor, (extract(epoch FROM greatest(read_until, now() - interval '3 days')) * 1000)::bigint AS until_ms;

-- name: redelivery_note
-- $1 the deliveries of a page as [{"id", "attempt", "at"}], $2 the newest of the page (Unix milliseconds), $3 where reading
-- goes on, NULL: it has ended. Those that the ledger has are left out.
WITH missing AS (
    INSERT INTO redelivery AS known (delivery_id, attempt_id, delivered_at)
    SELECT DISTINCT ON (l.id) l.id, l.attempt, l.at
    FROM jsonb_to_recordset($1) AS l (id text, attempt bigint, at timestamptz)
    WHERE l.at > now() - interval '3 days' AND NOT EXISTS (SELECT FROM delivery_seen s WHERE s.id = l.id)
    ORDER BY l.id, l.attempt DESC
    ON CONFLICT (delivery_id) DO UPDATE SET attempt_id = greatest(known.attempt_id, excluded.attempt_id)
)
UPDATE redelivery_state SET cursor = $3::text, began_at = CASE WHEN $3 IS NOT NULL THEN coalesce(began_at, newest.at) END,
    read_until = CASE WHEN $3 IS NULL THEN greatest(read_until, coalesce(began_at, newest.at)) ELSE read_until END
FROM (SELECT to_timestamp($2::float8 / 1000) AS at) AS newest;

-- name: redelivery_restart
-- The cursor is of no use any more: read from the newest.
UPDATE redelivery_state SET cursor = NULL, began_at = NULL;

-- name: redelivery_settle
-- Forget those that have arrived, and those that are too old. The number of the latter.
WITH gone AS (
    DELETE FROM redelivery r
    WHERE r.delivered_at < now() - interval '3 days' OR EXISTS (SELECT FROM delivery_seen s WHERE s.id = r.delivery_id)
    RETURNING r.delivery_id
)
SELECT count(*) FROM gone g WHERE NOT EXISTS (SELECT FROM delivery_seen s WHERE s.id = g.delivery_id);

-- name: redelivery_claim
-- $1 milliseconds until it may be asked for again for the first time. The next that is due, and the attempt to repeat.
UPDATE redelivery r SET asked = asked + 1,
    ask_at = clock_timestamp() + least(make_interval(secs => $1::float8 / 1000 * 2 ^ least(asked, 20)), interval '6 hours')
WHERE r.delivery_id = (SELECT d.delivery_id FROM redelivery d WHERE d.ask_at <= clock_timestamp()
                       ORDER BY d.ask_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING r.delivery_id, r.attempt_id;

-- name: redelivery_forget
DELETE FROM redelivery WHERE delivery_id = $1;

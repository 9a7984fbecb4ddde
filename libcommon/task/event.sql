-- $1 stream. The position, NULL: none yet; and the time in Unix milliseconds.
-- name: event_position_get (read)
SELECT (SELECT entry_id FROM event_position WHERE stream = $1) AS entry_id,
	(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms;

-- $1 stream, $2 entry, $3 owner and $4 fence of the lease, $5 hashes of the events that are handled with it. No row is affected
-- when the lease was taken over. An event that was sent again may be once more, for as long as one that was sent now.
-- name: event_position_save
WITH holder AS (
    SELECT FROM lease WHERE name = $1 AND owner = $3 AND fence = $4::bigint
), settled AS (
    INSERT INTO event_settled (stream, event_hash)
    SELECT DISTINCT $1, hash FROM holder, unnest($5::uuid[]) AS hash WHERE hash IS NOT NULL
    ON CONFLICT (stream, event_hash) DO UPDATE SET settled_at = excluded.settled_at
    WHERE event_settled.settled_at < excluded.settled_at - interval '1 day'
)
INSERT INTO event_position AS known (stream, entry_id)
SELECT $1, $2 FROM holder
ON CONFLICT (stream) DO UPDATE SET entry_id = excluded.entry_id, at = now();

-- $1 stream, $2 hashes of events. The positions of those that were handled before, from 0.
-- name: event_settled_among (read)
SELECT n - 1 FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (hash, n)
WHERE EXISTS (SELECT FROM event_settled s WHERE s.stream = $1 AND s.event_hash = asked.hash);

-- $1 stream.
-- name: event_parked_lanes (read)
SELECT DISTINCT lane FROM event_parked WHERE stream = $1;

-- $1 stream, $2 lane: how many are parked in all, and of the lane.
-- name: event_parked_count (read)
SELECT count(*) AS parked, count(*) FILTER (WHERE lane = $2) AS of_lane FROM event_parked WHERE stream = $1;

-- $9 lane, $10 error (NULL: the event was not tried), $11 failures, $12 milliseconds until the next try. An event that is read again
-- is parked once.
-- name: event_park
INSERT INTO event_parked (stream, entry_id, account, event_id, type, at, data, request_id, lane, error, failures,
	next_try)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::int, clock_timestamp() + make_interval(secs => $12::float8 / 1000))
ON CONFLICT (stream, entry_id) DO NOTHING;

-- $1 stream, $2 lane, $3 failures: the oldest of the lane that has failed by itself has no further try.
-- name: event_parked_hurry
UPDATE event_parked SET failures = $3::int, next_try = clock_timestamp()
WHERE id = (SELECT min(id) FROM event_parked WHERE stream = $1 AND lane = $2) AND failures > 0;

-- $1 stream: the oldest of each lane, if it is due.
-- name: event_parked_due (read)
SELECT id, failures, entry_id, event_id, type, account, at, data, request_id, lane
FROM (SELECT DISTINCT ON (lane) * FROM event_parked WHERE stream = $1 ORDER BY lane, id) AS oldest
WHERE next_try <= clock_timestamp() ORDER BY next_try, id LIMIT 16;

-- $1 stream, $2 lane: its oldest, in the same columns.
-- name: event_parked_oldest (read)
SELECT id, failures, entry_id, event_id, type, account, at, data, request_id, lane
FROM event_parked WHERE stream = $1 AND lane = $2 ORDER BY id LIMIT 1;

-- $1 stream: milliseconds until the next is due, NULL: none is parked; how many are parked.
-- name: event_parked_next (read)
SELECT ceil(extract(epoch FROM min(next_try) - clock_timestamp()) * 1000)::bigint AS due_ms,
	(SELECT count(*) FROM event_parked WHERE stream = $1) AS parked
FROM (SELECT DISTINCT ON (lane) next_try FROM event_parked WHERE stream = $1 ORDER BY lane, id) AS oldest;

-- $1 id, $2 failures, $3 milliseconds until the next try, $4 error.
-- name: event_parked_retry
UPDATE event_parked SET failures = $2::int, error = $4,
	next_try = clock_timestamp() + make_interval(secs => $3::float8 / 1000)
WHERE id = $1::bigint;

-- name: event_parked_delete
DELETE FROM event_parked WHERE id = $1::bigint;

-- As event_parked_delete; the event is handled again if it is sent again.
-- name: event_parked_give_up
WITH given_up AS (
    DELETE FROM event_parked WHERE id = $1::bigint RETURNING stream, event_id
)
DELETE FROM event_settled s USING given_up g
WHERE s.stream = g.stream AND s.event_hash = encode(substring(sha256(convert_to(g.event_id, 'UTF8')) FOR 16), 'hex')::uuid;

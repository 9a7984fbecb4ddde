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

-- $1 stream, $2 a JSON array of lanes. The positions of those that have parked events, from 0.
-- name: event_parked_among (read)
SELECT n - 1 FROM jsonb_array_elements_text($2::jsonb) WITH ORDINALITY AS asked (lane, n)
WHERE EXISTS (SELECT FROM event_parked p WHERE p.stream = $1 AND p.lane = asked.lane);

-- $1 stream.
-- name: event_parked_count (read)
SELECT count(*) FROM event_parked WHERE stream = $1;

-- $1 stream, $2 entries of a lane as a JSON array, $3 error of the first (NULL: it was not tried), $4 its failures, $5 milliseconds until its
-- next try, $6 owner and $7 fence of the lease, $8 hashes of the lane's events that were handled before them and are not settled yet. No row:
-- the lease was taken over. They are settled with this statement and not with the position: they may be handled before that is saved, and a
-- reader that reads them again would have them, and what was handled before them, handled once more behind newer ones. One that is read
-- again is parked once.
-- name: event_park
WITH holder AS (
    SELECT FROM lease WHERE name = $1 AND owner = $6 AND fence = $7::bigint
), entry AS (
    SELECT e.* FROM holder, ROWS FROM (jsonb_to_recordset($2::jsonb) AS (entry_id text, account text, event_id text, type text, at text, data text,
        request_id text, lane text)) WITH ORDINALITY AS e (entry_id, account, event_id, type, at, data, request_id, lane, n)
), settled AS (
    INSERT INTO event_settled (stream, event_hash)
    SELECT $1, encode(substring(sha256(convert_to(event_id, 'UTF8')) FOR 16), 'hex')::uuid FROM entry
    UNION SELECT $1, hash FROM holder, unnest($8::uuid[]) AS hash
    ON CONFLICT DO NOTHING
), parked AS (
    INSERT INTO event_parked (stream, entry_id, account, event_id, type, at, data, request_id, lane, error, failures, next_try)
    SELECT $1, entry_id, account, event_id, type, at, data, request_id, lane, CASE n WHEN 1 THEN $3 END, CASE n WHEN 1 THEN $4::int ELSE 0 END,
        clock_timestamp() + CASE n WHEN 1 THEN make_interval(secs => $5::float8 / 1000) ELSE '0' END
    FROM entry ORDER BY n
    ON CONFLICT (stream, entry_id) DO NOTHING
)
SELECT FROM holder;

-- $1 stream, $2 the entry of an event that was given up, as a JSON object.
-- name: event_park_again
INSERT INTO event_parked (stream, entry_id, account, event_id, type, at, data, request_id, lane, next_try)
SELECT $1, entry_id, account, event_id, type, at, data, request_id, lane, clock_timestamp()
FROM jsonb_to_record($2::jsonb) AS e (entry_id text, account text, event_id text, type text, at text, data text, request_id text, lane text)
ON CONFLICT (stream, entry_id) DO NOTHING;

-- $1 stream, $2 lane, $3 how many of a lane may be parked, $4 failures: where more are, the oldest that has failed by itself has no
-- further try.
-- name: event_parked_hurry
UPDATE event_parked SET failures = $4::int, next_try = clock_timestamp()
WHERE id = (SELECT min(id) FROM event_parked WHERE stream = $1 AND lane = $2) AND failures > 0
	AND EXISTS (SELECT FROM event_parked WHERE stream = $1 AND lane = $2 ORDER BY id LIMIT 1 OFFSET $3::int);

-- $1 stream, $2 the lane that had its turn last, NULL to begin with the first: the oldest of each of the lanes after it, if it is due, at
-- most $3. Each step of the recursion finds the next lane by the index, however many events a lane has.
-- name: event_parked_due (read)
WITH RECURSIVE oldest AS (
    (SELECT id, lane, next_try FROM event_parked WHERE stream = $1 AND lane > $2 ORDER BY lane, id LIMIT 1)
    UNION ALL
    (SELECT id, lane, next_try FROM event_parked WHERE stream = $1 AND $2 IS NULL ORDER BY lane, id LIMIT 1)
    UNION ALL
    SELECT n.id, n.lane, n.next_try FROM oldest o CROSS JOIN LATERAL
        (SELECT id, lane, next_try FROM event_parked WHERE stream = $1 AND lane > o.lane ORDER BY lane, id LIMIT 1) n
), due AS MATERIALIZED (
    SELECT id FROM oldest WHERE next_try <= clock_timestamp() LIMIT $3::int
)
SELECT p.id, p.failures, p.entry_id, p.event_id, p.type, p.account, p.at, p.data, p.request_id, p.lane
FROM due JOIN event_parked p USING (id) ORDER BY p.lane;

-- $1 stream: milliseconds until the next is due, NULL: none is parked; how many lanes have parked events.
-- name: event_parked_next (read)
WITH RECURSIVE oldest AS (
    (SELECT lane, next_try FROM event_parked WHERE stream = $1 ORDER BY lane, id LIMIT 1)
    UNION ALL
    SELECT n.lane, n.next_try FROM oldest o CROSS JOIN LATERAL
        (SELECT lane, next_try FROM event_parked WHERE stream = $1 AND lane > o.lane ORDER BY lane, id LIMIT 1) n
)
SELECT ceil(extract(epoch FROM min(next_try) - clock_timestamp()) * 1000)::bigint AS due_ms, count(*) AS lanes FROM oldest;

-- $1 id, $2 failures, $3 milliseconds until the next try, $4 error.
-- name: event_parked_retry
UPDATE event_parked SET failures = $2::int, error = $4,
	next_try = clock_timestamp() + make_interval(secs => $3::float8 / 1000)
WHERE id = $1::bigint;

-- $1 id of one that is done with, $2 whether it was given up: the event is handled again then if it is sent again. The next of its lane,
-- which has come after it, in the columns of event_parked_due.
-- name: event_parked_done
WITH done AS (
    DELETE FROM event_parked WHERE id = $1::bigint RETURNING stream, lane, event_id
), forgotten AS (
    DELETE FROM event_settled s USING done d
    WHERE $2::boolean AND s.stream = d.stream
        AND s.event_hash = encode(substring(sha256(convert_to(d.event_id, 'UTF8')) FOR 16), 'hex')::uuid
)
SELECT n.id, n.failures, n.entry_id, n.event_id, n.type, n.account, n.at, n.data, n.request_id, n.lane
FROM done d CROSS JOIN LATERAL
    (SELECT * FROM event_parked p WHERE p.stream = d.stream AND p.lane = d.lane AND p.id > $1::bigint ORDER BY id LIMIT 1) n;

-- name: event_position_get(stream) (read)
-- Returns the position, NULL: none yet; and the time in Unix milliseconds.
SELECT (SELECT entry_id FROM event_position WHERE stream = :stream) AS entry_id,
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms;

-- name: event_position_save(stream, entry, owner, fence, handled_hashes)
-- :owner and :fence are of the lease; the events with :handled_hashes are handled with :entry. No row is affected when the lease
-- was taken over. An event that was sent again may be once more, for as long as one that was sent now.
WITH holder AS (
    SELECT FROM lease WHERE name = :stream AND owner = :owner AND fence = :fence::bigint
), settled AS (
    INSERT INTO event_settled (stream, event_hash)
    SELECT DISTINCT :stream, hash
    FROM holder, unnest(:handled_hashes::uuid[]) AS hash
    WHERE hash IS NOT NULL
    ON CONFLICT (stream, event_hash) DO UPDATE SET settled_at = excluded.settled_at
    WHERE event_settled.settled_at < excluded.settled_at - interval '1 day'
)
INSERT INTO event_position AS known (stream, entry_id)
SELECT :stream, :entry FROM holder
ON CONFLICT (stream) DO UPDATE SET entry_id = excluded.entry_id, at = now();

-- name: event_settled_among(stream, hashes) (read)
-- :hashes are of events. Returns the positions of those that were handled before, from 0. Each is looked up by the index, here and
-- in the next statement: of EXISTS Postgres makes a join, which may read the whole table.
SELECT n - 1
FROM unnest(:hashes::uuid[]) WITH ORDINALITY AS asked (hash, n)
WHERE (SELECT true FROM event_settled s WHERE s.stream = :stream AND s.event_hash = asked.hash LIMIT 1);

-- name: event_parked_among(stream, lanes) (read)
-- :lanes is a JSON array. Returns the positions of those that have parked events, from 0.
SELECT n - 1
FROM jsonb_array_elements_text(:lanes::jsonb) WITH ORDINALITY AS asked (lane, n)
WHERE (SELECT true FROM event_parked p WHERE p.stream = :stream AND p.lane = asked.lane LIMIT 1);

-- name: event_parked_count(stream) (read)
SELECT count(*) FROM event_parked WHERE stream = :stream;

-- name: event_park(stream, entries, error, failures, pause_ms, owner, fence, handled_hashes)
-- :entries is a JSON array, of one lane. :error (NULL: it was not tried), :failures and :pause_ms until the next try are of the
-- first. :owner and :fence are of the lease. :handled_hashes are of the lane's events that were handled before them and are not
-- settled yet. No row: the lease was taken over. They are settled with this statement and not with the position: they may be
-- handled before that is saved, and a reader that reads them again would have them, and what was handled before them, handled
-- once more behind newer ones. One that is read again is parked once.
WITH holder AS (
    SELECT FROM lease WHERE name = :stream AND owner = :owner AND fence = :fence::bigint
), entry AS (
    SELECT e.*
    FROM holder, ROWS FROM (
        jsonb_to_recordset(:entries::jsonb)
        AS (entry_id text, account text, event_id text, type text, at text, data text, request_id text, lane text)
    ) WITH ORDINALITY AS e (entry_id, account, event_id, type, at, data, request_id, lane, n)
), settled AS (
    INSERT INTO event_settled (stream, event_hash)
    SELECT :stream, encode(substring(sha256(convert_to(event_id, 'UTF8')) FOR 16), 'hex')::uuid FROM entry
    UNION SELECT :stream, hash FROM holder, unnest(:handled_hashes::uuid[]) AS hash
    ON CONFLICT DO NOTHING
), parked AS (
    INSERT INTO event_parked (stream, entry_id, account, event_id, type, at, data, request_id, lane, error, failures, next_try)
    SELECT :stream, entry_id, account, event_id, type, at, data, request_id, lane,
        CASE n WHEN 1 THEN :error END,
        CASE n WHEN 1 THEN :failures::int ELSE 0 END,
        clock_timestamp() + CASE n WHEN 1 THEN make_interval(secs => :pause_ms::float8 / 1000) ELSE '0' END
    FROM entry
    ORDER BY n
    ON CONFLICT (stream, entry_id) DO NOTHING
)
SELECT FROM holder;

-- name: event_park_again(stream, entry)
-- :entry is that of an event that was given up, as a JSON object.
INSERT INTO event_parked (stream, entry_id, account, event_id, type, at, data, request_id, lane, next_try)
SELECT :stream, entry_id, account, event_id, type, at, data, request_id, lane, clock_timestamp()
FROM jsonb_to_record(:entry::jsonb)
    AS e (entry_id text, account text, event_id text, type text, at text, data text, request_id text, lane text)
ON CONFLICT (stream, entry_id) DO NOTHING;

-- name: event_parked_hurry(stream, lane, lane_max, failures)
-- Where more than :lane_max are parked in the lane, the oldest that has failed by itself gets :failures: it has no further try.
UPDATE event_parked p SET failures = :failures::int, next_try = clock_timestamp()
WHERE id = (SELECT id FROM event_parked WHERE stream = :stream AND lane = :lane ORDER BY id LIMIT 1) AND failures > 0
    AND (SELECT true FROM event_parked x WHERE x.stream = p.stream AND x.lane = p.lane ORDER BY x.id LIMIT 1 OFFSET :lane_max::int);

-- name: event_parked_due(stream, last_lane, limit) (read)
-- Returns the oldest of each of the lanes after :last_lane, if it is due. :last_lane had its turn last (NULL: begin with the
-- first). Each step of the recursion finds the next lane by the index, however many events a lane has.
WITH RECURSIVE oldest AS (
    (SELECT id, lane, next_try FROM event_parked WHERE stream = :stream AND lane > :last_lane ORDER BY lane, id LIMIT 1)
    UNION ALL
    (SELECT id, lane, next_try FROM event_parked WHERE stream = :stream AND :last_lane IS NULL ORDER BY lane, id LIMIT 1)
    UNION ALL
    SELECT n.id, n.lane, n.next_try FROM oldest o CROSS JOIN LATERAL
        (SELECT id, lane, next_try FROM event_parked WHERE stream = :stream AND lane > o.lane ORDER BY lane, id LIMIT 1) n
), due AS MATERIALIZED (
    SELECT id FROM oldest WHERE next_try <= clock_timestamp() LIMIT :limit::int
)
SELECT p.id, p.failures, p.entry_id, p.event_id, p.type, p.account, p.at, p.data, p.request_id, p.lane
FROM due JOIN event_parked p USING (id)
ORDER BY p.lane;

-- name: event_parked_next(stream) (read)
-- Returns the milliseconds until the next is due, NULL: none is parked; and how many lanes have parked events.
WITH RECURSIVE oldest AS (
    (SELECT lane, next_try FROM event_parked WHERE stream = :stream ORDER BY lane, id LIMIT 1)
    UNION ALL
    SELECT n.lane, n.next_try FROM oldest o CROSS JOIN LATERAL
        (SELECT lane, next_try FROM event_parked WHERE stream = :stream AND lane > o.lane ORDER BY lane, id LIMIT 1) n
)
SELECT ceil(extract(epoch FROM min(next_try) - clock_timestamp()) * 1000)::bigint AS due_ms, count(*) AS lanes
FROM oldest;

-- name: event_parked_retry(parked, failures, pause_ms, error)
UPDATE event_parked SET failures = :failures::int, error = :error,
    next_try = clock_timestamp() + make_interval(secs => :pause_ms::float8 / 1000)
WHERE id = :parked::bigint;

-- name: event_parked_done(parked, is_dead)
-- :parked is done with. :is_dead: it was given up, and the event is handled again if it is sent again. Returns the next of its
-- lane, which has come after it, in the columns of event_parked_due.
WITH done AS (
    DELETE FROM event_parked WHERE id = :parked::bigint RETURNING stream, lane, event_id
), forgotten AS (
    DELETE FROM event_settled s USING done d
    WHERE :is_dead::boolean AND s.stream = d.stream
        AND s.event_hash = encode(substring(sha256(convert_to(d.event_id, 'UTF8')) FOR 16), 'hex')::uuid
)
SELECT n.id, n.failures, n.entry_id, n.event_id, n.type, n.account, n.at, n.data, n.request_id, n.lane
FROM done d CROSS JOIN LATERAL
    (SELECT * FROM event_parked p WHERE p.stream = d.stream AND p.lane = d.lane AND p.id > :parked::bigint ORDER BY id LIMIT 1) n;

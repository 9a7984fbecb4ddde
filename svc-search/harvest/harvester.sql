-- name: source_schedule
-- $1 the source, $2 an array of its sets in HARVEST_SETS, $3 and $4 the time and zone of HARVEST_AT. A new set is due at once.
-- A set that waits for the schedule waits for the new one when that has changed.
WITH listed AS (
    SELECT jsonb_array_elements_text($2::jsonb) AS set
), planned AS (
    SELECT slot_after(now(), $3::time, $4) AS slot
), dropped AS (
    UPDATE source SET is_scheduled = false, slot = NULL, next_at = CASE WHEN state = 'running' THEN next_at END,
        state = CASE WHEN state = 'waiting' THEN 'idle' ELSE state END
    WHERE name = $1 AND is_scheduled AND set NOT IN (SELECT set FROM listed)
)
INSERT INTO source AS s (name, set, is_scheduled, slot, next_at)
SELECT $1, set, true, now(), now() FROM listed
ON CONFLICT (name, set) DO UPDATE SET
    is_scheduled = true, slot = (SELECT slot FROM planned),
    next_at = CASE WHEN s.state = 'running' THEN s.next_at ELSE (SELECT slot FROM planned) + random() * interval '10 minutes' END
WHERE NOT s.is_scheduled OR (s.state IN ('idle', 'failed') AND s.slot > now() AND s.slot <> (SELECT slot FROM planned));

-- name: source_due (read)
-- $1 the source. The set to go on with, for how many ms not yet, whether a list is being read, its first day, the token of its
-- next page (tokens end with the UTC day), failed attempts for that page, restarts. Sets are read one after another: the one
-- that is being read comes first, also while it waits.
SELECT set, greatest(ceil(extract(epoch FROM next_at - clock_timestamp()) * 1000), 0)::bigint AS wait_ms,
       state = 'running' AS is_running, cursor->>'from' AS first_day,
       CASE WHEN cursor->>'token_on' = (now() AT TIME ZONE 'UTC')::date::text THEN cursor->>'token' END AS token,
       attempts, restarts, records
FROM source WHERE name = $1 AND next_at IS NOT NULL
ORDER BY (state = 'running') DESC, next_at, set LIMIT 1;

-- name: source_start
-- $1 the source, $2 the set, $3 days of the first run. The first day of the list: that asked for, or two days before the last
-- complete list, since an announcement at 00:00 UTC may have either date.
UPDATE source
SET state = 'running', started_at = now(), listed_at = NULL, records = 0, added = 0, changed = 0, withdrawn = 0, skipped = 0,
    attempts = 0, restarts = 0, error = NULL,
    cursor = cursor || jsonb_build_object('from', coalesce((cursor->>'from')::date, (response_date AT TIME ZONE 'UTC')::date - 2,
                                                           (now() AT TIME ZONE 'UTC')::date - $3::int))
WHERE name = $1 AND set = $2 RETURNING cursor->>'from';

-- name: source_retry
-- $1 the source, $2 the set, $3 ms until the next attempt, $4 why the last one failed.
UPDATE source SET attempts = attempts + 1, error = $4, next_at = clock_timestamp() + make_interval(secs => $3::float8 / 1000)
WHERE name = $1 AND set = $2;

-- name: source_restart
-- $1 the source, $2 the set, whose token has expired.
UPDATE source SET restarts = restarts + 1, attempts = 0, records = 0, next_at = now(), cursor = cursor - '{token,token_on}'::text[]
WHERE name = $1 AND set = $2;

-- name: source_turn_page
-- $1 the source, $2 the set, $3 the lease, $4 its owner and $5 its fence, $6 token of the next page (null: there is none), $7
-- records of the page and what became of them: $8 added, $9 changed, $10 withdrawn, $11 skipped; $12 when the newest paper was
-- published that came since the last announcement (null: none came), $13 the server's time (null: unknown), $14 ms until the
-- next page is due. No row: the lease was lost, and nothing of the page may stay.
UPDATE source
SET cursor = cursor || jsonb_build_object('token', $6::text, 'token_on', (now() AT TIME ZONE 'UTC')::date),
    records = records + $7::bigint, added = added + $8::bigint, changed = changed + $9::bigint,
    withdrawn = withdrawn + $10::bigint, skipped = skipped + $11::bigint, attempts = 0, error = NULL,
    newest_published_at = greatest(newest_published_at, $12::timestamptz),
    fresh_at = CASE WHEN ($12::timestamptz AT TIME ZONE 'UTC')::date >= (coalesce($13::timestamptz, now()) AT TIME ZONE 'UTC')::date - 3
                    THEN now() ELSE fresh_at END,
    listed_at = coalesce(listed_at, $13::timestamptz, now()),
    next_at = clock_timestamp() + make_interval(secs => $14::float8 / 1000)
FROM (SELECT FROM lease WHERE name = $3 AND owner = $4 AND fence = $5::bigint FOR KEY SHARE) held
WHERE source.name = $1 AND set = $2 AND state = 'running'
RETURNING 1;

-- name: source_finish
-- $1 the source, $2 the set, $3 why the run has failed (null: the list is complete), $4 and $5 the time and zone of HARVEST_AT.
-- A list that failed begins with the same day again. One whose first day was asked for may have left out days after the last complete
-- list, which the next one reads then.
UPDATE source s
SET (state, slot, repeats, next_at) =
        (SELECT p.state, p.slot, p.repeats, p.next_at FROM source_plan(s, $3::text IS NOT NULL, $4::time, $5, clock_timestamp()) p),
    finished_at = clock_timestamp(), error = $3::text, attempts = 0, restarts = 0, listed_at = NULL,
    response_date = CASE WHEN $3::text IS NULL
                              AND coalesce((cursor->>'from')::date <= (response_date AT TIME ZONE 'UTC')::date, NOT cursor ? 'is_asked')
                         THEN listed_at ELSE response_date END,
    cursor = CASE WHEN $3::text IS NULL THEN '{}' ELSE cursor - '{token,token_on}'::text[] END
WHERE name = $1 AND set = $2
RETURNING state, records, added, changed, withdrawn, skipped, time_json(next_at) AS next_time;

-- name: source_announce_finished
-- $1 the source, $2 the set, whose list is complete. harvester.h has the event.
SELECT event_send(uuid_v7(), 'events.assets', 'harvest.finished', s.name, NULL, jsonb_build_object(
           'source', s.name, 'set', s.set, 'added', s.added, 'changed', s.changed,
           'newest_published_at', time_json(s.newest_published_at), 'day', (announced AT TIME ZONE 'UTC')::date,
           'is_day_complete', (SELECT coalesce(bool_and(source_has_papers(o, announced)), false)
                               FROM source o WHERE o.name = $1 AND o.is_scheduled)))
FROM source s, announcement_before($1, now()) announced WHERE s.name = $1 AND s.set = $2;

-- name: source_gauges (read)
-- $1 the source. Its sets of HARVEST_SETS: when the last list was complete, or when the set was new, in seconds since the epoch;
-- announcements that brought no new paper; papers that the last list brought, so far; and when the next one is due.
SELECT set, extract(epoch FROM coalesce(response_date, created_at)) AS complete_at, source_missed(s, now()) AS missed, added,
       extract(epoch FROM next_at) AS next_at
FROM source s WHERE name = $1 AND is_scheduled;

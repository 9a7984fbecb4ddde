-- name: source_schedule(source, sets, time, zone)
-- :sets is an array of the sets of the source in HARVEST_SETS. :time and :zone are those of HARVEST_AT. A new set is due at once.
-- A set that waits for the schedule waits for the new one when that has changed.
WITH listed AS (
    SELECT jsonb_array_elements_text(:sets::jsonb) AS set
), planned AS (
    SELECT slot_after(now(), :time::time, :zone) AS slot
), dropped AS (
    UPDATE source SET is_scheduled = false, slot = NULL, next_at = CASE WHEN state = 'running' THEN next_at END,
        state = CASE WHEN state = 'waiting' THEN 'idle' ELSE state END
    WHERE name = :source AND is_scheduled AND set NOT IN (SELECT set FROM listed)
)
INSERT INTO source AS s (name, set, is_scheduled, slot, next_at)
SELECT :source, set, true, now(), now() FROM listed
ON CONFLICT (name, set) DO UPDATE SET
    is_scheduled = true, slot = (SELECT slot FROM planned),
    next_at = CASE WHEN s.state = 'running' THEN s.next_at ELSE (SELECT slot FROM planned) + random() * interval '10 minutes' END
WHERE NOT s.is_scheduled OR (s.state IN ('idle', 'failed') AND s.slot > now() AND s.slot <> (SELECT slot FROM planned));

-- name: source_due(source) (read)
-- Returns the set to go on with, for how many ms not yet, whether a list is being read, its first day, the token of its next page
-- (tokens end with the UTC day), failed attempts for that page, restarts, and records. Sets are read one after another: the one
-- that is being read comes first, also while it waits.
SELECT set, greatest(ceil(extract(epoch FROM next_at - clock_timestamp()) * 1000), 0)::bigint AS wait_ms,
       state = 'running' AS is_running, cursor->>'from' AS first_day,
       CASE WHEN cursor->>'token_on' = (now() AT TIME ZONE 'UTC')::date::text THEN cursor->>'token' END AS token,
       attempts, restarts, records
FROM source
WHERE name = :source AND next_at IS NOT NULL
ORDER BY (state = 'running') DESC, next_at, set
LIMIT 1;

-- name: source_start(source, set, days)
-- :days are those of the first run. Returns the first day of the list: that asked for, or two days before the last complete list,
-- since an announcement at 00:00 UTC may have either date.
UPDATE source
SET state = 'running', started_at = now(), listed_at = NULL, records = 0, added = 0, changed = 0, withdrawn = 0, skipped = 0,
    attempts = 0, restarts = 0, error = NULL,
    cursor = cursor || jsonb_build_object('from', coalesce((cursor->>'from')::date, (response_date AT TIME ZONE 'UTC')::date - 2,
                                                           (now() AT TIME ZONE 'UTC')::date - :days::int))
WHERE name = :source AND set = :set
RETURNING cursor->>'from';

-- name: source_retry(source, set, wait_ms, error)
-- :wait_ms is the time until the next attempt, :error is why the last one failed.
UPDATE source
SET attempts = attempts + 1, error = :error, next_at = clock_timestamp() + make_interval(secs => :wait_ms::float8 / 1000)
WHERE name = :source AND set = :set;

-- name: source_restart(source, set)
-- The token of the set has expired.
UPDATE source
SET restarts = restarts + 1, attempts = 0, records = 0, next_at = now(), cursor = cursor - '{token,token_on}'::text[]
WHERE name = :source AND set = :set;

-- name: source_turn_page(source, set, lease, owner, fence, token, records, added, changed, withdrawn, skipped,
--   newest_published_at, answered_at, wait_ms)
-- Of the :records of the page, so many were :added, :changed, :withdrawn and :skipped. A :token of NULL: there is no next page.
-- :newest_published_at is when the newest paper was published that came since the last announcement. NULL: none came.
-- :answered_at is the server's time. NULL: it is unknown. :wait_ms is the time until the next page is due. No row: the lease was
-- lost, and nothing of the page may stay.
UPDATE source
SET cursor = cursor || jsonb_build_object('token', :token::text, 'token_on', (now() AT TIME ZONE 'UTC')::date),
    records = records + :records::bigint, added = added + :added::bigint, changed = changed + :changed::bigint,
    withdrawn = withdrawn + :withdrawn::bigint, skipped = skipped + :skipped::bigint, attempts = 0, error = NULL,
    newest_published_at = greatest(newest_published_at, :newest_published_at::timestamptz),
    fresh_at = CASE WHEN (:newest_published_at::timestamptz AT TIME ZONE 'UTC')::date
                         >= (coalesce(:answered_at::timestamptz, now()) AT TIME ZONE 'UTC')::date - 3
                    THEN now() ELSE fresh_at END,
    listed_at = coalesce(listed_at, :answered_at::timestamptz, now()),
    next_at = clock_timestamp() + make_interval(secs => :wait_ms::float8 / 1000)
FROM (SELECT FROM lease WHERE name = :lease AND owner = :owner AND fence = :fence::bigint FOR KEY SHARE) held
WHERE source.name = :source AND set = :set AND state = 'running'
RETURNING 1;

-- name: source_finish(source, set, error, time, zone)
-- :error is why the run has failed. NULL: the list is complete. :time and :zone are those of HARVEST_AT. A list that failed
-- begins with the same day again. One whose first day was asked for may have left out days after the last complete list, which
-- the next one reads then.
UPDATE source s
SET (state, slot, repeats, next_at) =
        (SELECT p.state, p.slot, p.repeats, p.next_at
         FROM source_plan(s, :error::text IS NOT NULL, :time::time, :zone, clock_timestamp()) p),
    finished_at = clock_timestamp(), error = :error::text, attempts = 0, restarts = 0, listed_at = NULL,
    response_date = CASE WHEN :error::text IS NULL
                              AND coalesce((cursor->>'from')::date <= (response_date AT TIME ZONE 'UTC')::date,
                                           NOT cursor ? 'is_asked')
                         THEN listed_at ELSE response_date END,
    cursor = CASE WHEN :error::text IS NULL THEN '{}' ELSE cursor - '{token,token_on}'::text[] END
WHERE name = :source AND set = :set
RETURNING state, records, added, changed, withdrawn, skipped, time_json(next_at) AS next_time;

-- name: source_announce_finished(source, set)
-- The list of the set is complete. harvester.h has the event.
SELECT event_send(uuid_v7(), 'events.assets', 'harvest.finished', s.name, NULL, jsonb_build_object(
           'source', s.name, 'set', s.set, 'added', s.added, 'changed', s.changed,
           'newest_published_at', time_json(s.newest_published_at), 'day', (announced AT TIME ZONE 'UTC')::date,
           'is_day_complete', (SELECT coalesce(bool_and(source_has_papers(o, announced)), false)
                               FROM source o WHERE o.name = :source AND o.is_scheduled)))
FROM source s, announcement_before(:source, now()) announced
WHERE s.name = :source AND s.set = :set;

-- name: source_gauges(source) (read)
-- Returns its sets of HARVEST_SETS: when the last list was complete, or when the set was new, in seconds since the epoch;
-- announcements that brought no new paper; papers that the last list brought, so far; and when the next one is due.
SELECT set, extract(epoch FROM coalesce(response_date, created_at)) AS complete_at, source_missed(s, now()) AS missed, added,
       extract(epoch FROM next_at) AS next_at
FROM source s
WHERE name = :source AND is_scheduled;

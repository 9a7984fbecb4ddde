-- name: daily_start_late(time, zone)
-- Makes the row of today (UTC) if clocks of :zone show :time, or have shown it since midnight UTC.
INSERT INTO daily_run (day, tasks, next_account)
SELECT today.day, 0, '00000000-0000-0000-0000-000000000000'
FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS day) today
WHERE (((today.day + :time::time) AT TIME ZONE :zone) AT TIME ZONE 'UTC')::time <= (now() AT TIME ZONE 'UTC')::time
ON CONFLICT (day) DO NOTHING RETURNING day;

-- name: daily_start_complete(day)
-- The papers of :day are complete. Makes its row if it is today.
INSERT INTO daily_run (day, tasks, next_account)
SELECT :day::date, 0, '00000000-0000-0000-0000-000000000000' WHERE :day::date = (now() AT TIME ZONE 'UTC')::date
ON CONFLICT (day) DO NOTHING RETURNING day;

-- name: daily_queue(limit)
-- Gives the next :limit accounts their tasks. A deleted account, whose interests may be there still, has none: its task would be
-- refused, and those of all others with it; nor has one that is being deleted, which nobody waits for. Returns the day, the tasks
-- of its run until now, and whether all accounts have theirs. No row: there is nothing to do, or another process does it.
WITH run AS MATERIALIZED (
    SELECT day, next_account FROM daily_run
    WHERE day = (now() AT TIME ZONE 'UTC')::date AND next_account IS NOT NULL
    FOR UPDATE SKIP LOCKED
), batch AS MATERIALIZED (
    SELECT c.account_id, c.active
    FROM run, LATERAL (SELECT * FROM interest_count
                       WHERE account_id > run.next_account
                       ORDER BY account_id
                       LIMIT :limit::integer) c
), queued AS MATERIALIZED (
    SELECT task_put('recommendations_refresh_all', account_id, jsonb_build_object('day', day), NULL, NULL)
    FROM batch, run WHERE active > 0 AND account_share_try(account_id)
), last AS (
    SELECT account_id FROM batch ORDER BY account_id DESC LIMIT 1
)
UPDATE daily_run d SET
    tasks = d.tasks + (SELECT count(*) FROM queued),
    next_account = CASE WHEN (SELECT count(*) FROM batch) = :limit::integer THEN (SELECT account_id FROM last) END
FROM run WHERE d.day = run.day
RETURNING d.day, d.tasks, d.next_account IS NULL AS is_over;

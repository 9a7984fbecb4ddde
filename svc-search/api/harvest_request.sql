-- name: harvest_request(source, set, first_day, sets_max)
-- Returns whether the set is due now, or why it is not. A :first_day of NULL: where the last harvest ended. The table may have
-- :sets_max sets. The cursor of a list whose first day was asked for says so (source_finish).
WITH queued AS (
    INSERT INTO source AS s (name, set, is_scheduled, next_at, cursor)
    SELECT :source, :set, false, now(),
           jsonb_strip_nulls(jsonb_build_object(
               'from', :first_day::date, 'is_asked', nullif(:first_day::date IS NOT NULL, false)))
    WHERE (SELECT count(*) FROM source) < :sets_max::int OR EXISTS (SELECT FROM source WHERE name = :source AND set = :set)
    ON CONFLICT (name, set) DO UPDATE SET next_at = now(), cursor = excluded.cursor
    WHERE s.state <> 'running'
    RETURNING 1
)
SELECT EXISTS (SELECT FROM queued) AS is_due,
       CASE WHEN EXISTS (SELECT FROM source WHERE name = :source AND set = :set) THEN 'this set is being harvested'
            ELSE 'no more sets can be harvested' END AS reason;

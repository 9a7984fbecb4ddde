-- name: harvest_request
-- $1 the source, $2 the set, $3 the first day (null: where the last harvest ended), $4 how many sets the table may have. Whether the
-- set is due now; otherwise why it is not. The cursor of a list whose first day was asked for says so (source_finish).
WITH queued AS (
    INSERT INTO source AS s (name, set, is_scheduled, next_at, cursor)
    SELECT $1, $2, false, now(), jsonb_strip_nulls(jsonb_build_object('from', $3::date, 'is_asked', nullif($3::date IS NOT NULL, false)))
    WHERE (SELECT count(*) FROM source) < $4::int OR EXISTS (SELECT FROM source WHERE name = $1 AND set = $2)
    ON CONFLICT (name, set) DO UPDATE SET next_at = now(), cursor = excluded.cursor WHERE s.state <> 'running'
    RETURNING 1
)
SELECT EXISTS (SELECT FROM queued) AS is_due,
       CASE WHEN EXISTS (SELECT FROM source WHERE name = $1 AND set = $2) THEN 'this set is being harvested'
            ELSE 'no more sets can be harvested' END AS reason;

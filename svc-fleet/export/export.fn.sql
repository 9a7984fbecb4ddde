-- Runs as files (export.h).

-- A day's beginning, UTC.
CREATE OR REPLACE FUNCTION day_begin(day date) RETURNS timestamptz LANGUAGE sql IMMUTABLE
RETURN day::timestamp AT TIME ZONE 'UTC';

-- The time before which every transaction of this role has ended: what a run was changed to before is to be seen. Not now(), because a
-- transaction that began earlier may still commit a change.
CREATE OR REPLACE FUNCTION settled_until() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
    SELECT least(now(), (SELECT min(a.xact_start) FROM pg_stat_activity a
                         WHERE a.datname = current_database() AND a.usename = current_user AND a.pid <> pg_backend_pid()))
$$;

-- Whether a run is in a file that is whole, as it is now.
CREATE OR REPLACE FUNCTION run_is_exported(r run) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM run_export e WHERE e.day = (r.first_at AT TIME ZONE 'UTC')::date AND e.finished_at IS NOT NULL
                                              AND r.changed_at < e.settled_until);
END $$;

-- The days before `before` of runs that the target does not have as they are now, or whose file is not finished. Reads all these runs.
CREATE OR REPLACE FUNCTION export_days(before date, target text) RETURNS SETOF date LANGUAGE sql STABLE AS $$
    SELECT d.day
    FROM (SELECT (r.first_at AT TIME ZONE 'UTC')::date AS day, max(r.changed_at) AS changed_at
          FROM run r WHERE r.first_at < day_begin(before) GROUP BY 1) d
    LEFT JOIN LATERAL (SELECT e.* FROM run_export e WHERE e.day = d.day AND e.target = export_days.target ORDER BY e.part DESC LIMIT 1) e ON true
    WHERE e.finished_at IS NULL OR d.changed_at >= e.settled_until
    ORDER BY d.day
$$;

-- Whether a run of a day has changed since the newest file of it.
CREATE OR REPLACE FUNCTION export_day_has_changed(day date, target text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM run r WHERE r.first_at >= day_begin(day) AND r.first_at < day_begin(day + 1)
                   AND r.changed_at >= (SELECT e.settled_until FROM run_export e WHERE e.day = $1 AND e.target = $2 ORDER BY e.part DESC LIMIT 1))
$$;

-- The number of the next file of a day, or of the one that was begun and is not finished.
CREATE OR REPLACE FUNCTION export_next(day date, target text, OUT part int, OUT was_begun boolean) LANGUAGE plpgsql STABLE AS $$
DECLARE
    e run_export;
BEGIN
    SELECT x.* INTO e FROM run_export x WHERE x.day = export_next.day AND x.target = export_next.target ORDER BY x.part DESC LIMIT 1;
    was_begun := e.part IS NOT NULL AND e.finished_at IS NULL;
    part := CASE WHEN was_begun THEN e.part ELSE coalesce(e.part, 0) + 1 END;
END $$;

-- Begin a file, which the store does not have, or begin it once more.
CREATE OR REPLACE FUNCTION export_start(day date, target text, part int) RETURNS void LANGUAGE sql AS $$
    INSERT INTO run_export AS x (day, target, part, settled_until) VALUES (day, target, part, settled_until())
    ON CONFLICT ON CONSTRAINT run_export_pkey DO UPDATE SET settled_until = excluded.settled_until, begun_at = now()
$$;

-- The next runs of a day behind an id, as lines.
CREATE OR REPLACE FUNCTION export_page(day date, after uuid, most int) RETURNS TABLE (id uuid, line text) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY
        SELECT r.id, (jsonb_build_object(
                   'id', r.id, 'account_id', r.account_id, 'first_at', time_json(r.first_at), 'changed_at', time_json(r.changed_at),
                   'run', run_json(r, d.detail), 'attempts', r.attempts,
                   'deliverable', (SELECT jsonb_build_object('url', x.url, 'kind', x.kind, 'stage', x.stage, 'opened_at', time_json(x.opened_at),
                                                             'closed_at', time_json(x.closed_at), 'reverted_at', time_json(x.reverted_at),
                                                             'reapplied_at', time_json(x.reapplied_at))
                                   FROM deliverable x WHERE x.account_id = r.account_id AND x.url = r.artifact_url)))::text
        FROM (SELECT n.* FROM run n WHERE n.first_at >= day_begin(day) AND n.first_at < day_begin(day + 1) AND n.id > after
              ORDER BY n.id LIMIT most) r
        LEFT JOIN run_detail d ON d.id = r.id AND d.first_at = r.first_at
        ORDER BY r.id;
END $$;

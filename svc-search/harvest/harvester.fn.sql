-- The schedule of the harvest. A local time that does not exist, as clocks go forward, is the time after the gap; of one that
-- exists twice it is the second.

-- When all papers of a day have appeared, around a time. arXiv announces them from Sunday to Thursday, 20:00 in New York. On bioRxiv
-- and medRxiv they appear through the day, few at weekends.
CREATE OR REPLACE FUNCTION announcements(source_name text, around timestamptz) RETURNS SETOF timestamptz LANGUAGE sql STABLE AS $$
    SELECT (day + at) AT TIME ZONE zone
    FROM (SELECT CASE source_name WHEN 'arxiv' THEN 'America/New_York' ELSE 'UTC' END,
                 CASE source_name WHEN 'arxiv' THEN time '20:00' ELSE time '24:00' END,
                 CASE source_name WHEN 'arxiv' THEN '{0,1,2,3,4}'::int[] ELSE '{1,2,3,4,5}' END) source (zone, at, days),
         generate_series(-4, 4) n, LATERAL (SELECT (around AT TIME ZONE zone)::date + n) listed (day)
    WHERE extract(dow FROM day) = ANY (days)
$$;

CREATE OR REPLACE FUNCTION announcement_before(source_name text, moment timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT max(announced) FROM announcements(source_name, moment) announced WHERE announced <= moment
$$;

CREATE OR REPLACE FUNCTION announcement_after(source_name text, moment timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT min(announced) FROM announcements(source_name, moment) announced WHERE announced > moment
$$;

-- The first time after `moment` at which clocks of the zone show `at`. Violates invalid_parameter_value: there is no such zone, in a setting.
CREATE OR REPLACE FUNCTION slot_after(moment timestamptz, at time, zone text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT next_at FROM local_time_next('{1,2,3,4,5,6,7}', extract(hour FROM at)::int, extract(minute FROM at)::int, zone, NULL, moment)
    WHERE moment AT TIME ZONE zone IS NOT NULL
$$;

-- Whether the day before a slot had an announcement. Otherwise its run is for corrections.
CREATE OR REPLACE FUNCTION slot_has_papers(source_name text, slot timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT announcement_before(source_name, slot) > slot - interval '24 hours'
$$;

-- Until when a slot's runs are repeated: the next 09:00 UTC.
CREATE OR REPLACE FUNCTION slot_end(slot timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT slot_after(slot, '09:00', 'UTC')
$$;

-- Whether a list of the set has been read to its end that had a new paper since the announcement.
CREATE OR REPLACE FUNCTION source_has_papers(s source, announced timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT s.state = 'idle' AND coalesce(s.fresh_at >= announced, false)
$$;

-- What follows a run of `s` that has ended at `moment`: again after 30 minutes and then hourly, while a new paper or a run
-- without failure is missing; otherwise the next slot, at a time of its own so that not all installations ask at once. A run that was
-- asked for before its slot has begun is not repeated.
CREATE OR REPLACE FUNCTION source_plan(s source, is_failed boolean, at time, zone text, moment timestamptz,
                                       OUT state text, OUT slot timestamptz, OUT repeats int, OUT next_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    again CONSTANT timestamptz := moment + CASE WHEN s.repeats = 0 AND NOT is_failed THEN '30 minutes' ELSE '1 hour' END::interval;
    is_missing CONSTANT boolean := slot_has_papers(s.name, s.slot) AND coalesce(s.fresh_at < announcement_before(s.name, s.slot), true);
BEGIN
    state := CASE WHEN is_failed THEN 'failed' ELSE 'idle' END;
    repeats := 0;
    IF NOT s.is_scheduled THEN
        RETURN;
    END IF;
    IF (is_failed OR is_missing) AND s.slot <= moment AND again <= slot_end(s.slot) THEN
        state := CASE WHEN is_failed THEN 'failed' ELSE 'waiting' END;
        slot := s.slot;
        repeats := s.repeats + 1;
        next_at := again;
    ELSE
        slot := slot_after(moment, at, zone);
        next_at := slot + random() * interval '10 minutes';
    END IF;
END $$;

-- Since when a set is late: six hours after the first announcement since it had a new paper; null: it is not.
CREATE OR REPLACE FUNCTION source_late_since(s source, moment timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT due FROM (SELECT announcement_after(s.name, coalesce(s.fresh_at, s.created_at)) + interval '6 hours' AS due) expected
    WHERE s.is_scheduled AND due <= moment
$$;

-- How many announcements, of more than six hours ago, brought no new paper; counted for four days.
CREATE OR REPLACE FUNCTION source_missed(s source, moment timestamptz) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT count(*) FROM announcements(s.name, moment) announced
    WHERE announced > coalesce(s.fresh_at, s.created_at) AND announced <= moment - interval '6 hours'
$$;

-- From when on a source may be asked, of its time in source_pace. One more than an hour ahead is of a clock that was wrong.
CREATE OR REPLACE FUNCTION source_free_at(next_request_at timestamptz) RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN next_request_at BETWEEN t AND t + interval '1 hour' THEN next_request_at ELSE t END FROM clock_timestamp() t
$$;

CREATE OR REPLACE FUNCTION source_json(s source) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'name', s.name, 'set', s.set, 'state', s.state, 'last_started_at', time_json(s.started_at),
        'last_finished_at', time_json(s.finished_at), 'next_at', time_json(s.next_at), 'records', s.records,
        'added', s.added, 'changed', s.changed, 'withdrawn', s.withdrawn, 'skipped', s.skipped,
        'newest_published_at', time_json(s.newest_published_at), 'late_since', time_json(source_late_since(s, now())),
        'error', s.error)
$$;

-- Times of day in a time zone, on some days of the week. Postgres computes them, because it has the rules of the zones.

-- Whether it is a name of the time zone database, such as Europe/Berlin, or UTC: not an abbreviation, nor a rule of POSIX, and in the
-- case that it has there. Setting it finds that out; pg_timezone_names would read all zones from their files.
CREATE OR REPLACE FUNCTION time_zone_is_known(zone text) RETURNS boolean LANGUAGE plpgsql SET timezone = 'UTC' AS $$
BEGIN
    IF zone <> 'UTC' AND zone !~ '^([A-Z][A-Za-z_]*(/[A-Z][A-Za-z_-]*)+|Etc/GMT([+-][0-9]{1,2})?)$' THEN
        RETURN false;
    END IF;
    PERFORM set_config('timezone', zone, true);
    RETURN current_setting('timezone') = zone;
EXCEPTION WHEN invalid_parameter_value THEN
    RETURN false;
END $$;

-- A time zone that was known when it was stored, or UTC if the database of time zones has it no more, as that of the system may have changed
-- since. Whatever computes with a zone that is stored takes it from here, so that no statement fails for good because of it.
CREATE OR REPLACE FUNCTION zone_or_utc(zone text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    PERFORM now() AT TIME ZONE zone;
    RETURN zone;
EXCEPTION WHEN invalid_parameter_value THEN
    RETURN 'UTC';
END $$;

-- The first date after `last_date` (NULL: any) that is one of `weekdays` (1 is Monday) and on which clocks in the zone show hour:minute
-- after `moment`, and that time. A time that they skip when they go forward is as much later; one that they show twice is the second.
-- A zone that exists no more is UTC.
CREATE OR REPLACE FUNCTION local_time_next(weekdays int[], hour int, minute int, zone text, last_date date, moment timestamptz,
                                           OUT next_date date, OUT next_at timestamptz) LANGUAGE sql STABLE AS $$
    SELECT day, at
    FROM zone_or_utc(zone) AS known, generate_series(-2, 10) AS n,
         LATERAL (SELECT (moment AT TIME ZONE known)::date + n) AS dates (day),
         LATERAL (SELECT (day + make_time(hour, minute, 0)) AT TIME ZONE known) AS times (at)
    WHERE extract(isodow FROM day)::int = ANY (weekdays) AND (last_date IS NULL OR day > last_date) AND at > moment
    ORDER BY day LIMIT 1
$$;

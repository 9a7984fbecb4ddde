-- Times of day in a time zone, on some days of the week. Postgres computes them, because it has the rules of the zones.

-- Whether it is a name of the time zone database, such as Europe/Berlin, or UTC. Not an abbreviation, whose meaning depends on the
-- server, nor a file beside the zones.
CREATE OR REPLACE FUNCTION time_zone_is_known(zone text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT zone = 'UTC' OR zone LIKE '%/%' AND zone NOT LIKE 'posix/%' AND zone NOT LIKE 'right/%'
       AND EXISTS (SELECT FROM pg_timezone_names n WHERE n.name = zone)
$$;

-- The first date after `last_date` (NULL: any) that is one of `weekdays` (1 is Monday) and on which clocks in the zone show hour:minute
-- after `moment`, and that time. A time that they skip when they go forward is as much later; one that they show twice is the second.
-- Violates invalid_parameter_value: the zone exists no more.
CREATE OR REPLACE FUNCTION local_time_next(weekdays int[], hour int, minute int, zone text, last_date date, moment timestamptz,
                                           OUT next_date date, OUT next_at timestamptz) LANGUAGE sql STABLE AS $$
    SELECT day, at
    FROM generate_series(-2, 10) AS n,
         LATERAL (SELECT (moment AT TIME ZONE zone)::date + n) AS dates (day),
         LATERAL (SELECT (day + make_time(hour, minute, 0)) AT TIME ZONE zone) AS times (at)
    WHERE extract(isodow FROM day)::int = ANY (weekdays) AND (last_date IS NULL OR day > last_date) AND at > moment
    ORDER BY day LIMIT 1
$$;

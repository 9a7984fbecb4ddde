-- The digests of endpoints: when they are due (notify/digest/digest.h).

-- A digest as the API shows it; null: it is off.
CREATE OR REPLACE FUNCTION digest_json(endpoint uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'hour', d.hour, 'minute', d.minute, 'time_zone', d.time_zone, 'weekdays', to_jsonb(d.weekdays),
        'interest_ids', to_jsonb(d.interest_ids), 'limit', d."limit", 'min_score', d.min_score, 'skip_empty', d.skip_empty,
        'period', d.period, 'next_at', time_json(d.next_at))
    FROM endpoint_digest d WHERE d.endpoint_id = endpoint AND d.next_at IS NOT NULL
$$;

-- The first date after the last one at which the digest's time is after `moment`, and that time.
CREATE OR REPLACE FUNCTION digest_next(d endpoint_digest, moment timestamptz, OUT next_date date, OUT next_at timestamptz)
LANGUAGE sql STABLE AS $$
    SELECT n.next_date, n.next_at FROM local_time_next(d.weekdays, d.hour, d.minute, d.time_zone, d.last_date, moment) AS n
$$;

-- Set the digest of an endpoint, whose row is locked, to one of a body that was checked, or switch it off by a JSON null. Members that
-- the body has not have their defaults. Violates endpoint_time_zone.
CREATE OR REPLACE FUNCTION digest_set(endpoint uuid, given jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    d endpoint_digest;
BEGIN
    IF given = 'null' THEN
        UPDATE endpoint_digest x SET next_date = NULL, next_at = NULL WHERE x.endpoint_id = endpoint;
        RETURN;
    END IF;
    IF NOT time_zone_is_known(given ->> 'time_zone') THEN
        RAISE check_violation USING MESSAGE = 'the time zone is unknown', CONSTRAINT = 'endpoint_time_zone';
    END IF;
    SELECT * INTO d FROM endpoint_digest x WHERE x.endpoint_id = endpoint FOR UPDATE;
    given := given - '{last_date,next_date,next_at,told_until}'::text[]; -- members that the API does not know are ignored
    d := jsonb_populate_record(d, '{"minute": 0, "weekdays": [1, 2, 3, 4, 5], "interest_ids": null, "limit": 5, "min_score": 0.4,
                                    "skip_empty": true, "period": "today"}' || given || jsonb_build_object('endpoint_id', endpoint));
    d.weekdays := ARRAY(SELECT DISTINCT w FROM unnest(d.weekdays) AS w ORDER BY w);
    SELECT n.next_date, n.next_at INTO d.next_date, d.next_at FROM digest_next(d, now()) AS n;
    INSERT INTO endpoint_digest SELECT d.*
    ON CONFLICT (endpoint_id) DO UPDATE SET (hour, minute, time_zone, weekdays, interest_ids, "limit", min_score, skip_empty, period,
                                             next_date, next_at)
        = (d.hour, d.minute, d.time_zone, d.weekdays, d.interest_ids, d."limit", d.min_score, d.skip_empty, d.period,
           d.next_date, d.next_at);
END $$;

-- What svc-interests is sent for a date that has come.
CREATE OR REPLACE FUNCTION digest_due_json(d endpoint_digest, e endpoint) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'endpoint_id', e.id, 'local_date', d.next_date, 'due_at', time_json(d.next_at), 'settings', jsonb_build_object(
            'time_zone', d.time_zone, 'interest_ids', to_jsonb(coalesce(d.interest_ids, e.interest_ids)), 'limit', d."limit",
            'min_score', d.min_score, 'skip_empty', d.skip_empty, 'period', d.period, 'told_until', time_json(d.told_until)))
$$;

-- Note that a date is over, and plan the next one, which may have come already.
CREATE OR REPLACE FUNCTION digest_advance(d endpoint_digest) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF zone_or_utc(d.time_zone) <> d.time_zone THEN
        RAISE WARNING 'the time zone % of the digest of endpoint % exists no more: it is UTC', d.time_zone, d.endpoint_id;
    END IF;
    d.last_date := d.next_date;
    SELECT n.next_date, n.next_at INTO d.next_date, d.next_at FROM digest_next(d, now() - interval '6 hours') AS n;
    UPDATE endpoint_digest x SET last_date = d.last_date, next_date = d.next_date, next_at = d.next_at WHERE x.endpoint_id = d.endpoint_id;
END $$;

-- Announce up to `most` dates that have come, and plan the next ones. A date is skipped that is over for six hours, or whose endpoint is not
-- active. Returns how many have come.
CREATE OR REPLACE FUNCTION digests_announce(most int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    d    endpoint_digest;
    come int := 0;
BEGIN
    FOR d IN SELECT * FROM endpoint_digest x WHERE x.next_at <= now() ORDER BY x.next_at LIMIT most FOR UPDATE SKIP LOCKED LOOP
        come := come + 1;
        PERFORM event_emit('events.code_host', 'digest.due', e.account_id, digest_due_json(d, e))
        FROM endpoint e WHERE e.id = d.endpoint_id AND e.status = 'active' AND d.next_at > now() - interval '6 hours';
        PERFORM digest_advance(d);
    END LOOP;
    RETURN come;
END $$;

-- Messages: what happened, once for each account, in partitions by day.

-- Add the day to the three tables.
CREATE OR REPLACE FUNCTION message_day(day date) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM partition_add_date(ARRAY['message', 'message_delivery', 'message_attempt'], 'day', day);
END $$;

-- Forget what waits of the days before `first_kept`, which are dropped.
CREATE OR REPLACE FUNCTION delivery_queue_forget(first_kept date) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM endpoint e WHERE e.id IN (SELECT q.endpoint_id FROM delivery_queue q WHERE q.day < first_kept)
    ORDER BY e.id FOR NO KEY UPDATE;
    DELETE FROM delivery_queue q WHERE q.day < first_kept;
END $$;

-- Add a week of days ahead; drop the days before the last `days`, with what still waits of them. Returns how many were dropped.
CREATE OR REPLACE FUNCTION message_days_keep(days int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    first_kept date := (now() AT TIME ZONE 'UTC')::date - days;
BEGIN
    PERFORM email_days_keep();
    PERFORM set_config('lock_timeout', '1s', true); -- for the endpoints, too
    IF EXISTS (SELECT FROM partition_periods_before('message', 'day', first_kept)) THEN
        PERFORM delivery_queue_forget(first_kept);
    END IF;
    RETURN partitions_keep(ARRAY['message', 'message_delivery', 'message_attempt'], 'day', 7, first_kept);
END $$;

-- Whether an endpoint gets messages of the type, which is two words (event_types.py), and about the repository and the interest; null:
-- about none. A plain expression, which becomes part of the statement: it is evaluated for all endpoints of the account.
CREATE OR REPLACE FUNCTION endpoint_wants(e endpoint, type text, repo text, interest uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (e.events && ARRAY[type, split_part(type, '.', 1) || '.*'] OR type <> 'digest.ready' AND '*' = ANY (e.events))
       AND (e.repos IS NULL OR lower(repo) = ANY (lower(e.repos::text)::text[])
            OR repository_key(repo) = ANY (lower(e.repos::text)::text[]))
       AND (e.interest_ids IS NULL OR interest = ANY (e.interest_ids))
$$;

-- Drop the oldest of what waits for the endpoint, whose row is locked, beyond `most`.
CREATE OR REPLACE FUNCTION endpoint_drop_oldest(e endpoint, most int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    excess bigint := endpoint_waiting(e.id) - most;
BEGIN
    IF excess <= 0 THEN
        RETURN;
    END IF;
    WITH oldest AS (
        (SELECT delivery_id FROM delivery_queue WHERE endpoint_id = e.id AND retry_at IS NULL ORDER BY delivery_id LIMIT excess)
        UNION ALL
        (SELECT delivery_id FROM delivery_queue WHERE endpoint_id = e.id AND retry_at IS NOT NULL ORDER BY retry_at LIMIT excess)
        ORDER BY delivery_id LIMIT excess
    ), gone AS (
        DELETE FROM delivery_queue q USING oldest o WHERE q.delivery_id = o.delivery_id RETURNING q.day, q.delivery_id
    ), noted AS (
        UPDATE message_delivery d SET status = 'dropped' FROM gone g WHERE d.day = g.day AND d.id = g.delivery_id RETURNING d.id
    )
    UPDATE endpoint k SET dropped = k.dropped + (SELECT count(*) FROM noted)
    WHERE k.id = e.id;
END $$;

-- Store a message with a delivery for each of the endpoints, whose rows are locked, which waits in the queue. One that is known, that is
-- for no endpoint, or whose day is over for longer than `days`, leaves nothing. `most`: what may wait for an endpoint,
-- about: one message of 64 looks. For how many endpoints it is.
CREATE OR REPLACE FUNCTION message_store(account uuid, id uuid, type text, at timestamptz, body text, wanting uuid[], days int, most int)
RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    on_day date := (at AT TIME ZONE 'UTC')::date;
BEGIN
    IF cardinality(wanting) = 0 OR on_day < (now() AT TIME ZONE 'UTC')::date - days THEN
        RETURN 0;
    END IF;
    PERFORM message_day(on_day);
    INSERT INTO message (day, id, account_id, type, at, body) VALUES (on_day, id, account, type, at, body) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    WITH made AS (
        INSERT INTO message_delivery AS d (day, account_id, endpoint_id, message_id, type)
        SELECT on_day, account, e, message_store.id, message_store.type FROM unnest(wanting) AS e
        RETURNING d.id, d.endpoint_id
    )
    INSERT INTO delivery_queue (delivery_id, endpoint_id, day, message_id)
    SELECT made.id, made.endpoint_id, on_day, message_store.id FROM made;
    UPDATE endpoint_lane l SET due_at = greatest(now(), e.not_before)
    FROM endpoint e WHERE l.endpoint_id = ANY (wanting) AND NOT l.is_retry AND l.due_at IS NULL
                      AND e.id = l.endpoint_id AND e.status = 'active';
    IF hashtext(message_store.id::text) & 63 = 0 THEN -- counting takes longest for an endpoint that takes nothing
        PERFORM endpoint_drop_oldest(e, most) FROM endpoint e WHERE e.id = ANY (wanting);
    END IF;
    RETURN cardinality(wanting);
END $$;

-- Take in a message for the endpoints that want it (message_store()). Plans are kept: a new one for each statement on the partitions
-- would take longer than the statement.
CREATE OR REPLACE FUNCTION message_take(account uuid, id uuid, type text, at timestamptz, body text, repo text, interest uuid,
                                        days int, most int) RETURNS int LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN message_store(account, id, type, at, body, ARRAY(
        SELECT e.id FROM endpoint e
        WHERE e.account_id = account AND e.status IN ('active', 'paused')
          AND endpoint_wants(e, message_take.type, message_take.repo, interest)
        ORDER BY e.id FOR NO KEY UPDATE), days, most);
END $$;

-- Take in a digest, for the endpoint whose digest it is. The next one goes on with the papers from its time on.
CREATE OR REPLACE FUNCTION digest_take(account uuid, id uuid, type text, at timestamptz, body text, endpoint uuid, days int, most int)
RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    UPDATE endpoint_digest d SET told_until = greatest(d.told_until, at)
    FROM endpoint e WHERE e.id = digest_take.endpoint AND e.account_id = account AND d.endpoint_id = e.id;
    RETURN message_store(account, id, type, at, body, ARRAY(
        SELECT e.id FROM endpoint e
        WHERE e.id = digest_take.endpoint AND e.account_id = account AND e.status IN ('active', 'paused') FOR NO KEY UPDATE), days, most);
END $$;

-- Everything of an account: its endpoints first, so that no message is taken in any more.
CREATE OR REPLACE FUNCTION messages_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM endpoint WHERE account_id = account;
    DELETE FROM email_confirmation WHERE account_id = account;
    DELETE FROM email_day WHERE account_id = account;
    DELETE FROM message_attempt a USING message_delivery d
    WHERE d.account_id = account AND a.day = d.day AND a.delivery_id = d.id;
    DELETE FROM message_delivery WHERE account_id = account;
    DELETE FROM message WHERE account_id = account;
END $$;

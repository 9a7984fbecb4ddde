-- Lanes: one process at a time makes the attempts of a lane, one after the other. Whoever changes a lane, the queue or the state of an
-- endpoint locks the endpoint first; only a claim locks the lane alone, and waits for nobody.

-- Claim up to `most` lanes of a queue that are due, for `lease_s` seconds, so that no account has more than `each` slots. `holding`: the
-- accounts of the slots that are in use, one for each. An account has 40 lanes, so of the first 1,000 that are due enough have a slot.
CREATE OR REPLACE FUNCTION lane_take(queue text, most int, each int, holding uuid[], lease_s int)
RETURNS TABLE (endpoint_id uuid, is_retry boolean, claim bigint, account_id uuid) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    WITH held AS (
        SELECT h AS account_id, count(*) AS slots FROM unnest(holding) h GROUP BY 1
    ), due AS (
        SELECT l.endpoint_id, l.is_retry, l.due_at, e.account_id, coalesce(h.slots, 0) AS slots
        FROM endpoint_lane l JOIN endpoint e ON e.id = l.endpoint_id LEFT JOIN held h ON h.account_id = e.account_id
        WHERE l.queue = lane_take.queue AND l.due_at <= now() AND coalesce(h.slots, 0) < each
        ORDER BY l.due_at LIMIT 1000
    ), numbered AS (
        SELECT d.*, d.slots + row_number() OVER (PARTITION BY d.account_id ORDER BY d.due_at) AS slot FROM due d
    ), free AS (
        SELECT l.endpoint_id, l.is_retry, n.account_id
        FROM numbered n JOIN endpoint_lane l ON l.endpoint_id = n.endpoint_id AND l.is_retry = n.is_retry
        WHERE n.slot <= each AND l.due_at <= now() ORDER BY n.due_at LIMIT most FOR UPDATE OF l SKIP LOCKED
    )
    UPDATE endpoint_lane l SET is_claimed = true, claim = l.claim + 1, due_at = now() + make_interval(secs => lease_s)
    FROM free f WHERE l.endpoint_id = f.endpoint_id AND l.is_retry = f.is_retry
    RETURNING l.endpoint_id, l.is_retry, l.claim, f.account_id;
END $$;

-- Lock the endpoint of a claimed lane; null: the claim has ended, or the endpoint is gone.
CREATE OR REPLACE FUNCTION lane_hold(endpoint uuid, retry boolean, claimed bigint) RETURNS endpoint LANGUAGE plpgsql AS $$
DECLARE
    e endpoint;
BEGIN
    SELECT * INTO e FROM endpoint k WHERE k.id = endpoint FOR NO KEY UPDATE;
    PERFORM FROM endpoint_lane l WHERE l.endpoint_id = endpoint AND l.is_retry = retry AND l.claim = claimed AND l.is_claimed
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    RETURN e;
END $$;

-- When the next attempt of a lane may begin; null: nothing waits, or nothing is sent.
CREATE OR REPLACE FUNCTION lane_due(e endpoint, retry boolean) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
    due timestamptz;
BEGIN
    IF e.status <> 'active' THEN
        RETURN NULL;
    ELSIF retry THEN
        due := (SELECT min(q.retry_at) FROM delivery_queue q WHERE q.endpoint_id = e.id AND q.retry_at IS NOT NULL);
    ELSIF EXISTS (SELECT FROM delivery_queue q WHERE q.endpoint_id = e.id AND q.retry_at IS NULL) THEN
        due := now();
    END IF;
    RETURN CASE WHEN due IS NOT NULL THEN greatest(due, e.not_before) END;
END $$;

-- The delivery that a lane makes next: of those that failed the one that is due first, else the oldest.
CREATE OR REPLACE FUNCTION lane_front(e endpoint, retry boolean) RETURNS delivery_queue LANGUAGE plpgsql AS $$
DECLARE
    front delivery_queue;
BEGIN
    IF retry THEN
        SELECT * INTO front FROM delivery_queue q WHERE q.endpoint_id = e.id AND q.retry_at IS NOT NULL
        ORDER BY q.retry_at, q.delivery_id LIMIT 1;
    ELSE
        SELECT * INTO front FROM delivery_queue q WHERE q.endpoint_id = e.id AND q.retry_at IS NULL
        ORDER BY q.delivery_id LIMIT 1;
    END IF;
    RETURN front;
END $$;

-- How long after the beginning of an attempt no other one of the endpoint begins. One that fails is tried by one attempt at a time, for
-- as long as the claim lasts; Slack takes one message a second for an address, and a mailbox gets no more; one that catches up gets ten.
CREATE OR REPLACE FUNCTION endpoint_pace(e endpoint, delivery uuid, lease_s int) RETURNS interval LANGUAGE sql IMMUTABLE
RETURN CASE WHEN e.consecutive_failures >= 5 THEN make_interval(secs => lease_s)
            WHEN e.kind IN ('slack', 'email') THEN interval '1 second'
            WHEN delivery <= e.catch_up_to THEN interval '100 milliseconds' END;

-- What an attempt is made with, told from what it was before by whoever notes how the attempt ended: its address and its secret.
CREATE OR REPLACE FUNCTION endpoint_target(address text, secret bytea) RETURNS text LANGUAGE sql IMMUTABLE
RETURN encode(sha256(convert_to(coalesce(address, ''), 'UTF8') || coalesce(secret, '')), 'hex');

-- Begin the next attempt of a lane whose endpoint is locked, and keep the claim. Null: none may begin now, or the process stops
-- (`is_over`); then the claim ends. An account that has had its mails of the day waits for the next.
CREATE OR REPLACE FUNCTION lane_begin(e endpoint, retry boolean, lease_s int, is_over boolean) RETURNS delivery_queue
LANGUAGE plpgsql AS $$
DECLARE
    lease interval := make_interval(secs => lease_s);
    due   timestamptz := lane_due(e, retry);
    front delivery_queue;
    pace  interval;
BEGIN
    IF e.kind = 'email' AND NOT is_over AND due <= clock_timestamp() AND NOT email_take(e.account_id) THEN
        due := email_next_day();
        UPDATE endpoint k SET not_before = due WHERE k.id = e.id;
    END IF;
    IF is_over OR due IS NULL OR due > clock_timestamp() THEN
        UPDATE endpoint_lane l SET is_claimed = false, due_at = due, is_quick = e.is_quick
        WHERE l.endpoint_id = e.id AND l.is_retry = retry;
        RETURN NULL;
    END IF;
    front := lane_front(e, retry);
    pace := endpoint_pace(e, front.delivery_id, lease_s);
    IF pace IS NOT NULL THEN
        UPDATE endpoint k SET not_before = clock_timestamp() + pace WHERE k.id = e.id;
    END IF;
    UPDATE endpoint_lane l SET due_at = now() + lease
    WHERE l.endpoint_id = e.id AND l.is_retry = retry AND l.due_at < now() + lease / 2;
    RETURN front;
END $$;

-- Stop sending to an endpoint, and notify the account: by a message to its other endpoints, and by an item of its inbox.
CREATE OR REPLACE FUNCTION endpoint_disable(e endpoint, reason text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE endpoint k SET status = 'disabled', disabled_reason = reason, updated_at = now() WHERE k.id = e.id;
    PERFORM message_emit('events.code_host', 'endpoint.disabled', e.account_id, jsonb_build_object(
        'endpoint_id', e.id, 'name', e.name, 'reason', reason, 'url', '/console/settings/endpoints/' || e.id));
    PERFORM endpoint_announce(e, reason);
END $$;

-- How long nothing is tried after so many failures in a row: from the fifth on a minute, doubled up to an hour.
CREATE OR REPLACE FUNCTION failure_pause(failures int) RETURNS interval LANGUAGE sql IMMUTABLE
RETURN make_interval(mins => least(60, 2 ^ least(failures - 5, 6))::int);

-- Note at the endpoint, which is locked, how an attempt ended; the endpoint as it is then. While it works its row is written once a
-- second. One that let an attempt wait is no quick one for ten minutes: else whoever answers at once and hangs by turns would have the
-- slots of those that answer.
CREATE OR REPLACE FUNCTION endpoint_note(e endpoint, is_delivered boolean, was_quick boolean) RETURNS endpoint LANGUAGE plpgsql AS $$
BEGIN
    IF is_delivered AND was_quick AND e.is_quick AND e.failing_since IS NULL AND e.last_success_at > now() - interval '1 second' THEN
        RETURN e;
    END IF;
    IF NOT was_quick THEN
        e.slow_at := now();
    END IF;
    e.is_quick := is_delivered AND was_quick AND coalesce(e.slow_at <= now() - interval '10 minutes', true);
    IF is_delivered THEN
        IF e.consecutive_failures >= 5 THEN
            e.not_before := clock_timestamp();
            e.catch_up_to := endpoint_newest_waiting(e.id);
        END IF;
        e.consecutive_failures := 0;
        e.failing_since := NULL;
        e.last_success_at := now();
    ELSE
        e.consecutive_failures := e.consecutive_failures + 1;
        e.failing_since := coalesce(e.failing_since, now());
        IF e.consecutive_failures >= 5 THEN
            e.not_before := greatest(e.not_before, clock_timestamp() + failure_pause(e.consecutive_failures));
        END IF;
    END IF;
    UPDATE endpoint k SET not_before = e.not_before, catch_up_to = e.catch_up_to, consecutive_failures = e.consecutive_failures,
        failing_since = e.failing_since, last_success_at = e.last_success_at, is_quick = e.is_quick,
        slow_at = e.slow_at
    WHERE k.id = e.id;
    RETURN e;
END $$;

-- Whether an endpoint has failed for so long that nothing more is sent: no success for five days, and twelve hours between the first
-- and the last of eight failures or more. What fails of a mail is the mail server's, unless it refuses the address (endpoint_refuse()).
CREATE OR REPLACE FUNCTION endpoint_is_dead(e endpoint) RETURNS boolean LANGUAGE sql STABLE
RETURN e.kind <> 'email' AND e.consecutive_failures >= 8 AND e.failing_since <= now() - interval '12 hours'
   AND coalesce(e.last_success_at, e.created_at) <= now() - interval '5 days';

-- Note whether the mail server has refused the address of an endpoint, which is locked. On the third day nothing more is sent. The endpoint
-- as it is then.
CREATE OR REPLACE FUNCTION endpoint_refuse(e endpoint, is_delivered boolean, is_refused boolean) RETURNS endpoint LANGUAGE plpgsql AS $$
DECLARE
    today date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
    IF is_delivered AND e.refused_days > 0 THEN
        UPDATE endpoint k SET refused_days = NULL WHERE k.id = e.id RETURNING * INTO e;
    ELSIF is_refused AND e.refused_on IS DISTINCT FROM today THEN
        UPDATE endpoint k SET refused_days = coalesce(k.refused_days, 0) + 1, refused_on = today WHERE k.id = e.id RETURNING * INTO e;
        IF e.refused_days >= 3 AND e.status = 'active' THEN
            PERFORM endpoint_disable(e, 'the mail server has refused the address on three days');
            SELECT * INTO e FROM endpoint k WHERE k.id = e.id;
        END IF;
    END IF;
    RETURN e;
END $$;

-- Note how an attempt of a lane, whose endpoint is locked, ended. JSON: {"day", "delivery_id", "tries", "at", "status", "duration_ms",
-- "error", "response", "is_delivered", "retry_ms", "is_quick", "disable", "pause_ms", "is_refused", "target"}; a null `retry_ms`: the
-- delivery is over; `disable`: why nothing more is sent; `pause_ms`: for how long nothing is; `is_refused`: the address of a mail. One
-- that began with another number of `tries` than waits now, since the delivery is sent again or over meanwhile, ends it only by success.
-- One with another `target` than the endpoint has now says nothing of the endpoint, and what it did not deliver is tried again at once;
-- a null one is of a process of an earlier version. Returns the endpoint as it is then.
CREATE OR REPLACE FUNCTION attempt_note(e endpoint, retry boolean, ended jsonb) RETURNS endpoint LANGUAGE plpgsql AS $$
DECLARE
    a record;
    again_at timestamptz;
    is_its_turn boolean;
    is_former boolean;
    number int;
BEGIN
    SELECT * INTO a FROM jsonb_to_record(ended) AS r (
        day date, delivery_id uuid, tries int, at timestamptz, status int, duration_ms int, error text, response text,
        is_delivered boolean, retry_ms bigint, is_quick boolean, disable text, pause_ms bigint, is_refused boolean, target text);
    is_former := a.target <> endpoint_target(coalesce(e.url, e.email), e.secret) IS TRUE;
    again_at := clock_timestamp() + CASE WHEN is_former THEN interval '0' ELSE make_interval(secs => a.retry_ms / 1000.0) END;
    is_its_turn := EXISTS (SELECT FROM delivery_queue q WHERE q.delivery_id = a.delivery_id AND q.tries = coalesce(a.tries, q.tries));
    UPDATE message_delivery d SET attempts = d.attempts + 1, last_status = a.status, last_error = a.error,
        delivered_at = CASE WHEN a.is_delivered THEN now() ELSE d.delivered_at END,
        status = CASE WHEN a.is_delivered THEN 'delivered' WHEN again_at IS NULL AND is_its_turn THEN 'failed' ELSE d.status END
    WHERE d.day = a.day AND d.id = a.delivery_id RETURNING attempts INTO number;
    INSERT INTO message_attempt (day, delivery_id, attempt, at, status, duration_ms, error, response)
    SELECT a.day, a.delivery_id, number, a.at, a.status, a.duration_ms, a.error, a.response WHERE number IS NOT NULL;
    IF a.is_delivered OR again_at IS NULL AND is_its_turn THEN
        DELETE FROM delivery_queue q WHERE q.delivery_id = a.delivery_id;
    ELSIF is_its_turn THEN
        UPDATE delivery_queue q SET tries = q.tries + (NOT is_former)::int, retry_at = again_at WHERE q.delivery_id = a.delivery_id;
        UPDATE endpoint_lane l SET due_at = least(l.due_at, greatest(again_at, e.not_before))
        WHERE l.endpoint_id = e.id AND l.is_retry AND NOT l.is_claimed;
    END IF;
    IF is_former THEN
        RETURN e;
    END IF;
    e.not_before := greatest(e.not_before, clock_timestamp() + make_interval(secs => nullif(a.pause_ms, 0) / 1000.0));
    e := endpoint_note(e, a.is_delivered, a.is_quick);
    IF e.status = 'active' AND (a.disable IS NOT NULL OR NOT a.is_delivered AND endpoint_is_dead(e)) THEN
        PERFORM endpoint_disable(e, coalesce(a.disable, 'no delivery has succeeded for five days'));
        SELECT * INTO e FROM endpoint k WHERE k.id = e.id;
    END IF;
    RETURN CASE WHEN e.kind = 'email' THEN endpoint_refuse(e, a.is_delivered, a.is_refused) ELSE e END;
END $$;

-- Note how the last attempt of a claimed lane ended, if one did (`ended` is not null), and begin the next. No row: none is to be made,
-- and the claim has ended. Plans are kept: a new one for each statement on the partitions would take longer than the statement.
CREATE OR REPLACE FUNCTION lane_step(endpoint uuid, retry boolean, claimed bigint, ended jsonb, lease_s int, is_over boolean)
RETURNS TABLE (delivery_id uuid, day date, message_id uuid, tries int, body text, account_id uuid, kind text, url text, secret bytea,
               old_secret bytea) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    e endpoint := lane_hold(endpoint, retry, claimed);
    front delivery_queue;
BEGIN
    IF e.id IS NULL THEN
        RETURN;
    END IF;
    IF ended IS NOT NULL THEN
        e := attempt_note(e, retry, ended);
    END IF;
    LOOP
        front := lane_begin(e, retry, lease_s, is_over);
        RETURN QUERY
        SELECT front.delivery_id, front.day, m.id, front.tries, m.body, e.account_id, e.kind, coalesce(e.url, e.email), e.secret,
               CASE WHEN e.old_secret_expires_at > now() THEN e.old_secret END
        FROM message m WHERE m.day = front.day AND m.id = front.message_id;
        IF FOUND OR front.delivery_id IS NULL THEN
            RETURN;
        END IF;
        DELETE FROM delivery_queue q WHERE q.delivery_id = front.delivery_id; -- it was sent again while its day was dropped
    END LOOP;
END $$;

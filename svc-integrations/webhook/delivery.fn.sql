-- The ledger of the code host's deliveries.

CREATE OR REPLACE FUNCTION webhook_today() RETURNS date LANGUAGE sql STABLE PARALLEL SAFE
RETURN (now() AT TIME ZONE 'UTC')::date;

-- Add the day to the ledger.
CREATE OR REPLACE FUNCTION webhook_day(day date) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM partition_add_date(ARRAY['delivery'], 'day', day);
END $$;

-- Add a week of days ahead; drop the days before the last `days`, with their facts. Returns how many were dropped.
CREATE OR REPLACE FUNCTION webhook_days_keep(days int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    first_kept date := webhook_today() - days;
BEGIN
    DELETE FROM delivery_seen WHERE received_on < first_kept;
    DELETE FROM fact WHERE told_on < first_kept;
    RETURN partitions_keep(ARRAY['delivery'], 'day', 7, first_kept);
END $$;

-- Send the facts to the other services: those that are new, or all with `is_again`. `events` is [{"id", "lane", "data"}].
-- Returns how many were sent.
CREATE OR REPLACE FUNCTION webhook_events_send(delivery text, events jsonb, is_again boolean) RETURNS bigint LANGUAGE sql VOLATILE
BEGIN ATOMIC
    WITH told AS (
        SELECT e.id, e.lane, e.data FROM jsonb_to_recordset($2) AS e (id uuid, lane text, data jsonb)
    ), made AS (
        INSERT INTO fact (id, delivery_id, told_on) SELECT t.id, $1, webhook_today() FROM told t ORDER BY t.id
        ON CONFLICT (id) DO NOTHING RETURNING id
    )
    SELECT count(event_send(t.id, 'events.code_host', t.data->>'event', t.lane, NULL, t.data))
    FROM (SELECT * FROM told ORDER BY id) t WHERE $3 OR t.id IN (SELECT id FROM made);
END;

-- Forget what is remembered of an installation, of repositories, and of repositories without the app: any installation may have
-- changed that. Returns how many rows of installations there were.
CREATE OR REPLACE FUNCTION webhook_installations_forget(installation bigint, repos jsonb) RETURNS bigint
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    WITH gone AS (
        DELETE FROM installation i
        WHERE i.installation_id = $1 OR i.repo IN (SELECT lower(r) FROM jsonb_array_elements_text($2) AS r)
        RETURNING i.repo
    ), absent AS (
        DELETE FROM installation_absence a
        WHERE $1 IS NOT NULL OR a.repo IN (SELECT lower(r) FROM jsonb_array_elements_text($2) AS r)
    )
    SELECT count(*) FROM gone;
END;

-- Take a delivery in. One that is known is only counted. `ignored`: why it says nothing; `repositories`: what it says of names, as
-- repository_record() takes it, which is sent before its events. The status and the reason of the row, and whether it is new.
CREATE OR REPLACE FUNCTION delivery_take(
    delivery text, secret int, event text, action text, repo text, installation bigint, body bytea, ignored text,
    events jsonb, is_installation_changed boolean, changed_repos jsonb, repositories jsonb, web_url text,
    OUT status text, OUT reason text, OUT is_new boolean
) LANGUAGE plpgsql AS $$
DECLARE
    ids   uuid[] := ARRAY(SELECT (e->>'id')::uuid FROM jsonb_array_elements(events) AS e);
    today date := webhook_today();
    day   date;
    sent  bigint;
BEGIN
    INSERT INTO delivery_seen AS seen (id, received_on) VALUES (delivery, today)
    ON CONFLICT (id) DO UPDATE SET times = seen.times + 1
    RETURNING seen.received_on, seen.times = 1 INTO day, is_new;
    IF NOT is_new THEN
        SELECT d.status, d.reason FROM delivery d WHERE d.received_on = day AND d.id = delivery INTO status, reason;
        RETURN;
    END IF;
    PERFORM webhook_day(today);
    PERFORM repository_record(r, installation, delivery, web_url) FROM jsonb_array_elements(repositories) AS r;
    sent := webhook_events_send(delivery, events, false);
    PERFORM webhook_installations_forget(CASE WHEN is_installation_changed THEN installation END, changed_repos);
    reason := coalesce(ignored, CASE WHEN sent = 0 THEN 'says what delivery '
        || coalesce((SELECT f.delivery_id FROM fact f WHERE f.id = ids[1]), 'before') || ' has said' END);
    status := CASE WHEN reason IS NULL THEN 'applied' ELSE 'ignored' END;
    INSERT INTO delivery (received_on, id, secret, event, action, repo, installation_id, status, reason, events, body)
    VALUES (today, delivery, secret, event, action, repo, installation, status, reason, ids, body);
END $$;

-- Apply a delivery of the ledger once more, as its body is read now. No row: it is not there. Returns how many events were sent.
CREATE OR REPLACE FUNCTION delivery_replay(
    delivery text, action text, repo text, installation bigint, ignored text, events jsonb, is_installation_changed boolean,
    changed_repos jsonb, repositories jsonb, web_url text
) RETURNS TABLE (sent bigint) LANGUAGE plpgsql AS $$
DECLARE
    received timestamptz;
BEGIN
    UPDATE delivery d SET replayed_at = now(), action = $2, repo = $3, installation_id = $4, reason = $5,
        status = CASE WHEN $5 IS NULL THEN 'applied' ELSE 'ignored' END,
        events = ARRAY(SELECT (e->>'id')::uuid FROM jsonb_array_elements($6) AS e)
    FROM delivery_seen s WHERE s.id = $1 AND d.received_on = s.received_on AND d.id = s.id
    RETURNING d.received_at INTO received;
    IF FOUND THEN
        PERFORM repository_record(jsonb_build_object('at', time_json(received)) || jsonb_strip_nulls(r), $4, $1, $10)
        FROM jsonb_array_elements($9) AS r;
        PERFORM webhook_installations_forget(CASE WHEN $7 THEN $4 END, $8);
        RETURN QUERY SELECT webhook_events_send($1, $6, true);
    END IF;
END $$;

-- A row of the ledger as `deliveries` prints it.
CREATE OR REPLACE FUNCTION delivery_json(d delivery) RETURNS jsonb LANGUAGE sql STABLE
RETURN jsonb_build_object(
    'delivery_id', d.id,
    'received_at', time_json(d.received_at),
    'times_received', (SELECT s.times FROM delivery_seen s WHERE s.id = d.id),
    'verified_by_secret', d.secret,
    'event', d.event,
    'action', d.action,
    'repo', d.repo,
    'installation_id', d.installation_id,
    'status', d.status,
    'reason', d.reason,
    'replayed_at', time_json(d.replayed_at)
);

-- The ledger of the code host's deliveries: one row for each, by the day (UTC) on which it was first received.
--
--   secret        which of CODE_HOST_WEBHOOK_SECRETS signed it, from 1: shows that a former one is still in use
--   action        NULL, as repo and installation: it has none, or it was not read
--   status        `applied`: it made events, or changed what is remembered of installations; `ignored`: it did not
--   reason        why it was ignored
--   events        ids of the events that it says, also of those that another delivery has made before
--   replayed_at   when an operator has last applied it again
--   body          JSON, as it was sent
--
-- Days are added ahead (webhook_days_keep()), and by an insert that finds none (webhook_day()).
CREATE TABLE delivery (
    received_on     date NOT NULL,
    id              text NOT NULL CHECK (octet_length(id) BETWEEN 1 AND 100),
    received_at     timestamptz NOT NULL DEFAULT now(),
    secret          smallint NOT NULL,
    event           text NOT NULL,
    action          text,
    repo            text,
    installation_id bigint,
    status          text NOT NULL CHECK (status IN ('applied', 'ignored')),
    reason          text CHECK ((reason IS NOT NULL) = (status = 'ignored')),
    events          uuid[] NOT NULL,
    replayed_at     timestamptz,
    body            bytea NOT NULL,
    PRIMARY KEY (received_on, id)
) PARTITION BY RANGE (received_on);

CREATE INDEX delivery_received_at ON delivery (received_at DESC);

-- The deliveries of the ledger, and how often each was received: a key cannot span days.
CREATE TABLE delivery_seen (
    id          text PRIMARY KEY CHECK (octet_length(id) BETWEEN 1 AND 100),
    received_on date NOT NULL,
    times       int NOT NULL DEFAULT 1
);

CREATE INDEX delivery_seen_on ON delivery_seen (received_on);

-- The facts that were told, by the id of their event, and the delivery that told each first.
CREATE TABLE fact (
    id          uuid PRIMARY KEY,
    delivery_id text NOT NULL,
    told_on     date NOT NULL
);

CREATE INDEX fact_told_on ON fact (told_on);

-- Deliveries that the code host could not make, and that it is asked to make again.
--
--   attempt_id    the code host's number of the failed attempt
--   delivered_at  when it was made
--   asked         how often the code host was asked
--   ask_at        not before
CREATE TABLE redelivery (
    delivery_id  text PRIMARY KEY CHECK (octet_length(delivery_id) BETWEEN 1 AND 100),
    attempt_id   bigint NOT NULL,
    delivered_at timestamptz NOT NULL,
    asked        int NOT NULL DEFAULT 0,
    ask_at       timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX redelivery_ask_at ON redelivery (ask_at);

-- How far the code host's list of deliveries has been read. One row.
--
--   due_at      when the list is read next. Who moves it has the time until then for itself
--   read_until  what was delivered before has been read
--   cursor      where reading goes on, when it was interrupted; NULL: at the newest
--   began_at    the newest when the interrupted reading began
CREATE TABLE redelivery_state (
    is_only    boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    due_at     timestamptz NOT NULL DEFAULT 'epoch',
    read_until timestamptz NOT NULL DEFAULT 'epoch',
    cursor     text,
    began_at   timestamptz
);

INSERT INTO redelivery_state DEFAULT VALUES;

CREATE FUNCTION webhook_today() RETURNS date LANGUAGE sql STABLE PARALLEL SAFE
RETURN (now() AT TIME ZONE 'UTC')::date;

-- Add the day to the ledger. Attaching a table does not wait for inserts into others, as creating a partition would.
CREATE FUNCTION webhook_day(day date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name text := 'delivery_' || to_char(day, 'YYYYMMDD');
BEGIN
    IF to_regclass(name) IS NOT NULL THEN
        RETURN;
    END IF;
    LOCK TABLE delivery IN SHARE UPDATE EXCLUSIVE MODE; -- one at a time
    IF to_regclass(name) IS NULL THEN
        EXECUTE format('CREATE TABLE %I (LIKE delivery INCLUDING ALL)', name);
        EXECUTE format('ALTER TABLE delivery ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, day, day + 1);
    END IF;
END $$;

-- Add a week of days ahead; drop the days before the last `days`, with their facts. Does not wait longer than a second for
-- the table, for which all inserts would wait.
CREATE FUNCTION webhook_days_keep(days int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    first   date := webhook_today() - days;
    dropped int := 0;
    name    text;
BEGIN
    PERFORM webhook_day(day::date) FROM generate_series(webhook_today(), webhook_today() + 7, interval '1 day') AS day;
    DELETE FROM delivery_seen WHERE received_on < first;
    DELETE FROM fact WHERE told_on < first;
    PERFORM set_config('lock_timeout', '1s', true);
    FOR name IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'delivery'::regclass AND c.relname < 'delivery_' || to_char(first, 'YYYYMMDD')
    LOOP
        EXECUTE format('DROP TABLE IF EXISTS %I', name);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;

-- Tell the facts to the other services: those that are new, or all with `is_again`. `events` is [{"id", "lane", "data"}].
-- How many were sent.
CREATE FUNCTION webhook_events_send(delivery text, events jsonb, is_again boolean) RETURNS bigint LANGUAGE sql VOLATILE
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

-- Forget what is remembered of an installation (NULL: of none) and of repositories, a JSON array of names. How many rows.
CREATE FUNCTION webhook_installations_forget(installation bigint, repos jsonb) RETURNS bigint LANGUAGE sql VOLATILE
BEGIN ATOMIC
    WITH gone AS (
        DELETE FROM installation i
        WHERE i.installation_id = $1 OR i.repo IN (SELECT lower(r) FROM jsonb_array_elements_text($2) AS r)
        RETURNING i.repo
    )
    SELECT count(*) FROM gone;
END;

-- Take a delivery in. One that is known is only counted. `ignored`: why it says nothing. The status and the reason of the
-- row, and whether it is new.
CREATE FUNCTION delivery_take(
    delivery text, secret int, event text, action text, repo text, installation bigint, body bytea, ignored text,
    events jsonb, is_installation_changed boolean, changed_repos jsonb,
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
    sent := webhook_events_send(delivery, events, false);
    PERFORM webhook_installations_forget(CASE WHEN is_installation_changed THEN installation END, changed_repos);
    reason := coalesce(ignored, CASE WHEN sent = 0 THEN 'says what delivery '
        || coalesce((SELECT f.delivery_id FROM fact f WHERE f.id = ids[1]), 'before') || ' has said' END);
    status := CASE WHEN reason IS NULL THEN 'applied' ELSE 'ignored' END;
    INSERT INTO delivery (received_on, id, secret, event, action, repo, installation_id, status, reason, events, body)
    VALUES (today, delivery, secret, event, action, repo, installation, status, reason, ids, body);
END $$;

-- Apply a delivery of the ledger once more, as its body is read now. No row: it is not there. How many events were sent.
CREATE FUNCTION delivery_replay(
    delivery text, action text, repo text, installation bigint, ignored text, events jsonb, is_installation_changed boolean,
    changed_repos jsonb
) RETURNS TABLE (sent bigint) LANGUAGE plpgsql AS $$
BEGIN
    UPDATE delivery d SET replayed_at = now(), action = $2, repo = $3, installation_id = $4, reason = $5,
        status = CASE WHEN $5 IS NULL THEN 'applied' ELSE 'ignored' END,
        events = ARRAY(SELECT (e->>'id')::uuid FROM jsonb_array_elements($6) AS e)
    FROM delivery_seen s WHERE s.id = $1 AND d.received_on = s.received_on AND d.id = s.id;
    IF FOUND THEN
        PERFORM webhook_installations_forget(CASE WHEN $7 THEN $4 END, $8);
        RETURN QUERY SELECT webhook_events_send($1, $6, true);
    END IF;
END $$;

-- Rows of the ledger as `deliveries` prints them.
CREATE FUNCTION delivery_json(d delivery) RETURNS jsonb LANGUAGE sql STABLE
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

-- Writing events: rows of the outbox, which the relay sends (task/outbox.h).

-- Tell the client of what its transaction has written, which tells the other processes after the commit (task/wake.h), with this SQLSTATE. A
-- notice, as NOTIFY takes a lock at commit that the whole server has once, and keeps it until the commit is on disk, so that all commits would
-- wait for each other. Once in a transaction: Postgres sends each notice by itself, and wakes the client for it.
CREATE OR REPLACE FUNCTION client_notify(code text, message text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('expops.notified_' || code, true) IS DISTINCT FROM 'on' THEN
        PERFORM set_config('expops.notified_' || code, 'on', true);
        RAISE NOTICE '%', message USING ERRCODE = code;
    END IF;
END $$;

-- Where nobody waits for the rows, the transaction has the setting expops.is_unhurried: they go with the next that are notified of, or
-- when the relay looks by itself, many at once. Each pass of the relay and of the readers costs the same for one row and for a hundred.
CREATE OR REPLACE FUNCTION outbox_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('expops.is_unhurried', true) IS DISTINCT FROM 'on' THEN
        PERFORM client_notify('XO001', 'the outbox has new rows');
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER outbox_notify AFTER INSERT ON outbox FOR EACH STATEMENT EXECUTE FUNCTION outbox_notify();

-- Note an event; its id. In PL/pgSQL, which keeps the plan: that of an SQL function with its own INSERT is made anew in each
-- statement.
CREATE OR REPLACE FUNCTION event_emit(stream text, type text, account uuid, data jsonb, request_id text DEFAULT NULL)
RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    id uuid;
BEGIN
    INSERT INTO outbox (stream, type, account_id, data, request_id)
    VALUES ($1, $2, $3, $4, coalesce($5, request_id_now())) RETURNING event_id INTO id;
    RETURN id;
END $$;

-- Note what the account is notified of outside, by what it has set up for that (svc-integrations/notify/message.h): the type and the data of a
-- message, as the webhooks of the API's description have them, in an event of the type `message`.
-- Returns its id, which is the message's.
CREATE OR REPLACE FUNCTION message_emit(stream text, type text, account uuid, data jsonb, request_id text DEFAULT NULL)
RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN event_emit(stream, 'message', account, jsonb_build_object('type', type, 'data', data), request_id);
END $$;

-- The same of several messages, in their order: an element of each array is one.
CREATE OR REPLACE FUNCTION messages_emit(stream text, types text[], accounts uuid[], data jsonb[]) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO outbox (stream, type, account_id, data, request_id)
    SELECT messages_emit.stream, 'message', m.account, jsonb_build_object('type', m.type, 'data', m.data), request_id_now()
    FROM unnest(types, accounts, messages_emit.data) WITH ORDINALITY AS m (type, account, data, place) ORDER BY m.place;
END $$;

-- Note an event under an id that its writer has chosen, so that saying the same twice is one event for every reader. If the
-- outbox still has it, it is sent once more. Returns its id.
CREATE OR REPLACE FUNCTION event_send(id uuid, stream text, type text, lane text, account uuid, data jsonb) RETURNS uuid
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO outbox (event_id, stream, type, lane, account_id, data, request_id)
    VALUES ($1, $2, $3, $4, $5, $6, request_id_now())
    ON CONFLICT (event_id) DO UPDATE SET sent_at = NULL, sent_batch = NULL;
    RETURN id;
END $$;

-- Note a message under an id that says what happened, such as md5('merged ' || url)::uuid: whoever reads it twice sends it once.
CREATE OR REPLACE FUNCTION message_send(id uuid, stream text, type text, account uuid, data jsonb) RETURNS uuid
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN event_send(id, stream, 'message', NULL, account, jsonb_build_object('type', type, 'data', data));
END $$;

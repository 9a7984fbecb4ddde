-- What goes to Redis Streams, written in the transaction that changes state.
--
--   id          ascending; the order of sending is the order of id among what is committed
--   event_id    the event's id: the same however often it is sent
--   stream      `events.experiments`; or `jobs`, which the relay sends to `jobs.<service>`
--   type        type of an event, `experiment.updated`; kind of a job's task
--   account_id  null: nobody's
--   data        an object; of a job {"task": "<id>"}
--   request_id  of the request that caused it; null: unknown
--   created_at  also the `at` of the event
--   sent_at     null: the relay has not sent it yet
--   sent_batch  number of the batch that it was sent with; Redis holds the newest one's beside the streams. Where Redis
--               knows of an older one than this table, it has lost what came behind
--
-- Rows are kept for some days after they were sent, so that they can be sent again when Redis has lost them.
-- Inserting notifies the channel `outbox_<schema>`.
CREATE TABLE outbox (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id   uuid NOT NULL DEFAULT uuid_v7() UNIQUE,
    stream     text NOT NULL CHECK (stream <> ''),
    type       text NOT NULL CHECK (type <> ''),
    account_id uuid,
    data       jsonb NOT NULL CHECK (jsonb_typeof(data) = 'object'),
    request_id text,
    created_at timestamptz NOT NULL DEFAULT now(),
    sent_at    timestamptz,
    sent_batch bigint
);

CREATE INDEX outbox_unsent ON outbox (id) WHERE sent_at IS NULL;
CREATE INDEX outbox_sent ON outbox (sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX outbox_sent_batch ON outbox (sent_batch) WHERE sent_batch IS NOT NULL;

CREATE SEQUENCE outbox_batch;

CREATE FUNCTION outbox_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('outbox_' || TG_TABLE_SCHEMA, '');
    RETURN NULL;
END $$;

CREATE TRIGGER outbox_notify AFTER INSERT ON outbox FOR EACH STATEMENT EXECUTE FUNCTION outbox_notify();

-- Note an event; its id.
CREATE FUNCTION event_emit(stream text, type text, account uuid, data jsonb, request_id text DEFAULT NULL)
RETURNS uuid LANGUAGE sql VOLATILE
BEGIN ATOMIC
    INSERT INTO outbox (stream, type, account_id, data, request_id)
    VALUES ($1, $2, $3, $4, coalesce($5, request_id_now()))
    RETURNING event_id;
END;

-- Events whose effect is in this schema already (event_is_new() in task.h).
CREATE TABLE event_seen (
    event_id uuid PRIMARY KEY,
    seen_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX event_seen_at ON event_seen (seen_at);

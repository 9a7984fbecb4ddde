-- How far this service has come with each event stream that it reads. It is kept beside the effects of the events, not in
-- Redis: when this database is restored to an earlier point, the events since are read again.
--
--   entry_id  the newest entry that was handled, parked or given up
CREATE TABLE event_position (
    stream   text PRIMARY KEY CHECK (octet_length(stream) <= 200),
    entry_id text NOT NULL CHECK (octet_length(entry_id) <= 41),
    at       timestamptz NOT NULL DEFAULT now()
);

-- Events that could not be handled yet, and later events of the same accounts. They are tried again apart from the stream,
-- an account's in the order of `id`.
--
--   account     UUID text; '': nobody's
--   failures    of the oldest of an account: how often it failed by itself; an unavailable part of the system does not count
--   next_try    not before
--   error       of the last try; null: it was never tried
CREATE TABLE event_parked (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stream     text NOT NULL CHECK (octet_length(stream) <= 200),
    entry_id   text NOT NULL CHECK (octet_length(entry_id) <= 41),
    account    text NOT NULL CHECK (octet_length(account) <= 36),
    event_id   text NOT NULL,
    type       text NOT NULL,
    at         text NOT NULL,
    data       text NOT NULL,
    request_id text NOT NULL,
    failures   int NOT NULL DEFAULT 0,
    next_try   timestamptz NOT NULL,
    error      text,
    parked_at  timestamptz NOT NULL DEFAULT now(),
    UNIQUE (stream, entry_id)
);

CREATE INDEX event_parked_order ON event_parked (stream, account, id);

-- Events of the streams that this service reads which were handled or parked. Without it they would all be handled
-- again when the writer sends them again, which after the loss of Redis' data it does with those of two days, before new ones.
--
--   event_hash  of the event's id: the first half of its SHA-256
CREATE TABLE event_settled (
    stream     text NOT NULL CHECK (octet_length(stream) <= 200),
    event_hash uuid NOT NULL,
    settled_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (stream, event_hash)
);

CREATE INDEX event_settled_at ON event_settled (settled_at);

-- What the relay and the consumers keep so that neither a lost Redis nor an entry that comes twice does harm.
--
-- outbox.sent_batch: number of the batch that the row was sent with; Redis holds the newest one's beside the streams.
-- Where Redis knows of an older one than this table, it has lost what came behind.
ALTER TABLE outbox ADD COLUMN sent_batch bigint;
CREATE SEQUENCE outbox_batch;
CREATE INDEX outbox_sent_batch ON outbox (sent_batch) WHERE sent_batch IS NOT NULL;

-- Events whose effect is in this schema already (event_is_new() in task.h).
CREATE TABLE event_seen (
	event_id uuid PRIMARY KEY,
	seen_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX event_seen_at ON event_seen (seen_at);

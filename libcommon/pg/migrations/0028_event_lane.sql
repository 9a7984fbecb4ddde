-- Events that concern no single account, such as what a repository's webhook tells, wait for each other by their own key.
--
--   lane  a reader handles the events of a lane in their order, and one that fails delays only those behind it in its lane;
--         null: the account is the lane
ALTER TABLE outbox ADD COLUMN lane text CHECK (octet_length(lane) BETWEEN 1 AND 300);

-- Note an event under an id that its writer has chosen, so that saying the same twice is one event for every reader. If the
-- outbox still has it, it is sent once more. Its id.
CREATE FUNCTION event_send(id uuid, stream text, type text, lane text, account uuid, data jsonb) RETURNS uuid
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    INSERT INTO outbox (event_id, stream, type, lane, account_id, data, request_id)
    VALUES ($1, $2, $3, $4, $5, $6, request_id_now())
    ON CONFLICT (event_id) DO UPDATE SET sent_at = NULL, sent_batch = NULL
    RETURNING event_id;
END;

-- The events of a lane are tried again in the order of `id`. '': those of neither lane nor account.
ALTER TABLE event_parked ADD COLUMN lane text CHECK (octet_length(lane) <= 300);
UPDATE event_parked SET lane = account;
ALTER TABLE event_parked ALTER COLUMN lane SET NOT NULL;

DROP INDEX event_parked_order;
CREATE INDEX event_parked_order ON event_parked (stream, lane, id);

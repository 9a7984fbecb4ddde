-- Deliveries as their owner sees them, and sending again.

-- The id of a message as receivers see it.
CREATE OR REPLACE FUNCTION message_public_id(id uuid) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 'msg_' || replace(id::text, '-', '');

-- A delivery as lists show it. `q`: its row of the queue, if it waits.
CREATE OR REPLACE FUNCTION message_delivery_json(d message_delivery, q delivery_queue, not_before timestamptz) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', d.id, 'message_id', message_public_id(d.message_id), 'type', d.type, 'status', d.status, 'attempts', d.attempts,
        'next_attempt_at', CASE WHEN q.delivery_id IS NOT NULL THEN
            time_json(greatest(coalesce(q.retry_at, d.created_at), nullif(not_before, '-infinity'))) END,
        'last_status', d.last_status, 'last_error', d.last_error, 'created_at', time_json(d.created_at),
        'delivered_at', time_json(d.delivered_at))
$$;

-- Send deliveries of an endpoint, whose row is locked, again: those that wait begin a new round, those that are over wait again. How
-- many.
CREATE OR REPLACE FUNCTION deliveries_requeue(e endpoint, ids uuid[]) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    UPDATE delivery_queue q SET tries = 0, retry_at = NULL WHERE q.delivery_id = ANY (ids);
    INSERT INTO delivery_queue (delivery_id, endpoint_id, day, message_id)
    SELECT d.id, d.endpoint_id, d.day, d.message_id FROM message_delivery d
    WHERE d.account_id = e.account_id AND d.endpoint_id = e.id AND d.id = ANY (ids)
    ON CONFLICT (delivery_id) DO NOTHING;
    UPDATE message_delivery d SET status = 'pending', delivered_at = NULL
    WHERE d.account_id = e.account_id AND d.endpoint_id = e.id AND d.id = ANY (ids);
    PERFORM endpoint_wake(e);
    RETURN cardinality(ids);
END $$;

-- Send a delivery again; it as it is then. Null: there is none.
CREATE OR REPLACE FUNCTION delivery_again(endpoint uuid, account uuid, delivery uuid) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    e endpoint;
BEGIN
    SELECT * INTO e FROM endpoint k WHERE k.id = endpoint AND k.account_id = account FOR NO KEY UPDATE;
    IF NOT EXISTS (SELECT FROM message_delivery d WHERE d.account_id = account AND d.endpoint_id = e.id AND d.id = delivery) THEN
        RETURN NULL;
    END IF;
    PERFORM deliveries_requeue(e, ARRAY[delivery]);
    RETURN (SELECT message_delivery_json(d, q, e.not_before)
            FROM message_delivery d LEFT JOIN delivery_queue q ON q.delivery_id = d.id
            WHERE d.account_id = account AND d.endpoint_id = e.id AND d.id = delivery);
END $$;

-- Send all that has failed of a time again, the oldest of at most `most`. Returns how many; null: there is no such endpoint.
CREATE OR REPLACE FUNCTION deliveries_recover(endpoint uuid, account uuid, since timestamptz, until timestamptz, most int) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    e endpoint;
BEGIN
    SELECT * INTO e FROM endpoint k WHERE k.id = endpoint AND k.account_id = account FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    RETURN deliveries_requeue(e, ARRAY(
        SELECT d.id FROM message_delivery d
        WHERE d.account_id = account AND d.endpoint_id = endpoint AND d.status = 'failed'
          AND date_trunc('milliseconds', d.created_at) BETWEEN since AND until
        ORDER BY d.id LIMIT least(most, greatest(0, most - endpoint_waiting(e.id)))));
END $$;

-- What waits for an endpoint is counted when it is asked for: a count in its row was written twice for each delivery. A day of the queue
-- is looked up once, when it is dropped.
ALTER TABLE endpoint DROP COLUMN waiting;
DROP INDEX delivery_queue_day;
DROP FUNCTION IF EXISTS endpoint_note(endpoint, boolean, boolean, boolean);

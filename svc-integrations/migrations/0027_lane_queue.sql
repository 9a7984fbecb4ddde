-- The queue that a lane is claimed from: each has slots of its own (notify/dispatcher.h).
ALTER TABLE endpoint_lane ADD COLUMN queue text NOT NULL GENERATED ALWAYS AS
    (CASE WHEN is_mail THEN 'mail' WHEN is_quick THEN 'quick' ELSE 'slow' END) STORED;
CREATE INDEX endpoint_lane_queue_due ON endpoint_lane (queue, due_at) WHERE due_at IS NOT NULL;
DROP INDEX endpoint_lane_due, endpoint_lane_mail_due;

-- It is made again with another name of a parameter, and is called by functions only.
DROP FUNCTION IF EXISTS endpoint_note(endpoint, boolean, boolean);

-- A function that has another name now, and that the previous release does not call.
DROP FUNCTION IF EXISTS deliverable_settle(uuid, text, text, bigint);

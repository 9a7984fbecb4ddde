-- Functions that have other names now, and that the previous release does not call.
DROP TRIGGER IF EXISTS deliverable_made ON deliverable; -- both are made again with the functions
DROP TRIGGER IF EXISTS deliverable_changed ON deliverable;
DROP FUNCTION IF EXISTS deliverable_told();
DROP FUNCTION IF EXISTS deliverable_tell(deliverable, text);
DROP FUNCTION IF EXISTS run_told(run, jsonb, bigint, jsonb);
DROP FUNCTION IF EXISTS run_detail_told(run_detail, jsonb, bigint);
DROP FUNCTION IF EXISTS tellings_held(jsonb);

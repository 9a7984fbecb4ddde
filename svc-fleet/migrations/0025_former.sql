-- What only the version before d2839c72 called.
DROP FUNCTION IF EXISTS run_report(uuid, text, jsonb, jsonb, jsonb);
DROP FUNCTION IF EXISTS workflow_run_tell(text, bigint, text, text, timestamptz);
DROP FUNCTION IF EXISTS workflow_run_tell_json(text, jsonb);
DROP FUNCTION IF EXISTS run_page(uuid, text, text, text, text, text, date, date, date, date, boolean, bigint, bigint);
DROP FUNCTION IF EXISTS fleet_agents(uuid, date, date, text[], text);
DROP FUNCTION IF EXISTS fleet_facts(uuid, date, date, text[]);

-- No process has called it since there is interest_sources_json().
DROP FUNCTION IF EXISTS context_sources_json(uuid);

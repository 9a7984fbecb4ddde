-- No process has called them since there are experiment_full_json(), experiment_entity_tag() and experiment_changes_json().
DROP FUNCTION IF EXISTS experiment_etag(experiment);
DROP FUNCTION IF EXISTS experiment_detail_json(experiment);
DROP FUNCTION IF EXISTS experiment_history_json(uuid);

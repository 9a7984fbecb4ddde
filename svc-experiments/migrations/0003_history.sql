-- What was changed about experiments, when and by whom. A row a changed field; ascending ids are the order of the changes.
CREATE TABLE experiment_history (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    experiment_id uuid NOT NULL REFERENCES experiment ON DELETE CASCADE,
    at            timestamptz NOT NULL,
    field         text NOT NULL,
    was           jsonb NOT NULL,
    becomes       jsonb NOT NULL,
    by_key        uuid -- null: the service itself
);

CREATE INDEX experiment_history_newest ON experiment_history (experiment_id, id DESC);

-- The newest changes of an experiment: as many as can be read in one go, 1000 of them and 4 MiB of text. The others are
-- kept.
CREATE FUNCTION experiment_history_json(experiment uuid) RETURNS json LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(json_agg(shown.entry ORDER BY shown.id DESC), '[]')
    FROM (SELECT newest.id, newest.entry, sum(octet_length(newest.entry::text)) OVER (ORDER BY newest.id DESC) AS bytes
          FROM (SELECT h.id, json_build_object('at', time_json(h.at), 'field', h.field, 'from', h.was, 'to', h.becomes,
                                               'by', h.by_key) AS entry
                FROM experiment_history h WHERE h.experiment_id = experiment
                ORDER BY h.id DESC LIMIT 1000) newest) shown
    WHERE shown.bytes <= 4 * 1024 * 1024
$$;

-- An experiment with all that is known of it. Volatile, so that it sees what the statement that calls it has changed.
CREATE FUNCTION experiment_detail_json(e experiment) RETURNS json LANGUAGE sql VOLATILE AS $$
    SELECT json_build_object(
        'id', e.id, 'name', e.name, 'status', e.status, 'hypothesis', e.hypothesis, 'outcome', e.outcome,
        'decision', e.decision, 'observed_delta', e.observed_delta, 'delta_confidence', e.delta_confidence,
        'target_metric', e.target_metric, 'tags', e.tags, 'pr_url', e.pr_url, 'pr_status', e.pr_status,
        'external_ticket_id', e.external_ticket_id, 'ticket_source', e.ticket_source, 'ticket_url', e.ticket_url,
        'project_id', e.project_id, 'project_name', (SELECT p.name FROM project p WHERE p.id = e.project_id),
        'created_via', e.created_via, 'source_type', e.source_type, 'source_ref', e.source_ref,
        'launch_context', e.launch_context, 'ab_test_config', e.ab_test_config, 'ab_test_results', e.ab_test_results,
        'linked_resources', e.linked_resources, 'pipeline_status', e.pipeline_status, 'branch_name', e.branch_name,
        'history', experiment_history_json(e.id),
        'created_at', time_json(e.created_at), 'updated_at', time_json(e.updated_at))
$$;

-- Change a locked experiment: note what really changes in its history and tell of it. What it becomes; as it was when
-- nothing changes. Beside project_remove() the one way in which a column that the API shows is changed.
CREATE FUNCTION experiment_change(was experiment, body jsonb, by_key uuid, request_id text) RETURNS experiment
LANGUAGE plpgsql AS $$
DECLARE
    becomes experiment := jsonb_populate_record(was, linked_resources_shaped(body));
BEGIN
    becomes.updated_at := clock_timestamp();
    INSERT INTO experiment_history (experiment_id, at, field, was, becomes, by_key)
    SELECT was.id, becomes.updated_at, field, before -> field, after -> field, by_key
    FROM to_jsonb(was) before, to_jsonb(becomes) after, jsonb_object_keys(body) field
    WHERE before -> field IS DISTINCT FROM after -> field;
    IF NOT FOUND THEN
        RETURN was;
    END IF;
    becomes.version := was.version + 1;
    UPDATE experiment SET
        version = becomes.version, updated_at = becomes.updated_at, name = becomes.name, status = becomes.status,
        hypothesis = becomes.hypothesis, outcome = becomes.outcome, decision = becomes.decision,
        observed_delta = becomes.observed_delta, delta_confidence = becomes.delta_confidence,
        target_metric = becomes.target_metric, tags = becomes.tags, pr_url = becomes.pr_url,
        pr_status = becomes.pr_status, external_ticket_id = becomes.external_ticket_id,
        ticket_source = becomes.ticket_source, ticket_url = becomes.ticket_url, project_id = becomes.project_id,
        launch_context = becomes.launch_context, ab_test_config = becomes.ab_test_config,
        ab_test_results = becomes.ab_test_results, linked_resources = becomes.linked_resources,
        pipeline_status = becomes.pipeline_status, branch_name = becomes.branch_name
    WHERE id = was.id;
    PERFORM event_emit('events.experiments', 'experiment.updated', was.account_id, experiment_event(becomes), request_id);
    RETURN becomes;
END $$;

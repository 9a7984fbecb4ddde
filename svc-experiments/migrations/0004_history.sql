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
CREATE OR REPLACE FUNCTION experiment_detail_json(e experiment) RETURNS json LANGUAGE sql VOLATILE AS $$
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

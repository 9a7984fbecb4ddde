-- Experiments: how they are made, changed, announced to other services and shown.

-- The body with the four members that each linked resource has.
CREATE OR REPLACE FUNCTION linked_resources_shaped(body jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF NOT body ? 'linked_resources' THEN
        RETURN body;
    END IF;
    RETURN jsonb_set(body, '{linked_resources}', (
        SELECT coalesce(jsonb_agg(jsonb_build_object('type', r.link -> 'type', 'id', r.link -> 'id',
                                                     'title', r.link -> 'title', 'url', r.link -> 'url')
                                  ORDER BY r.place), '[]')
        FROM jsonb_array_elements(body -> 'linked_resources') WITH ORDINALITY AS r (link, place)));
END $$;

-- The ids of papers that an experiment names, each once: of the paper that it came from first.
CREATE OR REPLACE FUNCTION experiment_papers(e experiment) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_agg(paper ORDER BY place), '[]')
        FROM (SELECT arxiv_id_of(named.paper) AS paper, min(place) AS place
              FROM (SELECT e.launch_context #>> '{resource,arxiv_id}' AS paper, 0 AS place
                    UNION ALL SELECT e.source_ref, 1 WHERE e.source_type LIKE '%\_paper'
                    UNION ALL SELECT r.link ->> 'id', 1 + r.place
                    FROM jsonb_array_elements(e.linked_resources) WITH ORDINALITY AS r (link, place)
                    WHERE r.link ->> 'type' LIKE '%\_paper') named
              GROUP BY 1) papers
        WHERE paper IS NOT NULL);
END $$;

-- What the stream events.experiments says of an experiment: at most 32 KiB.
CREATE OR REPLACE FUNCTION experiment_event(e experiment) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', e.id, 'version', e.version, 'name', e.name, 'status', e.status, 'hypothesis', left(e.hypothesis, 2000),
        'outcome', e.outcome, 'decision', left(e.decision, 2000), 'observed_delta', e.observed_delta,
        'delta_confidence', e.delta_confidence, 'target_metric', e.target_metric, 'project_id', e.project_id,
        'source_type', e.source_type,
        'source_ref', CASE WHEN octet_length(e.source_ref) <= 2048 THEN e.source_ref END,
        'reminders', experiment_reminders(e), 'arxiv_ids', experiment_papers(e), 'pr_url', e.pr_url, 'pr_status', e.pr_status,
        'created_at', time_json(e.created_at), 'updated_at', time_json(e.updated_at))
$$;

-- How long a change is as JSON, nearly.
CREATE OR REPLACE FUNCTION change_bytes(was jsonb, becomes jsonb) RETURNS int LANGUAGE sql IMMUTABLE
RETURN 160 + octet_length(was::text) + octet_length(becomes::text);

-- A value of a change as a message shows it: null in place of what is longer than a kilobyte.
CREATE OR REPLACE FUNCTION message_value(value jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE
RETURN CASE WHEN octet_length(value::text) <= 1024 THEN value END;

-- Notify the account what became of an experiment: `created`, `updated` or `deleted`. `changed` has {"field", "from", "to"}; `by` is a
-- key, null: the service itself.
CREATE OR REPLACE FUNCTION experiment_announce(e experiment, what text, changed jsonb, by_key uuid, request_id text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM message_emit('events.experiments', 'experiment.' || what, e.account_id, jsonb_build_object(
        'experiment_id', e.id, 'name', e.name, 'status', e.status, 'outcome', e.outcome, 'decision', left(e.decision, 1000),
        'changed', changed, 'by', by_key, 'url', '/console/experiments/' || e.id), request_id);
END $$;

-- Make an experiment of a body that was checked, and announce it.
CREATE OR REPLACE FUNCTION experiment_new(account uuid, body jsonb, by_key uuid, request_id text) RETURNS experiment
LANGUAGE plpgsql AS $$
DECLARE
    made experiment;
BEGIN
    INSERT INTO experiment (account_id, name, status, hypothesis, outcome, decision, observed_delta, delta_confidence,
                            target_metric, tags, pr_url, pr_status, external_ticket_id, ticket_source, ticket_url,
                            project_id, source_type, source_ref, launch_context, ab_test_config, ab_test_results,
                            linked_resources, created_via)
    SELECT account, n.name, coalesce(n.status, 'draft'), n.hypothesis, n.outcome, n.decision, n.observed_delta,
           n.delta_confidence, n.target_metric, coalesce(n.tags, '{}'), n.pr_url, n.pr_status, n.external_ticket_id,
           n.ticket_source, n.ticket_url, n.project_id, coalesce(n.source_type, 'manual'), n.source_ref,
           n.launch_context, n.ab_test_config, n.ab_test_results - 'analysis', coalesce(n.linked_resources, '[]'),
           coalesce(n.created_via, 'api')
    FROM jsonb_populate_record(NULL::experiment, linked_resources_shaped(body)) n
    RETURNING * INTO made;
    PERFORM project_join(account, made.project_id) WHERE made.project_id IS NOT NULL;
    PERFORM event_emit('events.experiments', 'experiment.created', account, experiment_event(made), request_id);
    PERFORM experiment_announce(made, 'created', '[]', by_key, request_id);
    RETURN made;
END $$;

-- Keep the newest ten thousand changes of a locked experiment, and of those 16 MiB: the oldest of the others go, a hundred at a time, as they
-- may be gigabytes. Of changes of earlier versions, whose length was not noted, what is stored is counted, so that they are not read.
CREATE OR REPLACE FUNCTION experiment_changes_bound(experiment uuid) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    DELETE FROM experiment_history h WHERE h.id IN (
        SELECT o.id
        FROM (SELECT n.id, row_number() OVER newest AS place,
                     sum(coalesce(n.bytes, pg_column_size(n.was) + pg_column_size(n.becomes))) OVER newest AS total
              FROM experiment_history n WHERE n.experiment_id = experiment
              WINDOW newest AS (ORDER BY n.id DESC ROWS UNBOUNDED PRECEDING)) o
        WHERE o.place > 10000 OR o.total > 16 * 1024 * 1024
        ORDER BY o.id LIMIT 100);
END $$;

-- Change a locked experiment: note what really changes in its history and announce it. What it becomes; as it was when
-- nothing changes. Beside project_detach() the one way in which a column that the API shows is changed.
CREATE OR REPLACE FUNCTION experiment_change(was experiment, body jsonb, by_key uuid, request_id text) RETURNS experiment
LANGUAGE plpgsql AS $$
DECLARE
    edited jsonb := experiment_edited(was, body);
    becomes experiment := jsonb_populate_record(was, linked_resources_shaped(edited));
    changed jsonb;
BEGIN
    becomes.updated_at := clock_timestamp();
    becomes.status_at := CASE WHEN becomes.status <> was.status THEN becomes.updated_at ELSE coalesce(was.status_at, was.updated_at) END;
    becomes.outcome_at := CASE WHEN becomes.outcome IS DISTINCT FROM was.outcome THEN becomes.updated_at
                               ELSE coalesce(was.outcome_at, was.updated_at) END;
    WITH noted AS (
        INSERT INTO experiment_history AS h (experiment_id, at, field, was, becomes, by_key, bytes)
        SELECT was.id, becomes.updated_at, field, before -> field, after -> field, by_key, change_bytes(before -> field, after -> field)
        FROM to_jsonb(was) before, to_jsonb(becomes) after, jsonb_object_keys(edited) field
        WHERE before -> field IS DISTINCT FROM after -> field
        RETURNING h.field, h.was, h.becomes)
    SELECT jsonb_agg(jsonb_build_object('field', n.field, 'from', message_value(n.was), 'to', message_value(n.becomes)))
    INTO changed FROM noted n;
    IF changed IS NULL THEN
        RETURN was;
    END IF;
    PERFORM experiment_changes_bound(was.id);
    becomes.version := was.version + 1;
    PERFORM project_join(was.account_id, becomes.project_id)
    WHERE becomes.project_id IS NOT NULL AND becomes.project_id IS DISTINCT FROM was.project_id;
    UPDATE experiment SET
        version = becomes.version, updated_at = becomes.updated_at, name = becomes.name, status = becomes.status, status_at = becomes.status_at,
        hypothesis = becomes.hypothesis, outcome = becomes.outcome, outcome_at = becomes.outcome_at, decision = becomes.decision,
        observed_delta = becomes.observed_delta, delta_confidence = becomes.delta_confidence,
        target_metric = becomes.target_metric, tags = becomes.tags, pr_url = becomes.pr_url,
        pr_status = becomes.pr_status, external_ticket_id = becomes.external_ticket_id,
        ticket_source = becomes.ticket_source, ticket_url = becomes.ticket_url, project_id = becomes.project_id,
        launch_context = becomes.launch_context, ab_test_config = becomes.ab_test_config,
        ab_test_results = becomes.ab_test_results, linked_resources = becomes.linked_resources,
        pipeline_status = becomes.pipeline_status, branch_name = becomes.branch_name, analysis_id = becomes.analysis_id,
        delta_source = becomes.delta_source
    WHERE id = was.id;
    PERFORM event_emit('events.experiments', 'experiment.updated', was.account_id, experiment_event(becomes), request_id);
    PERFORM experiment_announce(becomes, 'updated', changed, by_key, request_id);
    RETURN becomes;
END $$;

-- Where the delta and its word are from; null: there are none.
CREATE OR REPLACE FUNCTION delta_source_shown(e experiment) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN num_nonnulls(e.observed_delta, e.delta_confidence) > 0 THEN coalesce(e.delta_source, 'stated') END
$$;

-- An experiment as lists show it. A null `project_name`: its project, if any, was deleted.
CREATE OR REPLACE FUNCTION experiment_json(e experiment, project_name text) RETURNS json LANGUAGE sql STABLE AS $$
    SELECT json_build_object(
        'id', e.id, 'name', e.name, 'status', e.status, 'hypothesis', e.hypothesis, 'outcome', e.outcome,
        'decision', e.decision, 'observed_delta', e.observed_delta, 'delta_confidence', e.delta_confidence,
        'delta_source', delta_source_shown(e), 'target_metric', e.target_metric, 'tags', e.tags, 'pr_url', e.pr_url, 'pr_status', e.pr_status,
        'external_ticket_id', e.external_ticket_id, 'ticket_source', e.ticket_source, 'ticket_url', e.ticket_url,
        'project_id', CASE WHEN project_name IS NOT NULL THEN e.project_id END, 'project_name', project_name, 'created_via', e.created_via,
        'created_at', time_json(e.created_at), 'updated_at', time_json(e.updated_at))
$$;

-- The newest changes of an experiment: as many as can be read in one go, 1000 of them and 4 MiB of text. Their lengths are added up first, as
-- each value that is looked at is read whole; those of older changes, which were not noted, by reading one after the other. Of the others
-- experiment_changes_bound() keeps some.
--
-- In PL/pgSQL, as what follows: it keeps the plan, and that of an SQL function with a query of its own is made anew in each
-- statement, which took longer than all else in reading one experiment.
CREATE OR REPLACE FUNCTION experiment_changes_json(experiment uuid) RETURNS json LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    change record;
    total bigint := 0;
    first_id bigint;
BEGIN
    FOR change IN SELECT h.id, h.bytes FROM experiment_history h WHERE h.experiment_id = experiment ORDER BY h.id DESC LIMIT 1000 LOOP
        IF change.bytes IS NULL THEN
            SELECT change_bytes(h.was, h.becomes) INTO change.bytes FROM experiment_history h WHERE h.id = change.id;
        END IF;
        total := total + change.bytes;
        EXIT WHEN total > 4 * 1024 * 1024;
        first_id := change.id;
    END LOOP;
    RETURN (
        SELECT coalesce(json_agg(json_build_object('at', time_json(h.at), 'field', h.field, 'from', h.was, 'to', h.becomes,
                                                   'by', h.by_key) ORDER BY h.id DESC), '[]')
        FROM experiment_history h WHERE h.experiment_id = experiment AND h.id >= first_id);
END $$;

-- The entity tag of an experiment: its version, and a hash of the name of its project, which the experiment shows and which
-- changes without it. Volatile, as experiment_full_json().
CREATE OR REPLACE FUNCTION experiment_entity_tag(e experiment) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN e.version || coalesce((SELECT '-' || left(md5(p.name), 8) FROM project p WHERE p.id = e.project_id), '');
END $$;

-- An experiment with all that is known of it. Volatile, so that it sees what the statement that calls it has changed.
CREATE OR REPLACE FUNCTION experiment_full_json(e experiment) RETURNS json LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    project_name text := (SELECT p.name FROM project p WHERE p.id = e.project_id);
BEGIN
    RETURN json_build_object(
        'id', e.id, 'name', e.name, 'status', e.status, 'hypothesis', e.hypothesis, 'outcome', e.outcome,
        'decision', e.decision, 'observed_delta', e.observed_delta, 'delta_confidence', e.delta_confidence,
        'target_metric', e.target_metric, 'tags', e.tags, 'pr_url', e.pr_url, 'pr_status', e.pr_status,
        'external_ticket_id', e.external_ticket_id, 'ticket_source', e.ticket_source, 'ticket_url', e.ticket_url,
        'project_id', CASE WHEN project_name IS NOT NULL THEN e.project_id END, 'project_name', project_name,
        'created_via', e.created_via, 'source_type', e.source_type, 'source_ref', e.source_ref,
        'launch_context', e.launch_context, 'ab_test_config', e.ab_test_config,
        'ab_test_results', experiment_results_json(e),
        'delta_source', delta_source_shown(e),
        'linked_resources', e.linked_resources, 'pipeline_status', e.pipeline_status, 'branch_name', e.branch_name,
        'history', experiment_changes_json(e.id),
        'created_at', time_json(e.created_at), 'updated_at', time_json(e.updated_at));
END $$;

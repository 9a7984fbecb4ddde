-- Experiments. The columns bear the names of the API's members, so that a body can be read as a row.
--
--   version          rises by one with each change; the ETag
--   source_type      where the idea is from; with source_ref and created_via given once and for all
--   linked_resources [{"type", "id", "title", "url"}]
--   pipeline_status  how far its implementation is; the attempts are in `implementation`
CREATE TABLE experiment (
    id                 uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id         uuid NOT NULL,
    version            bigint NOT NULL DEFAULT 1,
    name               text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 500),
    status             text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'running', 'complete', 'analyzing',
                                                            'shipped', 'iterating', 'rejected', 'abandoned')),
    hypothesis         text,
    outcome            text CHECK (outcome IN ('ship', 'iterate', 'abandon')),
    decision           text,
    observed_delta     double precision CHECK (observed_delta BETWEEN '-1.7976931348623157e308' AND '1.7976931348623157e308'),
    delta_confidence   text CHECK (delta_confidence IN ('significant', 'inconclusive', 'not_tested')),
    target_metric      text,
    tags               text[] NOT NULL DEFAULT '{}' CHECK (cardinality(tags) <= 32),
    pr_url             text,
    pr_status          text,
    external_ticket_id text,
    ticket_source      text,
    ticket_url         text,
    project_id         uuid,
    source_type        text NOT NULL DEFAULT 'manual' CHECK (source_type IN ('arxiv_paper', 'code_repo', 'ticket', 'manual')),
    source_ref         text,
    launch_context     jsonb CHECK (jsonb_typeof(launch_context) = 'object'),
    ab_test_config     jsonb CHECK (jsonb_typeof(ab_test_config) = 'object'),
    ab_test_results    jsonb CHECK (jsonb_typeof(ab_test_results) = 'object'),
    linked_resources   jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(linked_resources) = 'array'),
    created_via        text NOT NULL DEFAULT 'api',
    pipeline_status    text NOT NULL DEFAULT 'idle' CHECK (pipeline_status IN ('idle', 'queued', 'assembling_context',
                                 'dispatching', 'running', 'pr_opened', 'completed', 'failed', 'cancelled')),
    branch_name        text,
    created_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT experiment_project FOREIGN KEY (account_id, project_id) REFERENCES project (account_id, id)
);

-- One for each filter of the list, in the list's order: ids are version 7, so the newest has the greatest.
CREATE INDEX experiment_newest ON experiment (account_id, id DESC);
CREATE INDEX experiment_by_status ON experiment (account_id, status, id DESC);
CREATE INDEX experiment_by_project ON experiment (account_id, project_id, id DESC);
CREATE INDEX experiment_by_via ON experiment (account_id, created_via, id DESC);
CREATE INDEX experiment_by_ticket ON experiment (account_id, external_ticket_id, id DESC)
    WHERE external_ticket_id IS NOT NULL;
CREATE INDEX experiment_by_ticket_source ON experiment (account_id, ticket_source, id DESC)
    WHERE ticket_source IS NOT NULL;
CREATE INDEX experiment_actionable ON experiment (account_id, id DESC) INCLUDE (project_id)
    WHERE launch_context IS NOT NULL AND pr_url IS NULL;

CREATE TRIGGER account_required BEFORE INSERT ON experiment FOR EACH ROW EXECUTE FUNCTION account_required();

-- An experiment as lists show it.
CREATE FUNCTION experiment_json(e experiment, project_name text) RETURNS json LANGUAGE sql STABLE AS $$
    SELECT json_build_object(
        'id', e.id, 'name', e.name, 'status', e.status, 'hypothesis', e.hypothesis, 'outcome', e.outcome,
        'decision', e.decision, 'observed_delta', e.observed_delta, 'delta_confidence', e.delta_confidence,
        'target_metric', e.target_metric, 'tags', e.tags, 'pr_url', e.pr_url, 'pr_status', e.pr_status,
        'external_ticket_id', e.external_ticket_id, 'ticket_source', e.ticket_source, 'ticket_url', e.ticket_url,
        'project_id', e.project_id, 'project_name', project_name, 'created_via', e.created_via,
        'created_at', time_json(e.created_at), 'updated_at', time_json(e.updated_at))
$$;

-- The arXiv ids of the papers that an experiment is about, without version, however they are written: bare, `arXiv:`,
-- or an address of its abstract, PDF or HTML. The first is the one that it came from.
CREATE FUNCTION experiment_papers(e experiment) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(paper ORDER BY place), '[]')
    FROM (SELECT regexp_replace(btrim(paper, E' \t\r\n'),
                                '^((https?://)?(www\.)?arxiv\.org/(abs|pdf|html)/|arxiv:\s*)|(v[0-9]+)?(\.pdf)?/?([?#].*)?$',
                                '', 'gi') AS paper,
                 min(place) AS place
          FROM (SELECT e.launch_context #>> '{resource,arxiv_id}' AS paper, 0 AS place
                UNION ALL SELECT e.source_ref, 1 WHERE e.source_type = 'arxiv_paper'
                UNION ALL SELECT r.link ->> 'id', 1 + r.place
                FROM jsonb_array_elements(e.linked_resources) WITH ORDINALITY AS r (link, place)
                WHERE r.link ->> 'type' = 'arxiv_paper') named
          WHERE paper <> '' GROUP BY 1) papers
$$;

-- What the stream events.experiments says of an experiment.
CREATE FUNCTION experiment_event(e experiment) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', e.id, 'version', e.version, 'name', e.name, 'status', e.status, 'hypothesis', left(e.hypothesis, 2000),
        'outcome', e.outcome, 'decision', left(e.decision, 2000), 'observed_delta', e.observed_delta,
        'delta_confidence', e.delta_confidence, 'target_metric', e.target_metric, 'project_id', e.project_id,
        'source_type', e.source_type, 'source_ref', e.source_ref, 'arxiv_ids', experiment_papers(e),
        'pr_url', e.pr_url, 'pr_status', e.pr_status,
        'created_at', time_json(e.created_at), 'updated_at', time_json(e.updated_at))
$$;

-- A body's links with just the members that the API shows, absent ones null; other bodies as they are.
CREATE FUNCTION linked_resources_shaped(body jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN body ? 'linked_resources' THEN
        jsonb_set(body, '{linked_resources}',
                  (SELECT coalesce(jsonb_agg(jsonb_build_object('type', r.link -> 'type', 'id', r.link -> 'id',
                                                                'title', r.link -> 'title', 'url', r.link -> 'url')
                                             ORDER BY r.place), '[]')
                   FROM jsonb_array_elements(body -> 'linked_resources') WITH ORDINALITY AS r (link, place)))
    ELSE body END
$$;

-- Make an experiment of a body that was checked, and tell of it.
CREATE FUNCTION experiment_new(account uuid, body jsonb, request_id text) RETURNS experiment LANGUAGE plpgsql AS $$
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
           n.launch_context, n.ab_test_config, n.ab_test_results, coalesce(n.linked_resources, '[]'),
           coalesce(n.created_via, 'api')
    FROM jsonb_populate_record(NULL::experiment, linked_resources_shaped(body)) n
    RETURNING * INTO made;
    PERFORM event_emit('events.experiments', 'experiment.created', account, experiment_event(made), request_id);
    RETURN made;
END $$;

-- Ids of the experiments that every given filter lets through; a null filter lets all through.
CREATE FUNCTION experiment_found(account uuid, in_project uuid, with_status text, with_source text, with_ticket text,
                                 came_via text, is_actionable boolean) RETURNS TABLE (id uuid) LANGUAGE sql STABLE AS $$
    SELECT e.id FROM experiment e
    WHERE e.account_id = account
      AND (in_project IS NULL OR e.project_id = in_project)
      AND (with_status IS NULL OR e.status = with_status)
      AND (with_source IS NULL OR e.ticket_source = with_source)
      AND (with_ticket IS NULL OR e.external_ticket_id = with_ticket)
      AND (came_via IS NULL OR e.created_via = came_via)
      AND (NOT is_actionable OR (e.launch_context IS NOT NULL AND e.pr_url IS NULL))
$$;

-- A page of them, newest first, and how many there are. Planned anew for each call, so that the filters that were not
-- given vanish and those that were choose the index. The page's ids come from the index alone, rows are read for it only.
-- Always by an index: reading the whole table looks cheap only while most of it is one account's.
CREATE FUNCTION experiment_page(account uuid, in_project uuid, with_status text, with_source text, with_ticket text,
                                came_via text, is_actionable boolean, page_limit bigint, page_offset bigint,
                                OUT total bigint, OUT page json)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan SET enable_seqscan = off AS $$
BEGIN
    SELECT count(*) INTO total
    FROM experiment_found(account, in_project, with_status, with_source, with_ticket, came_via, is_actionable);
    SELECT coalesce(json_agg(experiment_json(e, p.name) ORDER BY e.id DESC), '[]') INTO page
    FROM (SELECT found.id
          FROM experiment_found(account, in_project, with_status, with_source, with_ticket, came_via, is_actionable) found
          ORDER BY found.id DESC LIMIT page_limit OFFSET page_offset) one
    JOIN experiment e USING (id) LEFT JOIN project p ON p.id = e.project_id;
END $$;

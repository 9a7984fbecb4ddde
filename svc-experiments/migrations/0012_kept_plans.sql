-- What shows an experiment, in PL/pgSQL, which keeps the plan: that of an SQL function with a query of its own is made anew in each
-- statement, which took longer than all else in reading one experiment. Under new names, because a statement of the former version
-- that runs while a function gets another language fails. experiment_detail_json(), experiment_etag() and experiment_history_json()
-- stay for the former version.
CREATE FUNCTION experiment_changes_json(experiment uuid) RETURNS json LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN (
        SELECT coalesce(json_agg(shown.entry ORDER BY shown.id DESC), '[]')
        FROM (SELECT newest.id, newest.entry, sum(octet_length(newest.entry::text)) OVER (ORDER BY newest.id DESC) AS bytes
              FROM (SELECT h.id, json_build_object('at', time_json(h.at), 'field', h.field, 'from', h.was, 'to', h.becomes,
                                                   'by', h.by_key) AS entry
                    FROM experiment_history h WHERE h.experiment_id = experiment
                    ORDER BY h.id DESC LIMIT 1000) newest) shown
        WHERE shown.bytes <= 4 * 1024 * 1024);
END $$;

CREATE FUNCTION experiment_full_json(e experiment) RETURNS json LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN json_build_object(
        'id', e.id, 'name', e.name, 'status', e.status, 'hypothesis', e.hypothesis, 'outcome', e.outcome,
        'decision', e.decision, 'observed_delta', e.observed_delta, 'delta_confidence', e.delta_confidence,
        'target_metric', e.target_metric, 'tags', e.tags, 'pr_url', e.pr_url, 'pr_status', e.pr_status,
        'external_ticket_id', e.external_ticket_id, 'ticket_source', e.ticket_source, 'ticket_url', e.ticket_url,
        'project_id', e.project_id, 'project_name', (SELECT p.name FROM project p WHERE p.id = e.project_id),
        'created_via', e.created_via, 'source_type', e.source_type, 'source_ref', e.source_ref,
        'launch_context', e.launch_context, 'ab_test_config', e.ab_test_config, 'ab_test_results', e.ab_test_results,
        'linked_resources', e.linked_resources, 'pipeline_status', e.pipeline_status, 'branch_name', e.branch_name,
        'history', experiment_changes_json(e.id),
        'created_at', time_json(e.created_at), 'updated_at', time_json(e.updated_at));
END $$;

CREATE FUNCTION experiment_entity_tag(e experiment) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN e.version || coalesce((SELECT '-' || left(md5(p.name), 8) FROM project p WHERE p.id = e.project_id), '');
END $$;

CREATE OR REPLACE FUNCTION experiment_papers(e experiment) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_agg(paper ORDER BY place), '[]')
        FROM (SELECT arxiv_id_of(named.paper) AS paper, min(place) AS place
              FROM (SELECT e.launch_context #>> '{resource,arxiv_id}' AS paper, 0 AS place
                    UNION ALL SELECT e.source_ref, 1 WHERE e.source_type = 'arxiv_paper'
                    UNION ALL SELECT r.link ->> 'id', 1 + r.place
                    FROM jsonb_array_elements(e.linked_resources) WITH ORDINALITY AS r (link, place)
                    WHERE r.link ->> 'type' = 'arxiv_paper') named
              GROUP BY 1) papers
        WHERE paper IS NOT NULL);
END $$;

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

-- A page without filters, the usual one, has a plan that is kept. With filters it is planned anew, as before.
ALTER FUNCTION experiment_page(uuid, uuid, text, text, text, text, boolean, text, bigint, bigint) RENAME TO experiment_page_filtered;

CREATE FUNCTION experiment_page(account uuid, in_project uuid, with_status text, with_source text, with_ticket text,
                                came_via text, is_actionable boolean, only_repo text, page_limit bigint, page_offset bigint,
                                OUT total bigint, OUT page json)
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    IF coalesce(in_project::text, with_status, with_source, with_ticket, came_via, only_repo) IS NOT NULL OR is_actionable THEN
        SELECT filtered.total, filtered.page INTO total, page
        FROM experiment_page_filtered(account, in_project, with_status, with_source, with_ticket, came_via, is_actionable,
                                      only_repo, page_limit, page_offset) AS filtered;
        RETURN;
    END IF;
    SELECT count(*) INTO total FROM experiment e WHERE e.account_id = account;
    SELECT coalesce(json_agg(experiment_json(e, p.name) ORDER BY e.id DESC), '[]') INTO page
    FROM (SELECT e.id FROM experiment e WHERE e.account_id = account ORDER BY e.id DESC LIMIT page_limit OFFSET page_offset) one
    JOIN experiment e USING (id) LEFT JOIN project p ON p.id = e.project_id;
END $$;

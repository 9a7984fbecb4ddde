-- The arXiv ids of the papers that an experiment is about. The first is the one that it came from. What is no arXiv id is
-- left out, so each has at most 24 bytes.
CREATE OR REPLACE FUNCTION experiment_papers(e experiment) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(paper ORDER BY place), '[]')
    FROM (SELECT arxiv_id_of(named.paper) AS paper, min(place) AS place
          FROM (SELECT e.launch_context #>> '{resource,arxiv_id}' AS paper, 0 AS place
                UNION ALL SELECT e.source_ref, 1 WHERE e.source_type = 'arxiv_paper'
                UNION ALL SELECT r.link ->> 'id', 1 + r.place
                FROM jsonb_array_elements(e.linked_resources) WITH ORDINALITY AS r (link, place)
                WHERE r.link ->> 'type' = 'arxiv_paper') named
          GROUP BY 1) papers
    WHERE paper IS NOT NULL
$$;

-- What the stream events.experiments says of an experiment: at most 32 KiB.
CREATE OR REPLACE FUNCTION experiment_event(e experiment) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', e.id, 'version', e.version, 'name', e.name, 'status', e.status, 'hypothesis', left(e.hypothesis, 2000),
        'outcome', e.outcome, 'decision', left(e.decision, 2000), 'observed_delta', e.observed_delta,
        'delta_confidence', e.delta_confidence, 'target_metric', e.target_metric, 'project_id', e.project_id,
        'source_type', e.source_type,
        'source_ref', CASE WHEN octet_length(e.source_ref) <= 2048 THEN e.source_ref END,
        'arxiv_ids', experiment_papers(e), 'pr_url', e.pr_url, 'pr_status', e.pr_status,
        'created_at', time_json(e.created_at), 'updated_at', time_json(e.updated_at))
$$;

-- An index row holds 2,704 bytes. The API allows fewer characters, of four bytes each.
ALTER TABLE experiment
    ADD CONSTRAINT external_ticket_id_bytes CHECK (octet_length(external_ticket_id) <= 1020),
    ADD CONSTRAINT ticket_source_bytes CHECK (octet_length(ticket_source) <= 256),
    ADD CONSTRAINT created_via_bytes CHECK (octet_length(created_via) <= 256);
ALTER TABLE project ADD CONSTRAINT project_name_bytes CHECK (octet_length(name) <= 800);

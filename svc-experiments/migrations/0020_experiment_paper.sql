-- The papers that experiments name, each in a row (evidence/evidence.fn.sql), so that those on a paper are found.
CREATE TABLE experiment_paper (
    account_id    uuid NOT NULL,
    arxiv_id      text NOT NULL CONSTRAINT arxiv_id_bytes CHECK (octet_length(arxiv_id) <= 64),
    experiment_id uuid NOT NULL REFERENCES experiment ON DELETE CASCADE,
    PRIMARY KEY (account_id, arxiv_id, experiment_id)
);
CREATE INDEX experiment_paper_of_experiment ON experiment_paper (experiment_id);

-- Of experiments that were made before: ids of arXiv as they are written since 2007. Others are found once the experiment changes.
INSERT INTO experiment_paper (account_id, arxiv_id, experiment_id)
SELECT e.account_id, substring(named.paper FROM '([0-9]{4}\.[0-9]{4,5})'), e.id
FROM experiment e CROSS JOIN LATERAL (
    SELECT e.launch_context #>> '{resource,arxiv_id}' AS paper
    UNION ALL SELECT e.source_ref WHERE e.source_type LIKE 'arxiv\_paper'
    UNION ALL SELECT r.link ->> 'id' FROM jsonb_array_elements(e.linked_resources) AS r (link) WHERE r.link ->> 'type' = 'arxiv_paper') named
WHERE named.paper ~ '^(arxiv:\s*|https?://arxiv\.org/(abs|pdf)/)?[0-9]{4}\.[0-9]{4,5}(v[0-9]{1,3})?$'
ON CONFLICT DO NOTHING;

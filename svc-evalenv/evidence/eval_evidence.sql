-- name: eval_evidence_get(account, runs, only_repository) (read)
-- :runs: a JSON array of texts, of which some may be no ids. An :only_repository of NULL: all; else the key may see no other.
WITH found AS MATERIALIZED (
    SELECT r.*, w AS work,
           :only_repository::text IS NULL OR coalesce(lower(w.repo) = (SELECT repository_key(:only_repository)), false) AS is_open
    FROM run r JOIN work w USING (id)
    WHERE r.account_id = :account
      AND r.id IN (SELECT id::uuid FROM jsonb_array_elements_text(:runs::jsonb) AS named (id)
                   WHERE id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$')
), built AS (
    SELECT b.*, w AS work FROM build b JOIN work w USING (id) WHERE b.id IN (SELECT build_id FROM found WHERE is_open)
), node AS (
    SELECT evidence_node(f.id::text, 'eval_run', (f.work).created_at, '/console/evaluations/runs/' || f.id, json_build_object(
        'name', f.name,
        'template_id', f.template_id, 'template_version', f.template_version, 'template_digest', f.template_digest,
        'status', (f.work).status, 'metrics', f.metrics,
        'error', (f.work).error -> 'kind', 'finished_at', time_json((f.work).finished_at))) AS node
    FROM found f WHERE f.is_open
    UNION ALL
    SELECT evidence_node(b.id::text, 'eval_build', (b.work).created_at, '/console/evaluations/builds/' || b.id, json_build_object(
        'source', b.source, 'repo', b.repo, 'ref', b.ref, 'digest', b.digest, 'status', (b.work).status,
        'error', (b.work).error -> 'kind', 'finished_at', time_json((b.work).finished_at)))
    FROM built b
), edge AS (
    SELECT evidence_edge(f.id::text, f.build_id::text, 'uses', (f.work).created_at) AS edge
    FROM found f WHERE f.is_open AND f.build_id IS NOT NULL
    UNION ALL
    SELECT evidence_edge(b.id::text, 'paper:' || b.arxiv_id, 'about', (b.work).created_at)
    FROM built b WHERE b.arxiv_id IS NOT NULL
)
SELECT json_build_object('nodes', (SELECT coalesce(json_agg(node), '[]') FROM node),
                         'edges', (SELECT coalesce(json_agg(edge), '[]') FROM edge),
                         'hidden', (SELECT count(*) FROM found WHERE NOT is_open));

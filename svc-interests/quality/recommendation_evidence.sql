-- name: recommendation_evidence_get (read)
-- $1 account, $2 papers as a JSON array, $3 the only interest that the key may see (NULL: all).
WITH found AS MATERIALIZED (
    SELECT r.*, i.name AS interest_name, $3::uuid IS NULL OR r.interest_id = $3 AS is_open
    FROM interest i JOIN recommendation r ON r.interest_id = i.id
    WHERE i.account_id = $1 AND r.arxiv_id IN (SELECT jsonb_array_elements_text($2::jsonb))
), shown AS (
    SELECT * FROM found WHERE is_open ORDER BY recommended_at DESC, id DESC LIMIT 50
), node AS (
    SELECT evidence_node(s.id::text, 'recommendation', s.recommended_at, '/console/interests/' || s.interest_id, json_build_object(
        'interest_id', s.interest_id, 'interest_name', s.interest_name, 'arxiv_id', s.arxiv_id, 'score', s.relevance_score,
        'rank', s.rank, 'reasoning', left(s.reasoning, 2000), 'context_version', s.context_version, 'signals', (
            SELECT coalesce(json_agg(json_build_object('signal', f.signal, 'at', time_json(f.recorded_at)) ORDER BY f.recorded_at), '[]')
            FROM feedback f WHERE f.recommendation_id = s.id))) AS node,
        evidence_edge(s.id::text, 'paper:' || s.arxiv_id, 'about', s.recommended_at) AS edge, s.recommended_at
    FROM shown s
)
SELECT json_build_object(
    'nodes', (SELECT coalesce(json_agg(node ORDER BY recommended_at DESC), '[]') FROM node),
    'edges', (SELECT coalesce(json_agg(edge), '[]') FROM node),
    'truncated', count(*) FILTER (WHERE is_open) > 50, 'hidden', count(*) FILTER (WHERE NOT is_open))
FROM found;

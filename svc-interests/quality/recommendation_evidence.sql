-- name: recommendation_evidence_get(account, papers, only_interest, recommendations) (read)
-- :papers is an array of ids. :only_interest is the only one that the key may see. NULL: all. :recommendations are shown before
-- others: an array of texts, of which some may be no ids. NULL: none.
--
-- `urls`: what runs opened for those that are shown without saying for which paper, or for another one.
WITH asked AS MATERIALIZED (
    SELECT ARRAY(SELECT jsonb_array_elements_text(:papers::jsonb)) AS papers,
           ARRAY(SELECT id::uuid FROM jsonb_array_elements_text(coalesce(:recommendations::jsonb, '[]')) AS named (id)
                 WHERE id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$') AS named
), found AS MATERIALIZED (
    SELECT r.*, i.name AS interest_name, :only_interest::uuid IS NULL OR r.interest_id = :only_interest AS is_open
    FROM asked a, interest i JOIN recommendation r ON r.interest_id = i.id
    WHERE i.account_id = :account AND r.arxiv_id = ANY (a.papers)
    UNION ALL
    SELECT r.*, i.name, :only_interest::uuid IS NULL OR r.interest_id = :only_interest
    FROM asked a JOIN recommendation r ON r.id = ANY (a.named) JOIN interest i ON i.id = r.interest_id
    WHERE i.account_id = :account AND r.arxiv_id <> ALL (a.papers)
), shown AS MATERIALIZED (
    SELECT f.* FROM asked a, found f WHERE f.is_open
    ORDER BY f.id = ANY (a.named) DESC, f.recommended_at DESC, f.id DESC
    LIMIT 50 + (SELECT cardinality(named) FROM asked)
), node AS (
    SELECT evidence_node(
               s.id::text, 'recommendation', s.recommended_at, '/console/interests/' || s.interest_id,
               json_build_object(
                   'interest_id', s.interest_id, 'interest_name', s.interest_name, 'arxiv_id', s.arxiv_id,
                   'score', s.relevance_score, 'rank', s.rank, 'reasoning', left(s.reasoning, 2000),
                   'context_version', s.context_version,
                   'signals', (SELECT coalesce(json_agg(json_build_object('signal', f.signal, 'at', time_json(f.recorded_at))
                                                        ORDER BY f.recorded_at), '[]')
                               FROM feedback f WHERE f.recommendation_id = s.id))) AS node,
           evidence_edge(s.id::text, 'paper:' || s.arxiv_id, 'about', s.recommended_at) AS edge, s.recommended_at
    FROM shown s
)
SELECT json_build_object(
    'nodes', (SELECT coalesce(json_agg(node ORDER BY recommended_at DESC), '[]') FROM node),
    'edges', (SELECT coalesce(json_agg(edge), '[]') FROM node),
    'urls', (SELECT coalesce(json_agg(DISTINCT o.url), '[]') FROM shown s JOIN run_outcome o ON o.recommendation_id = s.id
             WHERE o.account_id = :account AND o.arxiv_id IS DISTINCT FROM s.arxiv_id),
    'truncated', count(*) FILTER (WHERE is_open) > (SELECT count(*) FROM shown), 'hidden', count(*) FILTER (WHERE NOT is_open))
FROM found;

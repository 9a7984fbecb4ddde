-- name: run_evidence_get(account, question, only_repository) (read)
-- :question is that of candidate/run_evidence.h. :only_repository is the only one that the key may see; NULL: all.
--
-- `tried` are the runs that were about one of the papers, were dispatched, or opened one of the links; `refused` the newest that
-- passed one of the papers over. Runs are shown from the newest on, until they and what hangs on them are 340 nodes.
WITH asked AS MATERIALIZED (
    SELECT ARRAY(SELECT jsonb_array_elements_text(:question::jsonb -> 'arxiv_ids')) AS papers,
           ARRAY(SELECT repository_link_now(link) FROM jsonb_array_elements_text(:question::jsonb -> 'urls') AS link) AS links,
           repository_key(:only_repository) AS repo
), dispatched AS MATERIALIZED (
    SELECT k.id, k.first_at, d.for
    FROM jsonb_to_recordset(:question::jsonb -> 'runs') AS d (repo text, run_id text, "for" text)
    JOIN run_key k ON k.account_id = :account AND k.repo_key = repository_key(d.repo) AND k.run_key = d.run_id
), named AS MATERIALIZED (
    SELECT c.run AS id, c.first_at
    FROM asked a JOIN candidate c ON c.account_id = :account AND c.arxiv_id = ANY (a.papers) AND c.gate IS NULL
    UNION SELECT c.run, c.first_at FROM asked a, candidates_to_choose(:account, a.papers, NULL) c
    UNION SELECT id, first_at FROM dispatched
    UNION SELECT r.id, r.first_at FROM asked a JOIN run r ON r.account_id = :account AND r.artifact_url = ANY (a.links)
), tried AS MATERIALIZED (
    SELECT r.*, a.repo IS NULL OR r.repo_key = a.repo AS is_open
    FROM asked a, named n JOIN run r ON r.id = n.id AND r.first_at = n.first_at
), passed AS MATERIALIZED (
    SELECT c.run AS id, c.first_at, a.repo IS NULL OR r.repo_key = a.repo AS is_open, r.at
    FROM asked a JOIN candidate c ON c.account_id = :account AND c.arxiv_id = ANY (a.papers) AND c.gate IS NOT NULL
    JOIN run r ON r.id = c.run AND r.first_at = c.first_at
    UNION ALL
    SELECT c.run, c.first_at, a.repo IS NULL OR r.repo_key = a.repo, r.at
    FROM asked a, candidates_to_reject(:account, a.papers, NULL, '-infinity', 'infinity') c
    JOIN run r ON r.id = c.run AND r.first_at = c.first_at
), refused AS MATERIALIZED (
    SELECT DISTINCT p.id, p.first_at, p.at FROM passed p
    WHERE p.is_open AND p.id NOT IN (SELECT id FROM named) ORDER BY p.at DESC, p.id DESC LIMIT 20
), unfilled AS MATERIALIZED (
    SELECT c.* FROM (SELECT array_agg(x.id) AS ids FROM (SELECT id FROM tried UNION SELECT id FROM refused) x) of,
                    LATERAL (SELECT * FROM candidates_to_choose(:account, NULL, of.ids)
                             UNION ALL SELECT * FROM candidates_to_reject(:account, NULL, of.ids, '-infinity', 'infinity')) c
    WHERE of.ids IS NOT NULL
), weighed AS MATERIALIZED (
    SELECT t.id, t.first_at, true AS is_tried, t.at,
           3 + CASE WHEN coalesce((:question::jsonb ->> 'candidates')::boolean, false) THEN least(50, (
               SELECT count(*) FROM candidate c WHERE c.run = t.id AND c.gate IS NOT NULL)
               + (SELECT count(*) FROM unfilled u WHERE u.run = t.id AND u.gate IS NOT NULL)) ELSE 0 END AS weight
    FROM tried t WHERE t.is_open
    UNION ALL SELECT id, first_at, false, at, 2 FROM refused
), shown AS MATERIALIZED (
    SELECT r AS run, w.is_tried, d.detail FROM (
        SELECT *, sum(weight) OVER (ORDER BY at DESC, id DESC ROWS UNBOUNDED PRECEDING) AS nodes FROM weighed) w
    JOIN run r ON r.id = w.id AND r.first_at = w.first_at
    LEFT JOIN run_detail d ON d.id = w.id AND d.first_at = w.first_at
    WHERE w.nodes <= 340
), considered AS MATERIALIZED (
    SELECT (s.run).id, c.arxiv_id, c.gate, c.reason, c.score,
           row_number() OVER (PARTITION BY (s.run).id, c.gate IS NULL
                              ORDER BY c.arxiv_id <> ALL (a.papers), c.score DESC NULLS LAST, c.arxiv_id) AS place
    FROM asked a, shown s, LATERAL (SELECT * FROM candidate c WHERE c.run = (s.run).id
                                    UNION ALL SELECT * FROM unfilled u WHERE u.run = (s.run).id) c
    WHERE c.gate IS NULL OR c.arxiv_id = ANY (a.papers)
       OR (s.is_tried AND coalesce((:question::jsonb ->> 'candidates')::boolean, false))
), selection AS MATERIALIZED (
    SELECT 'selection:' || (s.run).id AS node, s.run, s.detail, greatest(0, coalesce(x.rejected, 0) - 50) AS more
    FROM shown s
    LEFT JOIN (SELECT id, count(*) FILTER (WHERE gate IS NOT NULL) AS rejected FROM considered GROUP BY id) x ON x.id = (s.run).id
    WHERE x.rejected > 0 OR (s.run).record ? 'broad_pool_size'
       OR s.detail ?| ARRAY['selection_reasoning_excerpt', 'refine_queries']
), opened AS MATERIALIZED (
    SELECT (s.run).id, d.*
    FROM shown s JOIN deliverable d ON d.account_id = :account AND d.url = (s.run).artifact_url AND d.kind <> 'other'
), artifact AS MATERIALIZED (
    SELECT DISTINCT o.url, o.kind, o.repo, o.number, o.stage,
           CASE WHEN o.stage <> 'open'
                     OR EXISTS (SELECT FROM owned_repo r JOIN code_host_item i ON i.repo_key = r.repo_key
                                WHERE r.account_id = :account AND r.repo_key = o.repo_key
                                  AND i.kind = o.kind AND i.number = o.number AND i.state IS NOT NULL)
                THEN 'code_host' ELSE 'run' END AS stage_by,
           o.opened_at, o.closed_at, o.reverted_at, o.reverted_by, o.reapplied_at, o.reapplied_by
    FROM opened o
    UNION
    SELECT link, 'pull_request', substring(link FROM '^https?://[^/]+/([^/]+/[^/]+)/'), p.number, p.stage, 'code_host',
           p.opened_at, p.closed_at, p.reverted_at, p.reverted_by, p.reapplied_at, p.reapplied_by
    FROM asked a, jsonb_array_elements_text(:question::jsonb -> 'urls') AS link,
         pull_request_told(:account, repository_link_now(link)) p
    WHERE p.stage IS NOT NULL AND (a.repo IS NULL OR p.repo_key = a.repo) AND link NOT IN (SELECT url FROM opened)
), revert AS MATERIALIZED (
    SELECT o.url, o.repo, r.kind, r.by, r.at
    FROM artifact o, LATERAL (VALUES ('reverted_by', o.reverted_by, o.reverted_at),
                                     ('reapplied_by', o.reapplied_by, o.reapplied_at)) AS r (kind, by, at)
    WHERE r.by IS NOT NULL
), node AS (
    SELECT run_evidence_node(run) AS node, (run).at FROM shown
    UNION ALL
    SELECT evidence_node(s.node, 'selection', (s.run).at, NULL, json_build_object(
        'broad_pool_size', (s.run).record -> 'broad_pool_size', 'refine_pool_size', (s.run).record -> 'refine_pool_size',
        'candidates_considered', (s.run).record -> 'candidates_considered', 'queries', run_queries(s.detail),
        'reasoning', left(s.detail ->> 'selection_reasoning_excerpt', 1000), 'more', s.more)), (s.run).at
    FROM selection s
    UNION ALL
    SELECT evidence_node(o.url, o.kind, o.opened_at, o.url, json_build_object(
        'repo', o.repo, 'number', o.number, 'stage', o.stage, 'stage_by', o.stage_by, 'opened_at', time_json(o.opened_at),
        'closed_at', time_json(o.closed_at), 'reverted_at', time_json(o.reverted_at), 'reverted_by', o.reverted_by,
        'reapplied_at', time_json(o.reapplied_at), 'reapplied_by', o.reapplied_by)), o.opened_at
    FROM artifact o
    UNION ALL
    SELECT evidence_node(r.by, 'pull_request', r.at, r.by, json_build_object(
        'repo', r.repo, 'number', substring(r.by FROM '/pull/([0-9]+)$')::bigint, 'stage', 'merged', 'opened_at', NULL,
        'closed_at', time_json(r.at))), r.at
    FROM (SELECT DISTINCT ON (by) * FROM revert WHERE by ~ '/pull/[0-9]+$' ORDER BY by) r
    WHERE r.by NOT IN (SELECT url FROM artifact)
), edge AS (
    SELECT evidence_edge((s.run).id::text, 'paper:' || c.arxiv_id, 'about', (s.run).at) AS edge
    FROM shown s JOIN considered c ON c.id = (s.run).id AND c.gate IS NULL
    UNION ALL SELECT evidence_edge(node, (run).id::text, 'part_of', (run).at) FROM selection
    UNION ALL
    SELECT evidence_edge(s.node, 'paper:' || c.arxiv_id, 'considered', (s.run).at, json_build_object(
        'accepted', c.gate IS NULL, 'gate', c.gate, 'reason', left(c.reason, 300), 'score', c.score))
    FROM selection s JOIN considered c ON c.id = (s.run).id AND c.place <= 50
    UNION ALL
    SELECT evidence_edge(s.node, (s.run).record ->> 'recommendation_id', 'selected', (s.run).at)
    FROM selection s WHERE (s.run).record ->> 'recommendation_id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
    UNION ALL SELECT evidence_edge(id::text, url, 'opened', opened_at) FROM opened
    UNION ALL SELECT evidence_edge(url, by, kind, at) FROM revert WHERE by ~ '/pull/[0-9]+$'
    UNION ALL SELECT evidence_edge(d.for, d.id::text, 'ran', (s.run).at) FROM dispatched d JOIN shown s ON (s.run).id = d.id
)
SELECT json_build_object(
    'nodes', (SELECT coalesce(json_agg(node ORDER BY at DESC), '[]') FROM node),
    'edges', (SELECT coalesce(json_agg(edge), '[]') FROM edge),
    'truncated', (SELECT count(*) FROM weighed) > (SELECT count(*) FROM shown)
                 OR (SELECT count(DISTINCT id) FROM passed WHERE is_open AND id NOT IN (SELECT id FROM named)) > 20,
    'hidden', (SELECT count(*) FROM tried WHERE NOT is_open) + (SELECT count(*) FROM passed WHERE NOT is_open),
    'runs', (SELECT count(*) FROM tried WHERE is_open),
    'runs_with_cost', (SELECT count(run_known_spend(t.spend_usd, t.spend_basis)) FROM tried t WHERE is_open),
    'cost_usd', (SELECT sum(run_known_spend(t.spend_usd, t.spend_basis)) FROM tried t WHERE is_open),
    'rejected', (SELECT count(*) FROM passed WHERE is_open));

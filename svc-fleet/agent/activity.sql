-- name: activity_get(account, repository) (read)
-- No row: the repository is outside the account's footprint.
WITH newest AS MATERIALIZED (
    SELECT r FROM run r
    WHERE r.account_id = :account AND r.repo_key = repository_key(:repository)
    ORDER BY r.at DESC, r.id DESC LIMIT 50
), total AS (
    SELECT coalesce(sum(d.runs), 0) AS runs, coalesce(sum(d.pull_requests), 0) AS pull_requests,
           coalesce(sum(d.failed), 0) AS failed, coalesce(sum(d.cost_runs), 0) AS cost_runs, sum(d.cost_usd) AS cost_usd
    FROM run_day d WHERE d.account_id = :account AND d.repo_key = repository_key(:repository)
), directions AS (
    SELECT (n.r).arxiv_id AS arxiv_id, max((n.r).interest_id) AS interest_id, count(*) AS runs, max((n.r).at) AS last_at,
           json_agg((n.r).outcome_kind ORDER BY (n.r).at DESC) AS outcomes
    FROM newest n WHERE (n.r).arxiv_id IS NOT NULL GROUP BY 1
)
SELECT json_build_object(
    'repo', f.repo,
    'runs', runs_listed(ARRAY(SELECT n.r FROM newest n ORDER BY (n.r).at DESC, (n.r).id DESC LIMIT 20), false),
    'events', fleet_chronology(:account, '-infinity', 'infinity', ARRAY[repository_key(:repository)]),
    'directions', (SELECT coalesce(json_agg(json_build_object(
                       'arxiv_id', d.arxiv_id, 'interest_id', d.interest_id, 'runs', d.runs, 'outcomes', d.outcomes,
                       'last_run_at', time_json(d.last_at)) ORDER BY d.last_at DESC, d.arxiv_id), '[]') FROM directions d),
    'summary', format('%s run%s, %s pull request%s opened, %s failed; cost %s',
                      t.runs, CASE WHEN t.runs <> 1 THEN 's' END,
                      t.pull_requests, CASE WHEN t.pull_requests <> 1 THEN 's' END, t.failed,
                      CASE WHEN t.cost_runs = 0 THEN 'unknown'
                           ELSE format('%s USD over %s of the runs', round(t.cost_usd, 2), t.cost_runs) END))
FROM repo_in_footprint(:account, repository_now(:repository)) AS f (repo), total t WHERE f.repo IS NOT NULL;

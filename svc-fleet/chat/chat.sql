-- name: chat_records_get(account, repository, limit) (read)
-- :limit is how many of its newest runs are given, which are whole as far as they have 1 MiB: a prompt shows far less of them. No
-- row: the repository is outside the account's footprint.
WITH newest AS MATERIALIZED (
    SELECT r FROM run r
    WHERE r.account_id = :account AND r.repo_key = repository_key(:repository)
    ORDER BY r.at DESC, r.id DESC LIMIT :limit
), installed AS (
    SELECT coalesce(jsonb_agg(jsonb_build_object(
               'agent', i.agent, 'provider', i.provider, 'status', i.status, 'installed_at', time_json(i.installed_at),
               'revoked_at', time_json(i.revoked_at)) ORDER BY i.id DESC), '[]') AS agents
    FROM (SELECT * FROM installation x
          WHERE x.account_id = :account AND x.repo_key = repository_key(:repository)
          ORDER BY x.id DESC LIMIT 5) i
), waiting AS (
    SELECT coalesce(jsonb_agg(jsonb_build_object('kind', d.kind, 'url', d.url, 'run_id', d.run_id,
                                                 'opened_at', time_json(d.opened_at)) ORDER BY d.opened_at), '[]') AS items
    FROM (SELECT * FROM deliverable x
          WHERE x.account_id = :account AND x.repo_key = repository_key(:repository) AND x.stage = 'open' AND x.kind <> 'other'
          ORDER BY x.opened_at DESC LIMIT 20) d
), period AS (
    SELECT today.day - 29 AS since, today.day AS until, ARRAY[repository_key(:repository)] AS repos
    FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS day) today
)
SELECT o.repo,
       runs_within(ARRAY(SELECT n.r FROM newest n ORDER BY (n.r).at DESC, (n.r).id DESC), false, 1048576) AS runs,
       i.agents, w.items AS waiting, f.sums AS month, fleet_sums(:account, '-infinity', 'infinity', p.repos) AS total,
       f.facts, p.since, p.until, f.merged
FROM repo_in_footprint(:account, repository_now(:repository)) AS o (repo), installed i, waiting w, period p,
     fleet_report(:account, p.since, p.until, p.repos, 'month') f
WHERE o.repo IS NOT NULL;

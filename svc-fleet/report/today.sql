-- name: today_measure (read)
-- A pull request of a repository of several accounts counts once, a run for each account that has it.
SELECT coalesce(sum(runs), 0) AS runs, coalesce(sum(cost_usd), 0) AS cost_usd,
       (SELECT count(DISTINCT url) FROM deliverable
        WHERE stage = 'merged' AND kind = 'pull_request' AND closed_at >= date_trunc('day', now())) AS merged
FROM run_day WHERE day = (now() AT TIME ZONE 'UTC')::date;

-- name: outcome_experiments(account, paper, may_read, is_limited, only_repository, only_project) (read)
-- :paper is as somebody writes it, :may_read whether the caller may see experiments, :is_limited whether its key is limited: to
-- :only_repository, and to :only_project, the project of its interest.
--
-- Returns one row: the paper's id (NULL: it is none), the newest 100 experiments that name it, the addresses of their pull
-- requests, how many of their evaluations have failed, and how many experiments the limit keeps back.
WITH found AS MATERIALIZED (
    SELECT e, NOT :is_limited::boolean OR experiment_is_of_key(e, :only_repository, :only_project::uuid) AS is_open
    FROM experiments_on_paper(:account, arxiv_id_of(:paper)) AS named JOIN experiment e ON e.id = named
    WHERE :may_read::boolean
), shown AS MATERIALIZED (
    SELECT e FROM found WHERE is_open ORDER BY (e).id DESC LIMIT 100
), evaluation AS (
    SELECT item ->> 'status' AS status FROM shown s, experiment_eval_runs(s.e) AS item
)
SELECT arxiv_id_of(:paper) AS arxiv_id,
       (SELECT coalesce(json_agg(json_build_object(
                   'experiment_id', (e).id, 'name', (e).name, 'status', (e).status, 'outcome', (e).outcome,
                   'decision', left((e).decision, 2000), 'pr_url', (e).pr_url, 'verdict', experiment_verdict(e),
                   'is_decided', trial_verdict((e).outcome, (e).status, NULL, NULL) IN ('worked', 'failed'),
                   'decided_at', (SELECT time_json(max(d.at)) FROM experiment_decisions(s.e) d)) ORDER BY (e).id DESC), '[]')
        FROM shown s) AS experiments,
       (SELECT coalesce(json_agg((e).pr_url) FILTER (WHERE (e).pr_url IS NOT NULL), '[]') FROM shown) AS urls,
       (SELECT json_build_object('runs', count(*), 'failed', count(*) FILTER (WHERE status IN ('failed', 'timed_out')))
        FROM evaluation) AS evaluations,
       (SELECT count(*) FROM found WHERE NOT is_open) AS hidden,
       (SELECT count(*) FROM found WHERE is_open) > 100 AS is_truncated;

-- name: outcome_experiments (read)
-- $1 account, $2 paper as somebody writes it, $3 whether the caller may see experiments, $4 whether its key is limited, $5 the repository
-- that it is limited to, $6 the project of its interest. One row: the paper's id (NULL: it is none), the newest 100 experiments that name
-- it, the addresses of their pull requests, how many of their evaluations have failed, and how many experiments the limit keeps back.
WITH found AS MATERIALIZED (
    SELECT e, NOT $4::boolean OR experiment_is_of_key(e, $5, $6::uuid) AS is_open
    FROM experiments_on_paper($1, arxiv_id_of($2)) AS named JOIN experiment e ON e.id = named
    WHERE $3::boolean
), shown AS MATERIALIZED (
    SELECT e FROM found WHERE is_open ORDER BY (e).id DESC LIMIT 100
), evaluation AS (
    SELECT item ->> 'status' AS status FROM shown s, experiment_eval_runs(s.e) AS item
)
SELECT arxiv_id_of($2) AS arxiv_id,
       (SELECT coalesce(json_agg(json_build_object(
                   'experiment_id', (e).id, 'name', (e).name, 'status', (e).status, 'outcome', (e).outcome,
                   'decision', left((e).decision, 2000), 'pr_url', (e).pr_url, 'verdict', experiment_verdict(e),
                   'is_decided', trial_verdict((e).outcome, (e).status, NULL, NULL) IN ('worked', 'failed'),
                   'decided_at', (SELECT time_json(max(d.at)) FROM experiment_decisions(s.e) d)) ORDER BY (e).id DESC), '[]')
        FROM shown s) AS experiments,
       (SELECT coalesce(json_agg((e).pr_url) FILTER (WHERE (e).pr_url IS NOT NULL), '[]') FROM shown) AS urls,
       (SELECT json_build_object('runs', count(*), 'failed', count(*) FILTER (WHERE status IN ('failed', 'timed_out'))) FROM evaluation) AS evaluations,
       (SELECT count(*) FROM found WHERE NOT is_open) AS hidden, (SELECT count(*) FROM found WHERE is_open) > 100 AS is_truncated;

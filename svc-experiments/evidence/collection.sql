-- name: collection_begin(account, experiment) (read)
-- Returns the experiment's part of the graph, what the other parts are asked about, and facts of the summary. No row: no such
-- experiment.
SELECT json_build_object('nodes', p.nodes, 'edges', p.edges) AS part, experiment_pull_request(e) AS pull_request,
       evidence_papers(e) AS arxiv_ids,
       json_build_object('arxiv_ids', evidence_papers(e), 'candidates', true,
                         'urls', CASE WHEN e.pr_url IS NULL THEN '[]'::json ELSE json_build_array(e.pr_url) END,
                         'runs', (SELECT coalesce(json_agg(json_build_object('repo', i.repo, 'run_id', i.run_id::text,
                                                                             'for', e.id || '/' || i.attempt)), '[]')
                                  FROM (SELECT * FROM implementation WHERE experiment_id = e.id AND run_id IS NOT NULL
                                        ORDER BY attempt DESC LIMIT 20) i)) AS of_fleet,
       evidence_eval_runs(e) AS eval_runs,
       experiment_verdict(e) AS verdict, e.pr_url,
       trial_verdict(e.outcome, e.status, NULL, NULL) IN ('worked', 'failed') AS is_decided,
       time_json(experiment_merged_at(e)) AS merged_at,
       (SELECT time_json(max(d.at)) FROM experiment_decisions(e) d) AS decided_at, e.outcome
FROM experiment e, experiment_evidence(e) p
WHERE e.account_id = :account AND e.id = :experiment;

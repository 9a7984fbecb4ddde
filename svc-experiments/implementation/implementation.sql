-- name: implementation_source(experiment, account) (read)
-- For struct context_source. Returns the experiment as GET replies it; what its brief needs, and the arXiv ids of its papers.
SELECT experiment_full_json(e),
       json_build_object('id', e.id, 'name', e.name, 'hypothesis', e.hypothesis, 'target_metric', e.target_metric,
                         'launch_context', coalesce(e.launch_context, '{}'), 'papers', experiment_papers(e)) AS for_brief
FROM experiment e WHERE id = :experiment AND account_id = :account;

-- name: implementation_reference(experiment, account) (read)
-- A row with NULL: the experiment has no launch context.
SELECT CASE WHEN launch_context IS NOT NULL THEN json_build_object(
           'code_repository', launch_context -> 'code_repository',
           'container_image', launch_context -> 'container_image',
           'key_methods', coalesce(nullif(launch_context -> 'key_methods', 'null'), '[]'),
           'implementation_plan', launch_context -> 'implementation_plan') END
FROM experiment WHERE id = :experiment AND account_id = :account;

-- name: implementation_status(experiment, account) (read)
SELECT json_build_object(
    'experiment_id', e.id, 'pipeline_status', e.pipeline_status, 'task_id', i.task_id, 'pr_url', e.pr_url,
    'pr_status', e.pr_status, 'branch_name', e.branch_name, 'steps', coalesce(implementation_steps_json(i), '[]'),
    'started_at', time_json(i.started_at), 'finished_at', time_json(i.finished_at),
    'duration_seconds', round(extract(epoch FROM i.finished_at - i.started_at), 3), 'error', i.error,
    'run_url', i.run_url,
    'summary', (SELECT summary FROM report WHERE experiment_id = e.id AND attempt = i.attempt AND summary IS NOT NULL
                ORDER BY id DESC LIMIT 1),
    'artifacts', (SELECT artifacts FROM report WHERE experiment_id = e.id AND attempt = i.attempt AND artifacts IS NOT NULL
                  ORDER BY id DESC LIMIT 1))
FROM experiment e
LEFT JOIN LATERAL (SELECT * FROM implementation WHERE experiment_id = e.id ORDER BY attempt DESC LIMIT 1) i ON true
WHERE e.id = :experiment AND e.account_id = :account;

-- name: implementation_report(experiment, account, by_key, report, request_id)
-- `is_taken` false: the report contradicts the completed implementation.
SELECT json_build_object('experiment_id', :experiment::uuid, 'accepted', true, 'pipeline_status', pipeline_status), is_taken
FROM experiment_report(:experiment, :account, :by_key, :report, :request_id);

-- name: provision_interest (read)
-- $1 account, $2 interest.
SELECT nullif(model_provider, '') AS provider, source_repo_url, context FROM interest WHERE account_id = $1 AND id = $2;

-- name: provision_start
-- $1 account, $2 interest, $3 what is wanted, $4 the names of the steps as a JSON array, $5 request id.
SELECT outcome, started_task, started_task ->> 'task_id' AS task_id
FROM provision_start($1, $2, $3::jsonb || jsonb_build_object('repo', repository_hold($3::jsonb ->> 'repo')), ARRAY(SELECT jsonb_array_elements_text($4::jsonb)), $5);

-- name: provision_task_get (read)
-- $1 account, $2 interest, $3 task.
SELECT (task_json(t)::jsonb || jsonb_build_object('steps', provision_steps_json(t)))
FROM task t WHERE t.id = $3 AND t.account_id = $1 AND t.kind = 'provision' AND t.input ->> 'interest_id' = $2::uuid::text;

-- name: provision_status_get (read)
-- $1 account, $2 interest, $3 version of the workflow (NULL: none).
SELECT jsonb_build_object(
           'provisioned', coalesce(p.installation_id IS NOT NULL AND p.revoked_at IS NULL, false),
           'state', provision_state(p), 'repo', p.repo, 'agent', p.agent, 'pr_url', p.pr_url,
           'workflow_outdated', workflow_is_outdated(p, $3),
           'installation_id', p.installation_id, 'task_id', p.task_id, 'updated_at', time_json(p.updated_at),
           'paused', i.agent_paused_at IS NOT NULL,
           'next_run_at', CASE WHEN agent_obstacle(p, i) IS NULL THEN time_json(nullif(p.next_run_at, 'infinity')) END)
FROM interest i LEFT JOIN provisioning p ON p.interest_id = i.id WHERE i.account_id = $1 AND i.id = $2;

-- name: provision_repo (read)
-- $1 account, $2 interest: the repository, and whether an agent is installed there.
SELECT p.repo, coalesce(p.installation_id IS NOT NULL AND p.revoked_at IS NULL, false) AS is_installed
FROM interest i LEFT JOIN provisioning p ON p.interest_id = i.id WHERE i.account_id = $1 AND i.id = $2;

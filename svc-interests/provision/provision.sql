-- name: provision_interest(account, interest) (read)
SELECT nullif(model_provider, '') AS provider, source_repo_url, context
FROM interest
WHERE account_id = :account AND id = :interest;

-- name: provision_start(account, interest, wanted, steps, request_id)
-- :steps is an array of the names of the steps.
SELECT outcome, started_task, started_task ->> 'task_id' AS task_id
FROM provision_start(:account, :interest,
                     :wanted::jsonb || jsonb_build_object('repo', repository_hold(:wanted::jsonb ->> 'repo')),
                     ARRAY(SELECT jsonb_array_elements_text(:steps::jsonb)),
                     :request_id);

-- name: provision_task_get(account, interest, task) (read)
SELECT (task_json(t)::jsonb || jsonb_build_object('steps', provision_steps_json(t)))
FROM task t
WHERE t.id = :task AND t.account_id = :account AND t.kind = 'provision' AND t.input ->> 'interest_id' = :interest::uuid::text;

-- name: provision_status_get(account, interest, workflow_version) (read)
-- A :workflow_version of NULL: there is none.
SELECT jsonb_build_object(
           'provisioned', coalesce(p.installation_id IS NOT NULL AND p.revoked_at IS NULL, false),
           'state', provision_state(p), 'repo', p.repo, 'agent', p.agent, 'pr_url', p.pr_url,
           'workflow_outdated', workflow_is_outdated(p, :workflow_version),
           'installation_id', p.installation_id, 'task_id', p.task_id, 'updated_at', time_json(p.updated_at),
           'paused', i.agent_paused_at IS NOT NULL,
           'next_run_at', CASE WHEN agent_obstacle(p, i) IS NULL THEN time_json(nullif(p.next_run_at, 'infinity')) END)
FROM interest i LEFT JOIN provisioning p ON p.interest_id = i.id
WHERE i.account_id = :account AND i.id = :interest;

-- name: provision_repo(account, interest) (read)
-- Returns the repository, and whether an agent is installed there.
SELECT p.repo, coalesce(p.installation_id IS NOT NULL AND p.revoked_at IS NULL, false) AS is_installed
FROM interest i LEFT JOIN provisioning p ON p.interest_id = i.id
WHERE i.account_id = :account AND i.id = :interest;

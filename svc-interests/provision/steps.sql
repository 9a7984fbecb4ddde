-- name: step_load(interest, task) (read)
-- Returns the row of provisioning and what the steps need beside it, as JSON. A :task of NULL: whichever. No row: the interest
-- was deleted, or provisioned again.
SELECT to_jsonb(p) || jsonb_build_object(
           'pool_is_ready', i.pool_status = 'ready', 'is_paused', i.agent_paused_at IS NOT NULL, 'interest_name', i.name,
           'key_is_fresh', coalesce(p.key_expires_at > now() + interval '30 days' AND lower(p.key_repo) = lower(p.repo), false),
           'is_taken', repo_is_taken(p.account_id, p.interest_id, p.repo),
           'is_shared', EXISTS (SELECT FROM others_on_repo(p)),
           'maker_id', (SELECT t.input ->> 'maker_id' FROM task t WHERE t.id = p.task_id),
           'committed_version', coalesce((SELECT s.output ->> 'committed_version' FROM provision_step s
                                          WHERE s.task_id = p.task_id AND s.name = 'workflow'),
                                         p.workflow_version), -- a process of the release before has noted it there
           'steps', (SELECT jsonb_object_agg(s.name, s.status) FROM provision_step s WHERE s.task_id = p.task_id))
FROM provisioning p JOIN interest i ON i.id = p.interest_id
WHERE p.interest_id = :interest AND (:task::uuid IS NULL OR p.task_id = :task);

-- name: step_begin(task, step)
UPDATE provision_step SET
    status = 'running', attempt = attempt + 1, started_at = coalesce(started_at, now()), message = NULL
WHERE task_id = :task AND name = :step;

-- name: step_end(task, step, status, message, output)
-- What :output says of columns of provisioning is stored there, too.
WITH ended AS (
    UPDATE provision_step SET status = :status, message = :message, output = :output, finished_at = now()
    WHERE task_id = :task AND name = :step
)
UPDATE provisioning p SET
    (repo, key_id, key_repo, key_expires_at, model_key_missing, work_branch, workflow_version, commit_sha,
     pr_number, pr_url, merged_at, closed_at, proposed_version, installation_id, dispatched_at) =
    (SELECT n.repo, n.key_id, n.key_repo, n.key_expires_at, n.model_key_missing, n.work_branch, n.workflow_version, n.commit_sha,
            n.pr_number, n.pr_url, n.merged_at, n.closed_at, n.proposed_version, n.installation_id, n.dispatched_at
     FROM jsonb_populate_record(p, :output) n),
    updated_at = now()
WHERE p.task_id = :task;

-- name: step_supersede(interest)
-- Ends the agents of other accounts on its repository.
SELECT task_put('key_revoke', o.account_id, jsonb_build_object('key_id', o.key_id), NULL, NULL)
FROM provisioning p, others_on_repo(p) o
WHERE p.interest_id = :interest;

-- name: step_changes(task) (read)
-- Returns the names of the steps that changed something.
SELECT coalesce(jsonb_agg(name ORDER BY position), '[]')
FROM provision_step
WHERE task_id = :task AND (output -> 'changed')::boolean;

-- name: step_lock(interest)
-- Locks the row before the task ends, so that what is told of it meanwhile comes before or after both.
SELECT FROM provisioning WHERE interest_id = :interest FOR UPDATE;

-- name: first_run_end(interest, installation)
UPDATE provisioning SET dispatched_at = coalesce(dispatched_at, now()), updated_at = now()
WHERE interest_id = :interest AND installation_id = :installation;

-- name: first_run_queue(interest)
SELECT first_run_queue(:interest);

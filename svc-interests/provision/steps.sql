-- name: step_load (read)
-- $1 interest, $2 task (NULL: whichever): the row of provisioning and what the steps need beside it, as JSON. No row: the
-- interest was deleted, or provisioned again.
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
FROM provisioning p JOIN interest i ON i.id = p.interest_id WHERE p.interest_id = $1 AND ($2::uuid IS NULL OR p.task_id = $2);

-- name: step_begin
-- $1 task, $2 step.
UPDATE provision_step SET status = 'running', attempt = attempt + 1, started_at = coalesce(started_at, now()), message = NULL
WHERE task_id = $1 AND name = $2;

-- name: step_end
-- $1 task, $2 step, $3 status, $4 message, $5 output: what it says of columns of provisioning is stored there, too.
WITH ended AS (
    UPDATE provision_step SET status = $3, message = $4, output = $5, finished_at = now() WHERE task_id = $1 AND name = $2
)
UPDATE provisioning p SET
    (repo, key_id, key_repo, key_expires_at, model_key_missing, work_branch, workflow_version, commit_sha,
     pr_number, pr_url, merged_at, closed_at, proposed_version, installation_id, dispatched_at) =
    (SELECT n.repo, n.key_id, n.key_repo, n.key_expires_at, n.model_key_missing, n.work_branch, n.workflow_version, n.commit_sha,
            n.pr_number, n.pr_url, n.merged_at, n.closed_at, n.proposed_version, n.installation_id, n.dispatched_at
     FROM jsonb_populate_record(p, $5) n),
    updated_at = now()
WHERE p.task_id = $1;

-- name: step_supersede
-- $1 interest: the agents of other accounts on its repository end.
SELECT task_put('key_revoke', o.account_id, jsonb_build_object('key_id', o.key_id), NULL, NULL)
FROM provisioning p, others_on_repo(p) o WHERE p.interest_id = $1;

-- name: step_changes (read)
-- $1 task: the names of the steps that changed something.
SELECT coalesce(jsonb_agg(name ORDER BY position), '[]') FROM provision_step
WHERE task_id = $1 AND (output -> 'changed')::boolean;

-- name: step_lock
-- $1 interest. Before the task ends, so that what is told of the row meanwhile comes before or after both.
SELECT FROM provisioning WHERE interest_id = $1 FOR UPDATE;

-- name: first_run_end
-- $1 interest, $2 installation.
UPDATE provisioning SET dispatched_at = coalesce(dispatched_at, now()), updated_at = now()
WHERE interest_id = $1 AND installation_id = $2;

-- name: first_run_queue
-- $1 interest.
SELECT first_run_queue($1);

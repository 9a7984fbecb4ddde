-- name: renewals_run(workflow_version, settled_ms, limit)
-- Starts the renewals of at most :limit agents. :workflow_version is that of this process. Returns how many. NULL: another
-- version was seen in the last :settled_ms.
SELECT renewals_run(:workflow_version, :settled_ms * interval '1 millisecond', :limit::int);

-- name: renewal_load(interest) (read)
-- Returns its provisioning. No row: there is no agent at work.
SELECT to_jsonb(p)
FROM provisioning p
WHERE p.interest_id = :interest AND provision_state(p) = 'active';

-- name: renewal_is_told(account, input, error) (read)
-- :input is that of a renewal. Returns whether the account was told of :error before, as an equal task failed.
SELECT EXISTS (SELECT FROM task t
               WHERE t.account_id = :account AND t.kind = 'workflow_renewal' AND t.status = 'failed'
                 AND t.input = :input::jsonb AND starts_with(:error, t.error));

-- name: renewal_in_place(interest, task, workflow_version)
-- The default branch has :workflow_version. :task is the provisioning task.
UPDATE provisioning SET
    workflow_version = :workflow_version, proposed_version = NULL, updated_at = now()
WHERE interest_id = :interest AND task_id = :task;

-- name: renewal_propose(interest, task, workflow_version, branch, pr_number, pr_url)
-- :task is the provisioning task.
UPDATE provisioning SET
    proposed_version = :workflow_version, work_branch = :branch, pr_number = :pr_number::integer, pr_url = :pr_url,
    closed_at = NULL, updated_at = now()
WHERE interest_id = :interest AND task_id = :task;

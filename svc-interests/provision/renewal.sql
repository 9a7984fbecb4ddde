-- name: renewals_run
-- $1 version of this process, $2 milliseconds without another one, $3 agents: start the renewals of so many. How many; null: there is
-- another one.
SELECT renewals_run($1, $2 * interval '1 millisecond', $3::int);

-- name: renewal_load (read)
-- $1 interest: its provisioning. No row: there is no agent at work.
SELECT to_jsonb(p) FROM provisioning p WHERE p.interest_id = $1 AND provision_state(p) = 'active';

-- name: renewal_is_told (read)
-- $1 account, $2 input of a renewal, $3 what is wrong. Whether the account was told that before, as an equal task failed.
SELECT EXISTS (SELECT FROM task t WHERE t.account_id = $1 AND t.kind = 'workflow_renewal' AND t.status = 'failed' AND t.input = $2::jsonb
                                    AND starts_with($3, t.error));

-- name: renewal_in_place
-- $1 interest, $2 its provisioning task, $3 version, which the default branch has.
UPDATE provisioning SET workflow_version = $3, proposed_version = NULL, updated_at = now() WHERE interest_id = $1 AND task_id = $2;

-- name: renewal_propose
-- $1 interest, $2 its provisioning task, $3 version, $4 branch, $5 number and $6 address of the pull request.
UPDATE provisioning SET
    proposed_version = $3, work_branch = $4, pr_number = $5::integer, pr_url = $6, closed_at = NULL, updated_at = now()
WHERE interest_id = $1 AND task_id = $2;

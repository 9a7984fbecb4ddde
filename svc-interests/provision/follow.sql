-- name: follow_pull_request(repository, pr_number, state, is_merged, occurred_at, repository_number)
-- A pull request that is closed can be opened again, but not by an event from before, which comes late.
WITH told AS (
    UPDATE provisioning p SET
        merged_at = CASE WHEN :is_merged::boolean THEN coalesce(p.merged_at, :occurred_at::timestamptz) ELSE p.merged_at END,
        closed_at = CASE WHEN :is_merged::boolean THEN NULL
                         WHEN p.closed_at > :occurred_at::timestamptz THEN p.closed_at
                         WHEN :state = 'closed' THEN :occurred_at::timestamptz END,
        workflow_version = CASE WHEN :is_merged::boolean THEN coalesce(p.proposed_version, p.workflow_version)
                                ELSE p.workflow_version END,
        proposed_version = CASE WHEN NOT :is_merged::boolean THEN p.proposed_version END,
        updated_at = now()
    FROM (SELECT lower(repository_hold(:repository, :repository_number)) AS repo) held
    WHERE lower(p.repo) = held.repo AND p.pr_number = :pr_number::bigint
    RETURNING p.interest_id
)
SELECT interest_id FROM told;

-- name: follow_app(repository, removed_at, repository_number)
-- :removed_at is when the app was removed from the repository. NULL: it is there.
UPDATE provisioning p SET
    app_removed_at = :removed_at::timestamptz,
    updated_at = now()
FROM (SELECT lower(repository_hold(:repository, :repository_number)) AS repo) held
WHERE lower(p.repo) = held.repo AND (p.app_removed_at IS NULL) <> (:removed_at::timestamptz IS NULL);

-- name: follow_key(account, key)
-- :key was revoked. On another repository than the one that is wanted now, it is forgotten.
UPDATE provisioning SET
    revoked_at = CASE WHEN lower(key_repo) = lower(repo) THEN now() END,
    key_id = CASE WHEN lower(key_repo) = lower(repo) THEN key_id END,
    key_expires_at = CASE WHEN lower(key_repo) = lower(repo) THEN key_expires_at END,
    key_repo = CASE WHEN lower(key_repo) = lower(repo) THEN key_repo END,
    updated_at = now()
WHERE account_id = :account AND key_id = :key AND revoked_at IS NULL;

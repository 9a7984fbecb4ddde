-- name: follow_pull_request
-- $1 repo, $2 number, $3 state, $4 whether it is merged, $5 when, $6 number of the repository. One that is closed can be opened again.
WITH told AS (
    UPDATE provisioning p SET
        merged_at = CASE WHEN $4::boolean THEN coalesce(p.merged_at, $5::timestamptz) ELSE p.merged_at END,
        closed_at = CASE WHEN $3 = 'closed' AND NOT $4::boolean THEN $5::timestamptz END,
        workflow_version = CASE WHEN $4::boolean THEN coalesce(p.proposed_version, p.workflow_version) ELSE p.workflow_version END,
        proposed_version = CASE WHEN NOT $4::boolean THEN p.proposed_version END,
        updated_at = now()
    FROM (SELECT lower(repository_hold($1, $6)) AS repo) held
    WHERE lower(p.repo) = held.repo AND p.pr_number = $2::bigint
    RETURNING p.interest_id
)
SELECT interest_id FROM told;

-- name: follow_app
-- $1 repo, $2 when the app was removed from it; NULL: it is there. $3 number of the repository.
UPDATE provisioning p SET app_removed_at = $2::timestamptz, updated_at = now()
FROM (SELECT lower(repository_hold($1, $3)) AS repo) held
WHERE lower(p.repo) = held.repo AND (p.app_removed_at IS NULL) <> ($2::timestamptz IS NULL);

-- name: follow_key
-- $1 account, $2 key, which was revoked. On another repository than the one that is wanted now, it is forgotten.
UPDATE provisioning SET
    revoked_at = CASE WHEN lower(key_repo) = lower(repo) THEN now() END,
    key_id = CASE WHEN lower(key_repo) = lower(repo) THEN key_id END,
    key_expires_at = CASE WHEN lower(key_repo) = lower(repo) THEN key_expires_at END,
    key_repo = CASE WHEN lower(key_repo) = lower(repo) THEN key_repo END,
    updated_at = now()
WHERE account_id = $1 AND key_id = $2 AND revoked_at IS NULL;

-- original-sha256: 9d7357f87720f02c50302e87821f0c1391ae3b96d8028da898f639b36e008ead
--
-- A repository counts for an interest once the steps have proved it: `key_repo` is set after the code host has said that the account
-- may push there. What is only wanted, in `repo`, holds nothing, except against another interest of the account while a task runs.

-- An agent that was to move elsewhere and did not, on a repository that another interest of the account has taken meanwhile: its key
-- ends.
WITH lost AS (
    SELECT p.interest_id, p.account_id, p.key_id
    FROM provisioning p
    WHERE p.revoked_at IS NULL AND lower(p.key_repo) <> lower(p.repo)
      AND EXISTS (SELECT FROM provisioning o
                  WHERE o.account_id = p.account_id AND o.interest_id <> p.interest_id AND o.revoked_at IS NULL
                    AND lower(o.key_repo) = lower(p.key_repo))
), ended AS (
    UPDATE provisioning p SET key_id = NULL, key_repo = NULL, key_expires_at = NULL
    FROM lost l WHERE l.interest_id = p.interest_id
)
SELECT task_put('key_revoke', l.account_id, jsonb_build_object('key_id', l.key_id), NULL, NULL) FROM lost l;

DROP INDEX provisioning_repo;
CREATE UNIQUE INDEX provisioning_key_repo ON provisioning (account_id, lower(key_repo)) WHERE revoked_at IS NULL;
CREATE INDEX provisioning_by_key_repo ON provisioning (lower(key_repo));

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

-- The agents of other accounts that have a key in the secrets of a repository.
CREATE OR REPLACE FUNCTION others_on_repo(p provisioning) RETURNS SETOF provisioning LANGUAGE sql STABLE AS $$
    SELECT o.* FROM provisioning o
    WHERE lower(o.key_repo) = lower(p.repo) AND o.account_id <> p.account_id AND o.revoked_at IS NULL AND o.key_expires_at > now()
$$;

-- Whether a repository works for another interest of the account.
CREATE FUNCTION repo_is_taken(account uuid, interest uuid, of_repo text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM provisioning p
        WHERE p.account_id = account AND p.interest_id <> interest AND p.revoked_at IS NULL
          AND lower(p.key_repo) = lower(of_repo))
$$;

-- Start the task that provisions an interest, {"repo", "agent", "provider", "branch", "auto_merge"}. Starts of an account wait for
-- each other, so that two interests do not get one repository.
--
--   outcome  `started`; `repeated`: the same is under way, `started_task` is its task; `in_progress`: something else is;
--            `taken`: the repository works for another interest; `no_interest`
CREATE OR REPLACE FUNCTION provision_start(account uuid, interest uuid, given jsonb, step_names text[], request_id text,
                                           OUT outcome text, OUT started_task json) LANGUAGE plpgsql AS $$
DECLARE
    wanted jsonb := given || jsonb_build_object('interest_id', interest);
    t task;
BEGIN
    PERFORM account_lock(account, false);
    PERFORM FROM account_guard g WHERE g.id = account FOR NO KEY UPDATE;
    PERFORM FROM interest i WHERE i.id = interest AND i.account_id = account FOR UPDATE;
    IF NOT FOUND THEN
        outcome := 'no_interest';
        RETURN;
    END IF;
    SELECT x.* INTO t FROM provisioning p JOIN task x ON x.id = p.task_id
    WHERE p.interest_id = interest AND x.status IN ('pending', 'running');
    IF FOUND THEN
        outcome := CASE WHEN t.input = wanted THEN 'repeated' ELSE 'in_progress' END;
        started_task := task_json(t);
        RETURN;
    END IF;
    IF repo_is_taken(account, interest, given ->> 'repo')
       OR EXISTS (SELECT FROM provisioning p JOIN task x ON x.id = p.task_id
                  WHERE p.account_id = account AND p.interest_id <> interest AND lower(p.repo) = lower(given ->> 'repo')
                    AND x.status IN ('pending', 'running')) THEN
        outcome := 'taken';
        RETURN;
    END IF;
    t := task_start('provision', account, wanted, request_id);
    INSERT INTO provision_step (task_id, position, name)
    SELECT t.id, step.position, step.name FROM unnest(step_names) WITH ORDINALITY AS step (name, position)
    ON CONFLICT DO NOTHING;
    -- What was made in another repository, and an installation and a key that were revoked, are of the past.
    DELETE FROM provisioning p
    WHERE p.interest_id = interest AND p.key_id IS NULL AND lower(p.repo) <> lower(given ->> 'repo');
    INSERT INTO provisioning AS p (interest_id, account_id, repo, agent, provider, branch, auto_merge, task_id)
    VALUES (interest, account, given ->> 'repo', given ->> 'agent', given ->> 'provider', given ->> 'branch',
            (given ->> 'auto_merge')::boolean, t.id)
    ON CONFLICT (interest_id) DO UPDATE SET
        repo = excluded.repo, agent = excluded.agent, provider = excluded.provider, branch = excluded.branch,
        auto_merge = excluded.auto_merge, task_id = excluded.task_id, revoked_at = NULL, app_removed_at = NULL,
        key_id = CASE WHEN p.revoked_at IS NULL THEN p.key_id END,
        key_repo = CASE WHEN p.revoked_at IS NULL THEN p.key_repo END,
        key_expires_at = CASE WHEN p.revoked_at IS NULL THEN p.key_expires_at END,
        installation_id = CASE WHEN p.revoked_at IS NULL AND lower(p.repo) = lower(excluded.repo) THEN p.installation_id END,
        dispatched_at = CASE WHEN p.revoked_at IS NULL AND lower(p.repo) = lower(excluded.repo) THEN p.dispatched_at END,
        pr_number = CASE WHEN lower(p.repo) = lower(excluded.repo) THEN p.pr_number END,
        pr_url = CASE WHEN lower(p.repo) = lower(excluded.repo) THEN p.pr_url END,
        merged_at = CASE WHEN lower(p.repo) = lower(excluded.repo) THEN p.merged_at END,
        closed_at = CASE WHEN lower(p.repo) = lower(excluded.repo) THEN p.closed_at END,
        updated_at = now();
    outcome := 'started';
    started_task := task_json(t);
END $$;

-- As of 0020_proved_repo.sql. `given` has the key on whose behalf the agent's key is made, `maker_id`; whoever asks, it is the same
-- request.
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
        outcome := CASE WHEN t.input - 'maker_id' = wanted - 'maker_id' THEN 'repeated' ELSE 'in_progress' END;
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

-- The steps as the API shows them; the one in which a task failed has failed.
CREATE OR REPLACE FUNCTION provision_steps_json(t task) RETURNS json LANGUAGE sql STABLE AS $$
    SELECT coalesce(json_agg(json_build_object(
        'name', s.name,
        'status', CASE WHEN t.status = 'failed' AND s.status = 'running' THEN 'failed' ELSE s.status END,
        'message', CASE WHEN t.status = 'failed' AND s.status = 'running' THEN t.error ELSE s.message END,
        'started_at', time_json(s.started_at), 'finished_at', time_json(s.finished_at)) ORDER BY s.position), '[]')
    FROM provision_step s WHERE s.task_id = t.id
$$;

-- Whether the key in the secret of the repository is valid no more: its runs end before they do anything.
CREATE OR REPLACE FUNCTION key_has_expired(p provisioning) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(p.key_expires_at <= now(), false)
$$;

-- `none`, `in_progress`, `awaiting_merge`, `active`, `revoked` or `failed`.
CREATE OR REPLACE FUNCTION provision_state(p provisioning) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p.interest_id IS NULL THEN 'none'
                WHEN t.status IN ('pending', 'running') THEN 'in_progress'
                WHEN p.revoked_at IS NOT NULL THEN 'revoked'
                WHEN t.status = 'failed' OR p.installation_id IS NULL OR p.app_removed_at IS NOT NULL OR key_has_expired(p) THEN 'failed'
                WHEN p.merged_at IS NOT NULL THEN 'active'
                WHEN p.closed_at IS NOT NULL THEN 'failed'
                ELSE 'awaiting_merge' END
    FROM (SELECT) one LEFT JOIN task t ON t.id = p.task_id
$$;

-- Whether a repository works for another interest of the account.
CREATE OR REPLACE FUNCTION repo_is_taken(account uuid, interest uuid, of_repo text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM provisioning p
        WHERE p.account_id = account AND p.interest_id <> interest AND p.revoked_at IS NULL
          AND lower(p.key_repo) = lower(of_repo))
$$;

-- The agents of other accounts that have a key in the secrets of a repository.
CREATE OR REPLACE FUNCTION others_on_repo(p provisioning) RETURNS SETOF provisioning LANGUAGE sql STABLE AS $$
    SELECT o.* FROM provisioning o
    WHERE lower(o.key_repo) = lower(p.repo) AND o.account_id <> p.account_id AND o.revoked_at IS NULL AND o.key_expires_at > now()
$$;

-- Start the task that provisions an interest, {"repo", "agent", "provider", "branch", "auto_merge"}. Starts of an account wait for
-- each other, so that two interests do not get one repository. `given` also has the key on whose behalf the agent's key is made,
-- `maker_id`; whoever asks, it is the same request.
--
--   outcome  `started`; `repeated`: the same is under way, `started_task` is its task; `in_progress`: something else is;
--            `taken`: the repository works for another interest; `no_interest`
CREATE OR REPLACE FUNCTION provision_start(account uuid, interest uuid, given jsonb, step_names text[], request_id text,
                                           OUT outcome text, OUT started_task json) LANGUAGE plpgsql AS $$
DECLARE
    wanted jsonb := given || jsonb_build_object('interest_id', interest);
    t task;
BEGIN
    PERFORM account_turn(account);
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
        proposed_version = CASE WHEN lower(p.repo) = lower(excluded.repo) THEN p.proposed_version END,
        updated_at = now();
    outcome := 'started';
    started_task := task_json(t);
END $$;

-- The key of an interest that is deleted is revoked, and with it the agent. That of a deleted account is already.
CREATE OR REPLACE FUNCTION provisioning_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.key_id IS NOT NULL AND NOT EXISTS (SELECT FROM deleted_account d WHERE d.id = OLD.account_id) THEN
        PERFORM task_put('key_revoke', OLD.account_id, jsonb_build_object('key_id', OLD.key_id), NULL, NULL);
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER provisioning_end AFTER DELETE ON provisioning FOR EACH ROW EXECUTE FUNCTION provisioning_end();

-- Queue the first run of an agent if it is ready for it. The row is locked before it is looked at: of two transactions that
-- make it ready together, the later one sees both.
CREATE OR REPLACE FUNCTION first_run_queue(of_interest uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM provisioning p WHERE p.interest_id = of_interest FOR UPDATE;
    PERFORM task_put('first_run', p.account_id, jsonb_build_object('interest_id', p.interest_id, 'repo', p.repo), NULL, NULL)
    FROM provisioning p JOIN interest i ON i.id = p.interest_id
    WHERE p.interest_id = of_interest AND provision_state(p) = 'active' AND p.dispatched_at IS NULL
      AND NOT p.model_key_missing AND i.pool_status = 'ready' AND i.agent_paused_at IS NULL;
END $$;

-- An agent may have waited for the pool.
CREATE OR REPLACE FUNCTION pool_became_ready() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM first_run_queue(NEW.id);
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER pool_became_ready AFTER UPDATE OF pool_status ON interest FOR EACH ROW
WHEN (NEW.pool_status = 'ready' AND OLD.pool_status <> 'ready') EXECUTE FUNCTION pool_became_ready();

-- Notify the account how a provisioning has ended. A task ends after its last step is stored.
CREATE OR REPLACE FUNCTION provision_announce() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM message_emit('events.interests', 'provisioning.' || NEW.status, NEW.account_id, jsonb_build_object(
        'interest_id', p.interest_id, 'repo', p.repo, 'agent', p.agent, 'task_id', NEW.id, 'pr_url', p.pr_url,
        'merged', p.merged_at IS NOT NULL AND p.proposed_version IS NULL, 'changed', coalesce(NEW.result -> 'changed', '[]'), 'error', NEW.error,
        'url', '/console/interests/' || p.interest_id), NEW.request_id)
    FROM provisioning p WHERE p.task_id = NEW.id;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER provision_announce AFTER UPDATE OF status ON task FOR EACH ROW
WHEN (NEW.kind = 'provision' AND NEW.status IN ('completed', 'failed')) EXECUTE FUNCTION provision_announce();

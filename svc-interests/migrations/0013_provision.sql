-- The agent that works on a repository for an interest. What the steps of its provisioning task have found and made:
--
--   repo               as the code host writes it
--   branch             on which the workflow is proposed
--   task_id            the newest provisioning task
--   default_branch     of the repository
--   key_id             the agent's key, which is in the secrets of `key_repo`
--   work_branch        on which the current workflow is, whose content has the hash `workflow_version`
--   pr_number, pr_url  the pull request that brings the workflow; merged_at, closed_at: what became of it
--   installation_id    of svc-fleet; null until the agent is installed
--   dispatched_at      when the first run was started
--   revoked_at         when the agent's key was revoked
--   app_removed_at     when the code host's app was removed from the repository
CREATE TABLE provisioning (
    interest_id       uuid PRIMARY KEY REFERENCES interest ON DELETE CASCADE,
    account_id        uuid NOT NULL,
    repo              text NOT NULL,
    agent             text NOT NULL,
    provider          text NOT NULL,
    branch            text NOT NULL,
    auto_merge        boolean NOT NULL,
    task_id           uuid NOT NULL,
    default_branch    text,
    key_id            uuid,
    key_repo          text,
    key_expires_at    timestamptz,
    model_key_missing boolean NOT NULL DEFAULT false,
    work_branch       text,
    workflow_version  text,
    commit_sha        text,
    pr_number         integer,
    pr_url            text,
    merged_at         timestamptz,
    closed_at         timestamptz,
    installation_id   uuid,
    dispatched_at     timestamptz,
    revoked_at        timestamptz,
    app_removed_at    timestamptz,
    updated_at        timestamptz NOT NULL DEFAULT now(),
    CHECK ((key_id IS NULL) = (key_repo IS NULL) AND (key_id IS NULL) = (key_expires_at IS NULL))
);

-- A repository has one workflow and one key, so it works for one interest of an account.
CREATE UNIQUE INDEX provisioning_repo ON provisioning (account_id, lower(repo)) WHERE revoked_at IS NULL;
CREATE INDEX provisioning_by_repo ON provisioning (lower(repo));
CREATE INDEX provisioning_by_key ON provisioning (key_id);
CREATE TRIGGER account_required BEFORE INSERT ON provisioning FOR EACH ROW EXECUTE FUNCTION account_required();

-- The steps of a provisioning task. `output` is what the step found and made, by column of provisioning; its member
-- `changed` says whether it changed anything.
CREATE TABLE provision_step (
    task_id     uuid NOT NULL REFERENCES task ON DELETE CASCADE,
    position    smallint NOT NULL,
    name        text NOT NULL,
    status      text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'completed', 'skipped')),
    attempt     integer NOT NULL DEFAULT 0,
    message     text,
    output      jsonb NOT NULL DEFAULT '{}',
    started_at  timestamptz,
    finished_at timestamptz,
    PRIMARY KEY (task_id, name)
);

-- The steps as the API shows them; the one in which a task failed has failed.
CREATE FUNCTION provision_steps_json(t task) RETURNS json LANGUAGE sql STABLE AS $$
    SELECT coalesce(json_agg(json_build_object(
        'name', s.name,
        'status', CASE WHEN t.status = 'failed' AND s.status = 'running' THEN 'failed' ELSE s.status END,
        'message', CASE WHEN t.status = 'failed' AND s.status = 'running' THEN t.error ELSE s.message END,
        'started_at', time_json(s.started_at), 'finished_at', time_json(s.finished_at)) ORDER BY s.position), '[]')
    FROM provision_step s WHERE s.task_id = t.id
$$;

-- `none`, `in_progress`, `awaiting_merge`, `active`, `revoked` or `failed`.
CREATE FUNCTION provision_state(p provisioning) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p.interest_id IS NULL THEN 'none'
                WHEN t.status IN ('pending', 'running') THEN 'in_progress'
                WHEN p.revoked_at IS NOT NULL THEN 'revoked'
                WHEN t.status = 'failed' OR p.installation_id IS NULL OR p.app_removed_at IS NOT NULL THEN 'failed'
                WHEN p.merged_at IS NOT NULL THEN 'active'
                WHEN p.closed_at IS NOT NULL THEN 'failed'
                ELSE 'awaiting_merge' END
    FROM (SELECT) one LEFT JOIN task t ON t.id = p.task_id
$$;

-- Start the task that provisions an interest, {"repo", "agent", "provider", "branch", "auto_merge"}.
--
--   outcome  `started`; `repeated`: the same is under way, `started_task` is its task; `in_progress`: something else is;
--            `taken`: the repository works for another interest; `no_interest`
CREATE FUNCTION provision_start(account uuid, interest uuid, given jsonb, step_names text[], request_id text,
                                OUT outcome text, OUT started_task json) LANGUAGE plpgsql AS $$
DECLARE
    wanted jsonb := given || jsonb_build_object('interest_id', interest);
    t task;
BEGIN
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
    -- One that made nothing holds no repository.
    DELETE FROM provisioning p USING task x
    WHERE p.account_id = account AND lower(p.repo) = lower(given ->> 'repo') AND p.interest_id <> interest
      AND p.key_id IS NULL AND x.id = p.task_id AND x.finished_at IS NOT NULL;
    IF EXISTS (SELECT FROM provisioning p WHERE p.account_id = account AND lower(p.repo) = lower(given ->> 'repo')
                                            AND p.interest_id <> interest AND p.revoked_at IS NULL) THEN
        outcome := 'taken';
        RETURN;
    END IF;
    t := task_start('provision', account, wanted, request_id);
    INSERT INTO provision_step (task_id, position, name)
    SELECT t.id, step.position, step.name FROM unnest(step_names) WITH ORDINALITY AS step (name, position)
    ON CONFLICT DO NOTHING;
    -- What was made in another repository, and an installation that was revoked, are of the past.
    DELETE FROM provisioning p
    WHERE p.interest_id = interest AND p.key_id IS NULL AND lower(p.repo) <> lower(given ->> 'repo');
    INSERT INTO provisioning AS p (interest_id, account_id, repo, agent, provider, branch, auto_merge, task_id)
    VALUES (interest, account, given ->> 'repo', given ->> 'agent', given ->> 'provider', given ->> 'branch',
            (given ->> 'auto_merge')::boolean, t.id)
    ON CONFLICT (interest_id) DO UPDATE SET
        repo = excluded.repo, agent = excluded.agent, provider = excluded.provider, branch = excluded.branch,
        auto_merge = excluded.auto_merge, task_id = excluded.task_id, revoked_at = NULL, app_removed_at = NULL,
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

-- The key of an interest that is deleted is revoked, and with it the agent. That of a deleted account is already.
CREATE FUNCTION provisioning_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.key_id IS NOT NULL AND NOT EXISTS (SELECT FROM deleted_account d WHERE d.id = OLD.account_id) THEN
        PERFORM task_put('key_revoke', OLD.account_id, jsonb_build_object('key_id', OLD.key_id), NULL, NULL);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER provisioning_end AFTER DELETE ON provisioning FOR EACH ROW EXECUTE FUNCTION provisioning_end();

-- Queue the first run of an agent if it is ready for it. The row is locked before it is looked at: of two transactions that
-- make it ready together, the later one sees both.
CREATE FUNCTION first_run_queue(of_interest uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM provisioning p WHERE p.interest_id = of_interest FOR UPDATE;
    PERFORM task_put('first_run', p.account_id, jsonb_build_object('interest_id', p.interest_id), NULL, NULL)
    FROM provisioning p JOIN interest i ON i.id = p.interest_id
    WHERE p.interest_id = of_interest AND provision_state(p) = 'active' AND p.dispatched_at IS NULL
      AND NOT p.model_key_missing AND i.pool_status = 'ready';
END $$;

CREATE FUNCTION pool_became_ready() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM first_run_queue(NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER pool_became_ready AFTER UPDATE OF pool_status ON interest FOR EACH ROW
WHEN (NEW.pool_status = 'ready' AND OLD.pool_status <> 'ready') EXECUTE FUNCTION pool_became_ready();

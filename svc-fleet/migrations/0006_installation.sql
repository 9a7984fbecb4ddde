-- Agents that were provisioned on a repository; svc-interests records them. A revoked one stays.
--
--   key_id             of the automation key that the agent uses
--   setup_url          the pull request that brings the agent's workflow; null: nothing is left to merge
--   model_key_missing  the account has not connected a model provider that the agent could use
CREATE TABLE installation (
    id                uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id        uuid NOT NULL,
    repo_key          text NOT NULL CHECK (repo_key = lower(repo_key) AND octet_length(repo_key) <= 600),
    repo              text NOT NULL,
    agent             text NOT NULL,
    provider          text,
    interest_id       uuid,
    key_id            uuid NOT NULL,
    setup_url         text,
    model_key_missing boolean NOT NULL DEFAULT false,
    status            text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'revoked')),
    installed_at      timestamptz NOT NULL DEFAULT now(),
    revoked_at        timestamptz,
    CHECK ((status = 'revoked') = (revoked_at IS NOT NULL))
);

CREATE UNIQUE INDEX installation_active ON installation (account_id, repo_key, interest_id) NULLS NOT DISTINCT
    WHERE status = 'active';
CREATE INDEX installation_newest ON installation (account_id, id DESC);
CREATE INDEX installation_by_repo ON installation (account_id, repo_key);
CREATE INDEX installation_by_key ON installation (key_id);
CREATE TRIGGER account_required BEFORE INSERT ON installation FOR EACH ROW EXECUTE FUNCTION account_required();

-- When the last run of a repository started.
CREATE FUNCTION last_run_at(account uuid, repo text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT s.last_at FROM run_repo s WHERE s.account_id = account AND s.repo_key = repo
$$;

CREATE FUNCTION installation_json(i installation) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', i.id, 'repo', i.repo, 'agent', i.agent, 'provider', i.provider, 'interest_id', i.interest_id,
        'status', i.status, 'key_id', i.key_id, 'installed_at', time_json(i.installed_at),
        'revoked_at', time_json(i.revoked_at), 'last_run_at', time_json(last_run_at(i.account_id, i.repo_key)))
$$;

-- Record that an agent was provisioned: the active installation of the repository and interest, made or brought up to date.
CREATE FUNCTION installation_record(account uuid, given jsonb) RETURNS installation LANGUAGE plpgsql AS $$
DECLARE
    i installation;
BEGIN
    PERFORM repo_own(account, given ->> 'repo');
    INSERT INTO installation AS x (account_id, repo_key, repo, agent, provider, interest_id, key_id, setup_url,
                                   model_key_missing)
    VALUES (account, lower(given ->> 'repo'), given ->> 'repo', given ->> 'agent', given ->> 'provider',
            (given ->> 'interest_id')::uuid, (given ->> 'key_id')::uuid, given ->> 'setup_url',
            coalesce((given ->> 'model_key_missing')::boolean, false))
    ON CONFLICT (account_id, repo_key, interest_id) WHERE status = 'active'
    DO UPDATE SET agent = excluded.agent, provider = excluded.provider, key_id = excluded.key_id,
                  setup_url = excluded.setup_url, model_key_missing = excluded.model_key_missing
    RETURNING * INTO i;
    RETURN i;
END $$;

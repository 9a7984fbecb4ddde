-- When the last run of a repository started.
CREATE OR REPLACE FUNCTION last_run_at(account uuid, repo text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT s.last_at FROM run_repo s WHERE s.account_id = account AND s.repo_key = repo
$$;

-- An agent as the API shows it.
CREATE OR REPLACE FUNCTION installation_json(i installation) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', i.id, 'repo', i.repo, 'agent', i.agent, 'provider', i.provider, 'interest_id', i.interest_id,
        'status', i.status, 'key_id', i.key_id, 'installed_at', time_json(i.installed_at),
        'revoked_at', time_json(i.revoked_at), 'last_run_at', time_json(last_run_at(i.account_id, i.repo_key)))
$$;

-- Record that an agent was provisioned: the active installation of the repository and interest, made or brought up to date.
CREATE OR REPLACE FUNCTION installation_record(account uuid, given jsonb) RETURNS installation LANGUAGE plpgsql AS $$
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

-- An agent that was made or revoked may be an item of the inbox; that it was revoked is announced, once.
CREATE OR REPLACE FUNCTION installation_announce() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM inbox_mark(NEW.account_id, clock_timestamp());
    PERFORM message_emit('events.runs', 'installation.revoked', NEW.account_id, jsonb_build_object(
        'installation_id', NEW.id, 'repo', NEW.repo, 'agent', NEW.agent, 'interest_id', NEW.interest_id,
        'url', '/console/agents/' || NEW.repo))
    WHERE NEW.status = 'revoked' AND OLD.status <> 'revoked';
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER installation_made AFTER INSERT ON installation FOR EACH ROW EXECUTE FUNCTION installation_announce();
CREATE OR REPLACE TRIGGER installation_changed AFTER UPDATE ON installation FOR EACH ROW
WHEN ((NEW.status, NEW.setup_url, NEW.model_key_missing) IS DISTINCT FROM (OLD.status, OLD.setup_url, OLD.model_key_missing))
EXECUTE FUNCTION installation_announce();

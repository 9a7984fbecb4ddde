-- Repositories to which an account has lost access, after a key of the account or svc-fleet has used them: the other services were
-- told. The row goes when the code host says that the account has access again.
CREATE TABLE access_lost (
    account_id uuid NOT NULL,
    repo       text NOT NULL CHECK (repo = lower(repo) AND octet_length(repo) <= 300),
    since      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, repo)
);

CREATE TRIGGER account_skipped BEFORE INSERT ON access_lost FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE FUNCTION access_lost_forget() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM access_lost WHERE account_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER access_lost_forget AFTER INSERT ON deleted_account FOR EACH ROW EXECUTE FUNCTION access_lost_forget();

-- Tell the other services that an account has lost access to a repository (NULL: to all), once: the event `access` of the stream
-- events.code_host. `web_url` is the address of the code host's pages.
CREATE FUNCTION access_lost_tell(account uuid, repo text, web_url text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF repo IS NOT NULL THEN
        INSERT INTO access_lost (account_id, repo) VALUES (account, lower(access_lost_tell.repo)) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            RETURN;
        END IF;
    END IF;
    PERFORM event_emit('events.code_host', 'access', account, jsonb_build_object(
        'event', 'access', 'action', 'lost', 'repo', repo, 'web_url', web_url, 'occurred_at', time_json(clock_timestamp())));
END $$;

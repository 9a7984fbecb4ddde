-- Whether an account still has access to a repository, as svc-integrations asks the code host with the account's connection. An
-- owner (owned_repo) is asked about again once the answer is five minutes old and something happens in the repository.
--
--   asked_at  when the account last had access
--   lost_at   since when it has none, which the inbox shows; null: it has. Then it is no owner
--   repo, href  its name and page then
CREATE TABLE repo_access (
    account_id uuid NOT NULL,
    repo_key   text NOT NULL CHECK (repo_key = lower(repo_key) AND octet_length(repo_key) <= 600),
    asked_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    lost_at    timestamptz,
    repo       text,
    href       text,
    PRIMARY KEY (account_id, repo_key),
    CHECK (lost_at IS NULL OR repo IS NOT NULL)
);

CREATE TRIGGER account_skipped BEFORE INSERT ON repo_access FOR EACH ROW EXECUTE FUNCTION account_skipped();

INSERT INTO repo_access (account_id, repo_key) SELECT account_id, repo_key FROM owned_repo;

CREATE FUNCTION repo_access_forget() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM repo_access WHERE account_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER repo_access_forget AFTER INSERT ON deleted_account FOR EACH ROW EXECUTE FUNCTION repo_access_forget();

-- Whether the account is to be asked about again: its last answer is too old, or there is none.
CREATE FUNCTION repo_access_is_due(account uuid, of_repo text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN NOT EXISTS (SELECT FROM repo_access a WHERE a.account_id = account AND a.repo_key = lower(of_repo) AND a.lost_at IS NULL
                                                   AND a.asked_at > clock_timestamp() - interval '5 minutes');
END $$;

-- Make the account, which has access as was just asked, an owner of the repository; false: it is one already.
CREATE OR REPLACE FUNCTION repo_claim(account uuid, repo text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO repo_access AS a (account_id, repo_key) VALUES (account, lower(repo))
    ON CONFLICT (account_id, repo_key) DO UPDATE SET asked_at = clock_timestamp(), lost_at = NULL
    WHERE a.lost_at IS NOT NULL OR a.asked_at < clock_timestamp() - interval '1 minute';
    IF EXISTS (SELECT FROM owned_repo o WHERE o.account_id = account AND o.repo_key = lower(repo)) THEN
        RETURN false;
    END IF;
    PERFORM repo_lock(repo);
    INSERT INTO owned_repo (account_id, repo_key) VALUES (account, lower(repo)) ON CONFLICT DO NOTHING;
    RETURN true;
END $$;

-- The account has lost access to a repository (null: to all) at the time `at`: it owns it no more, and its inbox says so. Nothing
-- changes where it has had access since.
CREATE FUNCTION repo_access_end(account uuid, in_repo text, web_url text, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    key text;
    name text;
BEGIN
    FOR key IN
        SELECT o.repo_key FROM owned_repo o WHERE o.account_id = account AND (in_repo IS NULL OR o.repo_key = lower(in_repo))
        UNION SELECT i.repo_key FROM installation i
        WHERE i.account_id = account AND i.status = 'active' AND (in_repo IS NULL OR i.repo_key = lower(in_repo))
        UNION SELECT lower(in_repo) WHERE in_repo IS NOT NULL
        ORDER BY 1
    LOOP
        name := coalesce(repo_in_footprint(account, key), in_repo, key);
        INSERT INTO repo_access AS a (account_id, repo_key, asked_at, lost_at, repo, href)
        VALUES (account, key, at, at, name, web_url || '/' || name)
        ON CONFLICT (account_id, repo_key) DO UPDATE SET
            lost_at = coalesce(a.lost_at, excluded.lost_at), repo = excluded.repo, href = excluded.href
        WHERE a.lost_at IS NOT NULL OR a.asked_at <= at;
        CONTINUE WHEN NOT FOUND;
        PERFORM repo_lock(key);
        DELETE FROM owned_repo o WHERE o.account_id = account AND o.repo_key = key;
    END LOOP;
END $$;

-- As before, and
--
--   access_lost  the account has lost access to a repository that it owned, or that an agent of it works on
CREATE FUNCTION inbox_access_lost(account uuid, in_repo text) RETURNS TABLE (
    id uuid, kind text, repo text, title text, href text, created_at timestamptz, severity text) LANGUAGE sql STABLE AS $$
    SELECT inbox_id('access_lost', a.repo_key || ' ' || a.lost_at), 'access_lost', a.repo,
           'Your account has no access to ' || a.repo || ' any more: connect the code host as a user who can push to it',
           a.href, a.lost_at, 'critical'
    FROM repo_access a WHERE a.account_id = account AND a.lost_at IS NOT NULL AND (in_repo IS NULL OR a.repo_key = in_repo)
$$;

CREATE OR REPLACE FUNCTION inbox_items(account uuid, in_repo text, archived boolean) RETURNS TABLE (
    id uuid, kind text, repo text, title text, href text, created_at timestamptz, severity text) LANGUAGE sql STABLE AS $$
    WITH waiting AS (
        SELECT d.kind || '_waiting' AS kind, d.repo, d.url, d.opened_at,
               CASE d.kind WHEN 'pull_request' THEN 'A pull request of ' || d.repo || ' waits for a review'
                           ELSE 'An issue of ' || d.repo || ' waits for an answer' END AS title
        FROM deliverable d
        WHERE d.account_id = account AND d.stage = 'open' AND d.kind <> 'other' AND d.opened_at > now() - interval '1 year'
          AND (in_repo IS NULL OR d.repo_key = in_repo)
          AND EXISTS (SELECT FROM inbox_archived a
                      WHERE a.account_id = account AND a.item = inbox_id(d.kind || '_waiting', d.url)) = archived
        ORDER BY d.opened_at DESC LIMIT 500
    ), item (id, kind, repo, title, href, created_at, severity) AS (
    SELECT inbox_id('run_failed', last.id::text), 'run_failed', last.repo,
           'The last run on ' || last.repo || ' failed: ' || coalesce(last.cause, last.status), last.artifact_url,
           coalesce(last.finished_at, last.at), 'critical'
    FROM run_repo s JOIN run last ON last.id = s.last_id AND last.first_at = s.last_first_at
    WHERE s.account_id = account AND (in_repo IS NULL OR s.repo_key = in_repo) AND s.last_outcome = 'failed'
    UNION ALL
    SELECT inbox_id('agent_silent', i.id::text), 'agent_silent', i.repo,
           i.agent || ' on ' || i.repo || ' has not run for a week', NULL, coalesce(s.last_at, i.installed_at), 'warning'
    FROM installation i LEFT JOIN run_repo s ON s.account_id = account AND s.repo_key = i.repo_key
    WHERE i.account_id = account AND i.status = 'active' AND (in_repo IS NULL OR i.repo_key = in_repo)
      AND coalesce(s.last_at, i.installed_at) < now() - interval '7 days'
    UNION ALL
    SELECT inbox_id('setup_waiting', i.setup_url), 'setup_waiting', i.repo,
           'The pull request that sets up ' || i.agent || ' on ' || i.repo || ' waits to be merged', i.setup_url,
           i.installed_at, 'warning'
    FROM installation i, artifact_of(i.setup_url) setup
    LEFT JOIN code_host_item told ON told.repo_key = setup.repo_key AND told.kind = setup.kind AND told.number = setup.number
    WHERE i.account_id = account AND i.status = 'active' AND i.setup_url IS NOT NULL
      AND (in_repo IS NULL OR i.repo_key = in_repo) AND coalesce(told.state, 'open') = 'open'
    UNION ALL
    SELECT inbox_id('model_key_missing', i.id::text), 'model_key_missing', i.repo,
           i.agent || ' on ' || i.repo || ' has no model key: connect '
           || coalesce(i.provider, 'a model provider') || ' and provision it again', NULL, i.installed_at, 'critical'
    FROM installation i
    WHERE i.account_id = account AND i.status = 'active' AND i.model_key_missing
      AND (in_repo IS NULL OR i.repo_key = in_repo)
    UNION ALL
    SELECT inbox_id('agent_revoked', i.id::text), 'agent_revoked', i.repo,
           i.agent || ' on ' || i.repo || ' was revoked', NULL, i.revoked_at, 'info'
    FROM installation i
    WHERE i.account_id = account AND i.revoked_at > now() - interval '30 days' AND (in_repo IS NULL OR i.repo_key = in_repo)
    UNION ALL
    SELECT * FROM inbox_access_lost(account, in_repo)
    )
    SELECT inbox_id(w.kind, w.url), w.kind, w.repo, w.title, w.url, w.opened_at,
           CASE WHEN w.opened_at < now() - interval '7 days' THEN 'warning' ELSE 'info' END
    FROM waiting w
    UNION ALL
    SELECT * FROM item i
    WHERE EXISTS (SELECT FROM inbox_archived a WHERE a.account_id = account AND a.item = i.id) = archived
$$;

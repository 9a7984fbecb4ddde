-- Repositories: which the account owns, as the code host says, and which are in its footprint.

-- Whether the account owns the repository.
CREATE OR REPLACE FUNCTION repo_is_owned(account uuid, repo text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM owned_repo o WHERE o.account_id = account AND o.repo_key = lower(repo));
END $$;

-- The repository as first seen, if it is in the account's footprint: one of its installations or runs. Null: it is not.
CREATE OR REPLACE FUNCTION repo_in_footprint(account uuid, repo text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN RETURN coalesce(
    (SELECT i.repo FROM installation i WHERE i.account_id = account AND i.repo_key = lower($2) ORDER BY i.id LIMIT 1),
    (SELECT s.repo FROM run_repo s WHERE s.account_id = account AND s.repo_key = lower($2)));
END $$;

-- Whoever adds an owner and whoever reports on the repository wait for each other, so that neither misses what the other adds.
CREATE OR REPLACE FUNCTION repo_lock(repo text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO repo_guard AS g (repo_key) VALUES (lower(repo)) ON CONFLICT (repo_key) DO UPDATE SET repo_key = excluded.repo_key;
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

-- Take the account as an owner of the repository.
CREATE OR REPLACE FUNCTION repo_own(account uuid, repo text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF repo_claim(account, repo) THEN
        PERFORM deliverable_reconcile(account, lower(repo));
    END IF;
END $$;

-- Whether the account is to be asked about again: its last answer is too old, or there is none.
CREATE OR REPLACE FUNCTION repo_access_is_due(account uuid, of_repo text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN NOT EXISTS (SELECT FROM repo_access a WHERE a.account_id = account AND a.repo_key = lower(of_repo) AND a.lost_at IS NULL
                                                   AND a.asked_at > clock_timestamp() - interval '5 minutes');
END $$;

-- The account has lost access to a repository (null: to all) at the time `at`: it owns it no more, and its inbox says so. Nothing
-- changes where it has had access since.
CREATE OR REPLACE FUNCTION repo_access_end(account uuid, in_repo text, web_url text, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
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

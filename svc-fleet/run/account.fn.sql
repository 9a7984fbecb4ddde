-- Delete what belongs to no account of those of the repositories that no account has now.
CREATE OR REPLACE FUNCTION repos_forget(repos text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    unowned text[] := ARRAY(SELECT k FROM unnest(repos) k WHERE NOT EXISTS (SELECT FROM owned_repo o WHERE o.repo_key = k));
BEGIN
    DELETE FROM code_host_item i
    WHERE i.repo_key = ANY (unowned)
      AND NOT EXISTS (SELECT FROM deliverable d WHERE d.repo_key = i.repo_key AND d.kind = i.kind AND d.number = i.number);
    DELETE FROM code_host_revert v
    WHERE v.repo_key = ANY (unowned) AND NOT EXISTS (SELECT FROM deliverable d WHERE d.repo_key = v.repo_key);
    DELETE FROM run_status s WHERE s.account_id IS NULL AND s.repo_key = ANY (unowned);
    DELETE FROM repo_guard g USING (SELECT x.repo_key FROM repo_guard x WHERE x.repo_key = ANY (unowned) FOR UPDATE SKIP LOCKED) free
    WHERE g.repo_key = free.repo_key;
END $$;

-- The repositories that an account has something of, and those that what it opened is in.
CREATE OR REPLACE FUNCTION account_repos(account uuid) RETURNS text[] LANGUAGE sql STABLE AS $$
    SELECT ARRAY(SELECT o.repo_key FROM owned_repo o WHERE o.account_id = account
                 UNION SELECT s.repo_key FROM run_repo s WHERE s.account_id = account
                 UNION SELECT i.repo_key FROM installation i WHERE i.account_id = account
                 UNION SELECT a.repo_key FROM deliverable d, artifact_of(d.url) a
                 WHERE d.account_id = account AND a.repo_key IS NOT NULL)
$$;

-- Everything that an account had, and what is left of its repositories; a note stays. What the code host may report of is locked behind the
-- runs, of which there may be many: other accounts that have the same repositories wait for it.
CREATE OR REPLACE FUNCTION account_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    repos text[];
BEGIN
    PERFORM account_lock(account, true);
    INSERT INTO deleted_account (id) VALUES (account) ON CONFLICT (id) DO NOTHING;
    repos := account_repos(account);
    DELETE FROM run_key WHERE account_id = account;
    DELETE FROM run_detail d USING run r WHERE r.account_id = account AND d.id = r.id AND d.first_at = r.first_at;
    DELETE FROM run WHERE account_id = account;
    DELETE FROM candidate WHERE account_id = account;
    DELETE FROM experiment WHERE account_id = account;
    DELETE FROM run_day WHERE account_id = account;
    DELETE FROM budget WHERE account_id = account;
    DELETE FROM reservation WHERE account_id = account;
    DELETE FROM admission WHERE account_id = account;
    DELETE FROM cost_look WHERE account_id = account;
    DELETE FROM cost_unusual WHERE account_id = account;
    DELETE FROM run_repo WHERE account_id = account;
    DELETE FROM run_agent WHERE account_id = account;
    PERFORM FROM code_host_item i WHERE i.repo_key = ANY (repos) ORDER BY i.repo_key, i.kind, i.number FOR UPDATE;
    DELETE FROM deliverable WHERE account_id = account;
    DELETE FROM deliverable_told WHERE account_id = account;
    DELETE FROM owned_repo WHERE account_id = account;
    DELETE FROM installation WHERE account_id = account;
    DELETE FROM run_text WHERE account_id = account;
    DELETE FROM inbox_archived WHERE account_id = account;
    DELETE FROM inbox_look WHERE account_id = account; -- waits for whoever is looking
    DELETE FROM inbox_told WHERE account_id = account;
    DELETE FROM key_expiring WHERE account_id = account;
    DELETE FROM endpoint_disabled WHERE account_id = account;
    DELETE FROM connection_gone WHERE account_id = account;
    DELETE FROM experiment_reminder WHERE account_id = account;
    DELETE FROM run_status WHERE account_id = account;
    DELETE FROM repo_fetch WHERE account_id = account;
    DELETE FROM repo_access WHERE account_id = account;
    DELETE FROM run_removed WHERE account_id = account;
    DELETE FROM idempotency WHERE account_id = account;
    PERFORM repos_forget(repos);
END $$;

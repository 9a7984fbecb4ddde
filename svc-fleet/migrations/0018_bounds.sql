-- What grows with an account is reached by its indexes, and read no further than is needed.

-- A run that no longer names a link: the earliest other run that does is its origin now, or it is withdrawn.
CREATE OR REPLACE FUNCTION deliverable_leave(r run) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    left_behind deliverable;
BEGIN
    DELETE FROM deliverable d WHERE d.account_id = r.account_id AND d.url = r.artifact_url AND d.run_id = r.run_id
                                AND d.repo_key = r.repo_key
    RETURNING * INTO left_behind;
    IF FOUND THEN
        PERFORM deliverable_tell(left_behind, 'withdrawn');
        PERFORM deliverable_open(ARRAY(SELECT x FROM run x WHERE x.account_id = r.account_id AND x.artifact_url = r.artifact_url
                                       ORDER BY x.at, x.run_id LIMIT 1));
    END IF;
END $$;

-- A new partition waits for what reads the table, and all that comes later waits for it: not longer than a second. It is made
-- weeks before it is needed.
ALTER FUNCTION run_partitions_make(date, int) SET lock_timeout = '1s';

-- Everything that an account had; a note stays. The details of runs have no index but their key, which the runs have as well.
CREATE OR REPLACE FUNCTION account_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(account, true);
    INSERT INTO deleted_account (id) VALUES (account) ON CONFLICT (id) DO NOTHING;
    DELETE FROM run_key WHERE account_id = account;
    DELETE FROM run_detail d USING run r WHERE r.account_id = account AND d.id = r.id AND d.first_at = r.first_at;
    DELETE FROM run WHERE account_id = account;
    DELETE FROM run_day WHERE account_id = account;
    DELETE FROM run_repo WHERE account_id = account;
    DELETE FROM run_agent WHERE account_id = account;
    DELETE FROM deliverable WHERE account_id = account;
    DELETE FROM owned_repo WHERE account_id = account;
    DELETE FROM installation WHERE account_id = account;
    DELETE FROM run_text WHERE account_id = account;
    DELETE FROM inbox_archived WHERE account_id = account;
    DELETE FROM run_status WHERE account_id = account;
    DELETE FROM repo_fetch WHERE account_id = account;
    DELETE FROM idempotency WHERE account_id = account;
END $$;

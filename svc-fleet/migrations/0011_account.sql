-- Everything that an account had; a note stays.
CREATE FUNCTION account_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(account, true);
    INSERT INTO deleted_account (id) VALUES (account) ON CONFLICT (id) DO NOTHING;
    DELETE FROM run_key WHERE account_id = account;
    DELETE FROM run_detail WHERE account_id = account;
    DELETE FROM run WHERE account_id = account;
    DELETE FROM run_day WHERE account_id = account;
    DELETE FROM run_repo WHERE account_id = account;
    DELETE FROM deliverable WHERE account_id = account;
    DELETE FROM owned_repo WHERE account_id = account;
    DELETE FROM installation WHERE account_id = account;
    DELETE FROM run_text WHERE account_id = account;
    DELETE FROM inbox_archived WHERE account_id = account;
    DELETE FROM run_status WHERE account_id = account;
    DELETE FROM repo_fetch WHERE account_id = account;
    DELETE FROM idempotency WHERE account_id = account;
END $$;

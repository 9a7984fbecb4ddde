-- Everything that an account had; a note stays.
CREATE OR REPLACE FUNCTION account_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(account, true);
    INSERT INTO deleted_account (id) VALUES (account) ON CONFLICT (id) DO NOTHING;
    DELETE FROM experiment WHERE account_id = account;
    DELETE FROM experiment_count WHERE account_id = account;
    DELETE FROM idempotency WHERE account_id = account;
    DELETE FROM project WHERE account_id = account;
END $$;

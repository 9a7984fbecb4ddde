-- Everything that an account had; a note stays.
CREATE OR REPLACE FUNCTION account_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(account, true);
    INSERT INTO deleted_account (id) VALUES (account) ON CONFLICT (id) DO NOTHING;
    PERFORM connection_remove(account);
    DELETE FROM authorization_attempt WHERE account_id = account;
    DELETE FROM identity_link WHERE account_id = account;
    DELETE FROM repository_access WHERE account_id = account;
    DELETE FROM installation_lookup WHERE account_id = account;
    DELETE FROM dispatch WHERE account_id = account;
    DELETE FROM idempotency WHERE account_id = account;
    DELETE FROM task WHERE account_id = account;
END $$;

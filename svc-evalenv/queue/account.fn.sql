-- Everything that an account had; a note stays.
CREATE OR REPLACE FUNCTION account_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(account, true);
    INSERT INTO deleted_account (id) VALUES (account) ON CONFLICT (id) DO NOTHING;
    DELETE FROM run WHERE account_id = account;
    DELETE FROM work WHERE account_id = account;
    DELETE FROM template WHERE account_id = account;
    DELETE FROM idempotency WHERE account_id = account;
END $$;

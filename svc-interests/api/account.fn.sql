-- Everything that an account had; a note stays. The count is locked before the account, as in the transaction of a new interest.
CREATE OR REPLACE FUNCTION account_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM interest WHERE account_id = account ORDER BY id FOR UPDATE;
    PERFORM FROM interest_count WHERE account_id = account FOR UPDATE;
    PERFORM account_lock(account, true);
    INSERT INTO deleted_account (id) VALUES (account) ON CONFLICT (id) DO NOTHING;
    DELETE FROM interest WHERE account_id = account;
    DELETE FROM interest_count WHERE account_id = account;
    DELETE FROM feed WHERE account_id = account;
    DELETE FROM feed_maker_gone WHERE account_id = account;
    DELETE FROM digest_due WHERE account_id = account;
    DELETE FROM experiment WHERE account_id = account;
    DELETE FROM run_outcome WHERE account_id = account;
    DELETE FROM idempotency WHERE account_id = account;
    DELETE FROM task WHERE account_id = account;
END $$;

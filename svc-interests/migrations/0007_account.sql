-- Everything that an account had, its tasks too; a note stays, so that what is told later about it is not kept. Interests
-- are locked before the account, as by whoever changes one and queues a task for it: neither waits for the other in a
-- circle.
CREATE FUNCTION account_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM interest WHERE account_id = account ORDER BY id FOR UPDATE;
    PERFORM account_lock(account, true);
    INSERT INTO deleted_account (id) VALUES (account) ON CONFLICT (id) DO NOTHING;
    DELETE FROM interest WHERE account_id = account;
    DELETE FROM experiment WHERE account_id = account;
    DELETE FROM idempotency WHERE account_id = account;
    DELETE FROM task WHERE account_id = account;
END $$;

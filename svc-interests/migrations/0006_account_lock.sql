-- An insert that is under way when its account is deleted is waited for, and then removed with the rest: who inserts
-- shares the account's lock until the transaction ends, who deletes the account has it alone.
CREATE FUNCTION account_lock(account uuid, is_alone boolean) RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN is_alone THEN pg_advisory_xact_lock(key) ELSE pg_advisory_xact_lock_shared(key) END
    FROM (SELECT hashtextextended(current_schema() || ' account ' || account, 0)) AS of_account (key)
$$;

CREATE OR REPLACE FUNCTION account_required() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(NEW.account_id, false);
    IF EXISTS (SELECT FROM deleted_account WHERE id = NEW.account_id) THEN
        RAISE foreign_key_violation USING MESSAGE = 'the account was deleted', CONSTRAINT = 'account_required';
    END IF;
    RETURN NEW;
END $$;

-- What is told of an account that was deleted is not kept.
CREATE FUNCTION account_skipped() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(NEW.account_id, false);
    RETURN CASE WHEN NOT EXISTS (SELECT FROM deleted_account WHERE id = NEW.account_id) THEN NEW END;
END $$;

CREATE TRIGGER account_skipped BEFORE INSERT ON experiment FOR EACH ROW EXECUTE FUNCTION account_skipped();

-- Everything that an account had, its tasks too; a note stays, so that what is told later about it is not kept.
CREATE FUNCTION account_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(account, true);
    INSERT INTO deleted_account (id) VALUES (account) ON CONFLICT (id) DO NOTHING;
    DELETE FROM interest WHERE account_id = account;
    DELETE FROM experiment WHERE account_id = account;
    DELETE FROM idempotency WHERE account_id = account;
    DELETE FROM task WHERE account_id = account;
END $$;

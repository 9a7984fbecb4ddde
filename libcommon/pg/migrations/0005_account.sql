-- Accounts that were deleted: a request that was under way then leaves nothing behind, and what streams tell later is
-- not kept.
--
-- A service that keeps what belongs to accounts sets account_required() or account_skipped() on the tables that rows may
-- still come to, and defines account_forget(account): that takes the account's lock alone, notes the deletion here, and
-- deletes what the service has of the account. Where nothing is kept, this stays empty.
CREATE TABLE deleted_account (
    id         uuid PRIMARY KEY,
    deleted_at timestamptz NOT NULL DEFAULT now()
);

-- An insert that is under way when its account is deleted is waited for, and then removed with the rest: who inserts
-- shares the account's lock until the transaction ends, who deletes the account has it alone.
CREATE FUNCTION account_lock(account uuid, is_alone boolean) RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN is_alone THEN pg_advisory_xact_lock(key) ELSE pg_advisory_xact_lock_shared(key) END
    FROM (SELECT hashtextextended(current_schema() || ' account ' || account, 0)) AS of_account (key)
$$;

-- BEFORE INSERT: refuse rows of a deleted account.
CREATE FUNCTION account_required() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(NEW.account_id, false);
    IF EXISTS (SELECT FROM deleted_account WHERE id = NEW.account_id) THEN
        RAISE foreign_key_violation USING MESSAGE = 'the account was deleted', CONSTRAINT = 'account_required';
    END IF;
    RETURN NEW;
END $$;

-- BEFORE INSERT: leave out rows of a deleted account, where what is told of it late is no mistake.
CREATE FUNCTION account_skipped() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(NEW.account_id, false);
    RETURN CASE WHEN NOT EXISTS (SELECT FROM deleted_account WHERE id = NEW.account_id) THEN NEW END;
END $$;

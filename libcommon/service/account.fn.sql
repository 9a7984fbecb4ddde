-- Rows of accounts, some of which are deleted at the same time. An insert that is under way when its account is deleted is waited
-- for, and then removed with the rest: who inserts shares the account's lock until the transaction ends, who deletes the account
-- has it alone.

-- Lock the account until the transaction ends: shared with the others that insert rows of it, or alone. The first
-- transactions of an account wait for each other, because there is no row yet that they could share.
CREATE OR REPLACE FUNCTION account_lock(account uuid, is_alone boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF account IS NULL THEN
        RETURN;
    END IF;
    IF NOT EXISTS (SELECT FROM account_guard WHERE id = account) THEN
        INSERT INTO account_guard (id) VALUES (account) ON CONFLICT DO NOTHING;
    END IF;
    IF is_alone THEN
        PERFORM FROM account_guard WHERE id = account FOR UPDATE;
    ELSE
        PERFORM FROM account_guard WHERE id = account FOR KEY SHARE;
    END IF;
END $$;

-- Share the account's lock until the transaction ends, and wait for the others that take their turn. Who only inserts does not wait.
CREATE OR REPLACE FUNCTION account_turn(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(account, false);
    PERFORM FROM account_guard g WHERE g.id = account FOR NO KEY UPDATE;
END $$;

-- Share the account's lock until the transaction ends. False: the account was deleted. One look-up decides mostly: a deletion
-- changes the row that it locks alone, so whoever has waited for that lock sees the change, which no snapshot from before the
-- wait would show in deleted_account.
CREATE OR REPLACE FUNCTION account_share(account uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM account_guard g WHERE g.id = account AND NOT g.is_deleted FOR KEY SHARE;
    IF FOUND THEN
        RETURN true;
    END IF;
    PERFORM account_lock(account, false);
    RETURN NOT EXISTS (SELECT FROM deleted_account d WHERE d.id = account);
END $$;

-- As account_share(), without waiting: also false while others have the lock alone, as a deletion has for as long as it takes. For
-- work on rows of many accounts, which must not wait for the deletion of one. Such work asks in the condition that chooses a row,
-- before it locks the row: a deletion, too, has the lock of the account first and comes to its rows later.
CREATE OR REPLACE FUNCTION account_share_try(account uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM account_guard g WHERE g.id = account AND NOT g.is_deleted FOR KEY SHARE SKIP LOCKED;
    IF FOUND THEN
        RETURN true;
    END IF;
    RETURN NOT EXISTS (SELECT FROM account_guard g WHERE g.id = account) AND account_share(account);
END $$;

-- BEFORE INSERT: refuse rows of a deleted account.
CREATE OR REPLACE FUNCTION account_required() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT account_share(NEW.account_id) THEN
        RAISE foreign_key_violation USING MESSAGE = 'the account was deleted', CONSTRAINT = 'account_required';
    END IF;
    RETURN NEW;
END $$;

-- BEFORE INSERT: leave out rows of a deleted account, where what arrives late for it is no mistake.
CREATE OR REPLACE FUNCTION account_skipped() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RETURN CASE WHEN account_share(NEW.account_id) THEN NEW END;
END $$;

CREATE OR REPLACE FUNCTION account_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO account_guard (id, is_deleted) VALUES (NEW.id, true) ON CONFLICT (id) DO UPDATE SET is_deleted = true;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER account_deleted AFTER INSERT ON deleted_account FOR EACH ROW EXECUTE FUNCTION account_deleted();

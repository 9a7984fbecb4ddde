-- Locks on rows of this schema, in place of advisory locks: those belong to the whole database, so every role that may
-- connect to it can hold the ones of every other.

-- One row for each account that anything was inserted for, kept when the account is deleted. It is locked and never
-- changed.
CREATE TABLE account_guard (
    id uuid PRIMARY KEY
);

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

-- The requests with an Idempotency-Key that are under way; no row is ever committed.
CREATE TABLE idempotency_running (
    claim bigint PRIMARY KEY
);

-- Wait until no other transaction has this claim, at most 250 ms: a request that has just failed or been answered may
-- not have ended its transaction yet. An insert waits for the transaction that has inserted the same key, even when that
-- has deleted it again.
CREATE FUNCTION idempotency_lock(claim bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('lock_timeout', '250ms', true);
    INSERT INTO idempotency_running VALUES (claim);
    DELETE FROM idempotency_running r WHERE r.claim = idempotency_lock.claim;
    PERFORM set_config('lock_timeout', '0', true);
END $$;

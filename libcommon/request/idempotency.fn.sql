-- Wait until no other transaction has this claim, at most 250 ms: a request that has just failed or been answered may
-- not have ended its transaction yet. An insert waits for the transaction that has inserted the same key, even when that
-- has deleted it again.
CREATE OR REPLACE FUNCTION idempotency_lock(claim bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('lock_timeout', '250ms', true);
    INSERT INTO idempotency_running VALUES (claim);
    DELETE FROM idempotency_running r WHERE r.claim = idempotency_lock.claim;
    PERFORM set_config('lock_timeout', '0', true);
END $$;

-- name: attempt_create(state_hash, account, provider, redirect_uri, verifier, lifetime_s)
-- The :verifier is sealed. Also deletes up to 20 expired attempts.
WITH expired AS (
    DELETE FROM authorization_attempt WHERE state_hash IN (
        SELECT state_hash FROM authorization_attempt WHERE expires_at < now() LIMIT 20 FOR UPDATE SKIP LOCKED)
)
INSERT INTO authorization_attempt (state_hash, account_id, provider, redirect_uri, verifier, expires_at)
VALUES (:state_hash, :account, :provider, :redirect_uri, :verifier,
        clock_timestamp() + make_interval(secs => :lifetime_s::float8))
RETURNING time_json(expires_at);

-- name: attempt_take(account, provider, state_hash)
-- A :state_hash of NULL: the newest attempt. Deletes the attempt; returns its hash, redirect address and sealed verifier.
DELETE FROM authorization_attempt WHERE state_hash = (
    SELECT state_hash FROM authorization_attempt
    WHERE account_id = :account AND provider = :provider AND expires_at > now()
      AND (:state_hash::bytea IS NULL OR state_hash = :state_hash)
    ORDER BY created_at DESC LIMIT 1 FOR UPDATE)
RETURNING state_hash, redirect_uri, verifier;

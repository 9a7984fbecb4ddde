-- name: attempt_create
-- $1 hash of the state, $2 account, $3 provider, $4 redirect address, $5 sealed verifier, $6 lifetime in seconds. Also
-- deletes up to 20 expired attempts.
WITH expired AS (
    DELETE FROM authorization_attempt WHERE state_hash IN (
        SELECT state_hash FROM authorization_attempt WHERE expires_at < now() LIMIT 20 FOR UPDATE SKIP LOCKED)
)
INSERT INTO authorization_attempt (state_hash, account_id, provider, redirect_uri, verifier, expires_at)
VALUES ($1, $2, $3, $4, $5, clock_timestamp() + make_interval(secs => $6::float8))
RETURNING time_json(expires_at);

-- name: attempt_take
-- $1 account, $2 provider, $3 hash of the state; NULL: the newest attempt. Deletes the attempt; its hash, redirect address and
-- sealed verifier.
DELETE FROM authorization_attempt WHERE state_hash = (
    SELECT state_hash FROM authorization_attempt
    WHERE account_id = $1 AND provider = $2 AND expires_at > now() AND ($3::bytea IS NULL OR state_hash = $3)
    ORDER BY created_at DESC LIMIT 1 FOR UPDATE)
RETURNING state_hash, redirect_uri, verifier;

-- name: landing_state_create
-- $1 hash of the state, $2 account, $3 kind, $4 lifetime in seconds. Also deletes up to 20 expired states.
WITH expired AS (
    DELETE FROM landing_state WHERE state_hash IN (
        SELECT state_hash FROM landing_state WHERE expires_at < now() LIMIT 20 FOR UPDATE SKIP LOCKED)
)
INSERT INTO landing_state (state_hash, account_id, kind, expires_at)
VALUES ($1, $2, $3, clock_timestamp() + make_interval(secs => $4::float8))
RETURNING time_json(expires_at);

-- name: landing_state_check (read)
-- As landing_state_take, but the state stays.
SELECT kind FROM landing_state WHERE state_hash = $1 AND account_id = $2 AND kind IN ($3, $4) AND expires_at > now();

-- name: landing_state_take
-- $1 hash of the state, $2 account, $3 and $4 kinds. Deletes the state; its kind.
DELETE FROM landing_state WHERE state_hash = $1 AND account_id = $2 AND kind IN ($3, $4) AND expires_at > now()
RETURNING kind;

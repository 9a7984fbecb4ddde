-- name: landing_state_create(state_hash, account, kind, lifetime_s)
-- Also deletes up to 20 expired states.
WITH expired AS (
    DELETE FROM landing_state WHERE state_hash IN (
        SELECT state_hash FROM landing_state WHERE expires_at < now() LIMIT 20 FOR UPDATE SKIP LOCKED)
)
INSERT INTO landing_state (state_hash, account_id, kind, expires_at)
VALUES (:state_hash, :account, :kind, clock_timestamp() + make_interval(secs => :lifetime_s::float8))
RETURNING time_json(expires_at);

-- name: landing_state_check(state_hash, account, kind, other_kind) (read)
-- As landing_state_take, but the state stays.
SELECT kind FROM landing_state
WHERE state_hash = :state_hash AND account_id = :account AND kind IN (:kind, :other_kind) AND expires_at > now();

-- name: landing_state_take(state_hash, account, kind, other_kind)
-- Deletes the state; returns its kind, which is one of two.
DELETE FROM landing_state
WHERE state_hash = :state_hash AND account_id = :account AND kind IN (:kind, :other_kind) AND expires_at > now()
RETURNING kind;

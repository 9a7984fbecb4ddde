-- name: login_state_create(state_hash, sealed, return_to, lifetime_s)
-- Also deletes up to 20 expired ones.
WITH expired AS (
    DELETE FROM login WHERE hash IN (SELECT hash FROM login WHERE expires_at < now() LIMIT 20 FOR UPDATE SKIP LOCKED)
)
INSERT INTO login (hash, sealed, return_to, expires_at)
VALUES (:state_hash, :sealed, :return_to, now() + make_interval(secs => :lifetime_s::float8));

-- name: login_state_take(state_hash)
DELETE FROM login
WHERE hash = :state_hash
RETURNING sealed, return_to, expires_at > now() AS is_valid;

-- name: login_state_create
-- $1 hash of the state, $2 what is sealed, $3 where it leads to, $4 lifetime in seconds. Also deletes up to 20 expired ones.
WITH expired AS (
    DELETE FROM login WHERE hash IN (SELECT hash FROM login WHERE expires_at < now() LIMIT 20 FOR UPDATE SKIP LOCKED)
)
INSERT INTO login (hash, sealed, return_to, expires_at) VALUES ($1, $2, $3, now() + make_interval(secs => $4::float8));

-- name: login_state_take
-- $1 hash of the state.
DELETE FROM login WHERE hash = $1 RETURNING sealed, return_to, expires_at > now() AS is_valid;

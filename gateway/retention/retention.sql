-- name: retention_delete
-- $1 days, $2 how many keys, and how many invitations, at most. How many were deleted.
WITH key AS (
    DELETE FROM api_key WHERE id IN (
        SELECT id FROM api_key WHERE least(revoked_at, deleted_at, expires_at) < now() - make_interval(days => $1::int)
        LIMIT $2::int FOR UPDATE SKIP LOCKED)
    RETURNING 1
), invited AS (
    DELETE FROM invitation WHERE id IN (
        SELECT id FROM invitation WHERE expires_at < now() - make_interval(days => $1::int) LIMIT $2::int FOR UPDATE SKIP LOCKED)
    RETURNING 1
)
SELECT (SELECT count(*) FROM key) + (SELECT count(*) FROM invited);

-- name: revocation_start
-- $1 id of a connection that there is not, $2 account, $3 provider, $4 sealed credentials, of a user of the provider who is not noted.
WITH noted AS (
    INSERT INTO revocation (id, account_id, provider, sealed) VALUES ($1, $2, $3, $4) RETURNING id
)
SELECT task_start('revoke', NULL, jsonb_build_object('connection_id', id)) FROM noted;

-- name: revocation_get (read)
-- Also whether the same user of the provider is, or may be, connected elsewhere.
SELECT account_id, provider, sealed, external_id IS NULL OR EXISTS (
    SELECT FROM connection c WHERE c.provider = r.provider AND c.external_id = r.external_id) AS is_used_elsewhere
FROM revocation r WHERE id = $1;

-- name: revocation_store
-- $1 connection, $2 sealed credentials, which replace those that are to be revoked.
UPDATE revocation SET sealed = $2 WHERE id = $1;

-- name: revocation_delete
DELETE FROM revocation WHERE id = $1;

-- name: revocation_forget
-- What could not be revoked in two days, twice as long as its task is tried.
DELETE FROM revocation WHERE created_at < now() - interval '2 days' RETURNING id, provider;

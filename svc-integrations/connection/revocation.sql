-- name: revocation_start(connection, account, provider, credentials)
-- There is no such :connection. The :credentials are sealed; of which user of the provider they are is not noted.
WITH noted AS (
    INSERT INTO revocation (id, account_id, provider, sealed) VALUES (:connection, :account, :provider, :credentials) RETURNING id
)
SELECT task_start('revoke', NULL, jsonb_build_object('connection_id', id)) FROM noted;

-- name: revocation_get(connection) (read)
-- Returns also whether the same user of the provider is, or may be, connected elsewhere.
SELECT account_id, provider, sealed, external_id IS NULL OR EXISTS (
    SELECT FROM connection c WHERE c.provider = r.provider AND c.external_id = r.external_id) AS is_used_elsewhere
FROM revocation r WHERE id = :connection;

-- name: revocation_store(connection, credentials)
-- The :credentials are sealed, and replace those that are to be revoked.
UPDATE revocation SET sealed = :credentials WHERE id = :connection;

-- name: revocation_delete(connection)
DELETE FROM revocation WHERE id = :connection;

-- name: revocation_forget
-- What could not be revoked in two days, twice as long as its task is tried.
DELETE FROM revocation WHERE created_at < now() - interval '2 days' RETURNING id, provider;

-- name: revocation_get (read)
-- Also whether the same user of the provider is connected elsewhere.
SELECT account_id, provider, sealed, EXISTS (SELECT FROM connection c
                                             WHERE c.provider = r.provider AND c.external_id = r.external_id) AS is_used_elsewhere
FROM revocation r WHERE id = $1;

-- name: revocation_store
-- $1 connection, $2 sealed credentials, which replace those that are to be revoked.
UPDATE revocation SET sealed = $2 WHERE id = $1;

-- name: revocation_delete
DELETE FROM revocation WHERE id = $1;

-- name: revocation_forget
-- What could not be revoked in two days, twice as long as its task is tried.
DELETE FROM revocation WHERE created_at < now() - interval '2 days' RETURNING id, provider;

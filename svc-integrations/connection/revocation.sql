-- name: revocation_get (read)
SELECT account_id, provider, sealed FROM revocation WHERE id = $1;

-- name: revocation_delete
DELETE FROM revocation WHERE id = $1;

-- See main/reseal.h.

-- name: reseal_connection_page (read)
SELECT id, id || ' ' || account_id || ' ' || provider AS context, sealed FROM connection
WHERE id > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000') AND NOT starts_with(encode(sealed, 'hex'), $2)
ORDER BY id LIMIT $3;

-- name: reseal_connection_update
UPDATE connection SET sealed = $3 WHERE id = $1 AND sealed = $2;

-- name: reseal_revocation_page (read)
SELECT id, id || ' ' || account_id || ' ' || provider AS context, sealed FROM revocation
WHERE id > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000') AND NOT starts_with(encode(sealed, 'hex'), $2)
ORDER BY id LIMIT $3;

-- name: reseal_revocation_update
UPDATE revocation SET sealed = $3 WHERE id = $1 AND sealed = $2;

-- name: reseal_attempt_page (read)
SELECT state_hash AS id, encode(state_hash, 'hex') AS context, verifier AS sealed FROM authorization_attempt
WHERE state_hash > coalesce($1::bytea, '') AND NOT starts_with(encode(verifier, 'hex'), $2)
ORDER BY state_hash LIMIT $3;

-- name: reseal_attempt_update
UPDATE authorization_attempt SET verifier = $3 WHERE state_hash = $1 AND verifier = $2;

-- name: reseal_endpoint_page (read)
SELECT id, id || ' ' || account_id AS context, secret AS sealed FROM endpoint
WHERE id > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000') AND NOT starts_with(encode(secret, 'hex'), $2)
ORDER BY id LIMIT $3;

-- name: reseal_endpoint_update
UPDATE endpoint SET secret = $3 WHERE id = $1 AND secret = $2;

-- name: reseal_old_secret_page (read)
SELECT id, id || ' ' || account_id AS context, old_secret AS sealed FROM endpoint
WHERE id > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000') AND NOT starts_with(encode(old_secret, 'hex'), $2)
ORDER BY id LIMIT $3;

-- name: reseal_old_secret_update
UPDATE endpoint SET old_secret = $3 WHERE id = $1 AND old_secret = $2;

-- name: reseal_confirmation_page (read)
SELECT id, endpoint_id || ' ' || account_id AS context, token AS sealed FROM email_confirmation
WHERE id > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000') AND NOT starts_with(encode(token, 'hex'), $2)
ORDER BY id LIMIT $3;

-- name: reseal_confirmation_update
UPDATE email_confirmation SET token = $3 WHERE id = $1 AND token = $2;

-- name: reseal_app_page (read)
SELECT app_id AS id, app_id AS context, secrets AS sealed FROM app
WHERE app_id > coalesce($1::text, '') AND NOT starts_with(encode(secrets, 'hex'), $2)
ORDER BY app_id LIMIT $3;

-- name: reseal_app_update
UPDATE app SET secrets = $3 WHERE app_id = $1 AND secrets = $2;

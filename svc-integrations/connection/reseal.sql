-- See main/reseal.h.

-- name: reseal_connection_page(after, prefix, limit) (read)
SELECT id, id || ' ' || account_id || ' ' || provider AS context, sealed FROM connection
WHERE id > coalesce(:after::uuid, '00000000-0000-0000-0000-000000000000') AND NOT starts_with(encode(sealed, 'hex'), :prefix)
ORDER BY id LIMIT :limit;

-- name: reseal_connection_update(connection, former, sealed)
UPDATE connection SET sealed = :sealed WHERE id = :connection AND sealed = :former;

-- name: reseal_revocation_page(after, prefix, limit) (read)
SELECT id, id || ' ' || account_id || ' ' || provider AS context, sealed FROM revocation
WHERE id > coalesce(:after::uuid, '00000000-0000-0000-0000-000000000000') AND NOT starts_with(encode(sealed, 'hex'), :prefix)
ORDER BY id LIMIT :limit;

-- name: reseal_revocation_update(revocation, former, sealed)
UPDATE revocation SET sealed = :sealed WHERE id = :revocation AND sealed = :former;

-- name: reseal_attempt_page(after, prefix, limit) (read)
SELECT state_hash AS id, encode(state_hash, 'hex') AS context, verifier AS sealed FROM authorization_attempt
WHERE state_hash > coalesce(:after::bytea, '') AND NOT starts_with(encode(verifier, 'hex'), :prefix)
ORDER BY state_hash LIMIT :limit;

-- name: reseal_attempt_update(state_hash, former, sealed)
UPDATE authorization_attempt SET verifier = :sealed WHERE state_hash = :state_hash AND verifier = :former;

-- name: reseal_endpoint_page(after, prefix, limit) (read)
SELECT id, id || ' ' || account_id AS context, secret AS sealed FROM endpoint
WHERE id > coalesce(:after::uuid, '00000000-0000-0000-0000-000000000000') AND NOT starts_with(encode(secret, 'hex'), :prefix)
ORDER BY id LIMIT :limit;

-- name: reseal_endpoint_update(endpoint, former, sealed)
UPDATE endpoint SET secret = :sealed WHERE id = :endpoint AND secret = :former;

-- name: reseal_old_secret_page(after, prefix, limit) (read)
SELECT id, id || ' ' || account_id AS context, old_secret AS sealed FROM endpoint
WHERE id > coalesce(:after::uuid, '00000000-0000-0000-0000-000000000000') AND NOT starts_with(encode(old_secret, 'hex'), :prefix)
ORDER BY id LIMIT :limit;

-- name: reseal_old_secret_update(endpoint, former, sealed)
UPDATE endpoint SET old_secret = :sealed WHERE id = :endpoint AND old_secret = :former;

-- name: reseal_confirmation_page(after, prefix, limit) (read)
SELECT id, endpoint_id || ' ' || account_id AS context, token AS sealed FROM email_confirmation
WHERE id > coalesce(:after::uuid, '00000000-0000-0000-0000-000000000000') AND NOT starts_with(encode(token, 'hex'), :prefix)
ORDER BY id LIMIT :limit;

-- name: reseal_confirmation_update(confirmation, former, sealed)
UPDATE email_confirmation SET token = :sealed WHERE id = :confirmation AND token = :former;

-- name: reseal_app_page(after, prefix, limit) (read)
SELECT app_id AS id, app_id AS context, secrets AS sealed FROM app
WHERE app_id > coalesce(:after::text, '') AND NOT starts_with(encode(secrets, 'hex'), :prefix)
ORDER BY app_id LIMIT :limit;

-- name: reseal_app_update(app_id, former, sealed)
UPDATE app SET secrets = :sealed WHERE app_id = :app_id AND secrets = :former;

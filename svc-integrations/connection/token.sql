-- name: token_get(account, provider, valid_s) (read)
-- The token must still be valid for :valid_s. has_ended: the last refresh has, which is not so when its process died.
-- is_for_one_use: the provider said that the token has expired when it gave it.
SELECT id, status = 'active' AS is_active, coalesce(status_reason, '') AS reason, sealed, token_type,
       CASE WHEN token_expires_at > last_refreshed_at OR last_refreshed_at IS NULL THEN time_json(token_expires_at)
       END AS expires_at,
       to_jsonb(scopes) AS scopes,
       token_expires_at IS NULL OR token_expires_at > now() + make_interval(secs => :valid_s::float8) AS is_valid,
       refresh_until IS NOT NULL AND refresh_until >= now() AS is_leased, refresh_until IS NULL AS has_ended,
       refresh_fence, refresh_fault, coalesce(token_expires_at <= last_refreshed_at, false) AS is_for_one_use
FROM connection WHERE account_id = :account AND provider = :provider;

-- name: refresh_lease(connection, valid_s, lease_ms)
-- The token must still be valid for :valid_s. Returns the fence and the sealed credentials. No row: another refresh runs, or none
-- is needed any more.
UPDATE connection SET refresh_fence = refresh_fence + 1,
    refresh_until = clock_timestamp() + make_interval(secs => :lease_ms::float8 / 1000)
WHERE id = :connection AND status = 'active' AND (refresh_until IS NULL OR refresh_until < clock_timestamp())
  AND token_expires_at <= now() + make_interval(secs => :valid_s::float8)
RETURNING refresh_fence, sealed;

-- name: refresh_store(connection, fence, credentials, token_type, expires_in_s, scopes)
-- The :credentials are sealed. :expires_in_s: of the token; 0: unknown, -1: it has expired. :scopes of NULL: those of before.
-- Returns whether the connection is still there; storing the same twice changes nothing.
WITH stored AS (
    UPDATE connection SET sealed = :credentials, token_type = :token_type,
        token_expires_at = now() + make_interval(secs => nullif(:expires_in_s::float8, 0)),
        scopes = coalesce(regexp_split_to_array(nullif(trim(:scopes), ''), '[\s,]+'), scopes), last_refreshed_at = now(),
        refresh_until = NULL, refresh_fault = NULL, refusals = 0, unaccepted = 0
    WHERE id = :connection AND refresh_fence = :fence
)
SELECT EXISTS (SELECT FROM connection WHERE id = :connection);

-- name: refresh_give_up(connection, fence, reason, is_refused, is_unclear)
-- :is_refused: the provider refused the token; :is_unclear: it did so in unclear words.
SELECT refresh_give_up(:connection, :fence, :reason, :is_refused, :is_unclear);

-- name: token_refused(account, provider)
-- The :provider has not accepted the token. What it says within five minutes counts once. Returns whether it was the third time in
-- a row.
UPDATE connection SET
    unaccepted = CASE WHEN unaccepted = 0 OR unaccepted_at <= now() - interval '5 minutes' THEN least(unaccepted, 2) + 1 ELSE unaccepted END,
    unaccepted_at = CASE WHEN unaccepted = 0 OR unaccepted_at <= now() - interval '5 minutes' THEN now() ELSE unaccepted_at END
WHERE account_id = :account AND provider = :provider RETURNING unaccepted >= 3;

-- name: token_accepted(account, provider)
UPDATE connection SET unaccepted = 0 WHERE account_id = :account AND provider = :provider AND unaccepted > 0;

-- name: token_audit(account, provider)
SELECT audit_emit(c.account_id, 'connection.token_read',
                  jsonb_build_object('kind', 'connection', 'id', c.id, 'name', c.provider), '[]')
FROM connection c WHERE c.account_id = :account AND c.provider = :provider;

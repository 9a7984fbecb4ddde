-- name: token_get (read)
-- $1 account, $2 provider, $3 seconds that the token must still be valid. has_ended: the last refresh has, which is not so when
-- its process died. is_for_one_use: the provider said that the token has expired when it gave it.
SELECT id, status = 'active' AS is_active, coalesce(status_reason, '') AS reason, sealed, token_type,
       CASE WHEN token_expires_at > last_refreshed_at OR last_refreshed_at IS NULL THEN time_json(token_expires_at) END AS expires_at,
       to_jsonb(scopes) AS scopes,
       token_expires_at IS NULL OR token_expires_at > now() + make_interval(secs => $3::float8) AS is_valid,
       refresh_until IS NOT NULL AND refresh_until >= now() AS is_leased, refresh_until IS NULL AS has_ended,
       refresh_fence, refresh_fault, coalesce(token_expires_at <= last_refreshed_at, false) AS is_for_one_use
FROM connection WHERE account_id = $1 AND provider = $2;

-- name: refresh_lease
-- $1 connection, $2 seconds that the token must still be valid, $3 duration of the lease in milliseconds. The fence and the
-- sealed credentials; no row: another refresh runs, or none is needed any more.
UPDATE connection SET refresh_fence = refresh_fence + 1,
    refresh_until = clock_timestamp() + make_interval(secs => $3::float8 / 1000)
WHERE id = $1 AND status = 'active' AND (refresh_until IS NULL OR refresh_until < clock_timestamp())
  AND token_expires_at <= now() + make_interval(secs => $2::float8)
RETURNING refresh_fence, sealed;

-- name: refresh_store
-- $1 connection, $2 fence, $3 sealed credentials, $4 token type, $5 seconds until the token expires, 0: unknown, -1: it has, $6 scopes or NULL.
-- Whether the connection is still there; storing the same twice changes nothing.
WITH stored AS (
    UPDATE connection SET sealed = $3, token_type = $4,
        token_expires_at = now() + make_interval(secs => nullif($5::float8, 0)),
        scopes = coalesce(regexp_split_to_array(nullif(trim($6), ''), '[\s,]+'), scopes), last_refreshed_at = now(),
        refresh_until = NULL, refresh_fault = NULL, refusals = 0
    WHERE id = $1 AND refresh_fence = $2
)
SELECT EXISTS (SELECT FROM connection WHERE id = $1);

-- name: refresh_give_up
-- $1 connection, $2 fence, $3 why, $4 whether the provider refused the token, $5 whether it did so in unclear words.
SELECT refresh_give_up($1, $2, $3, $4, $5);

-- name: token_audit
-- $1 account, $2 provider.
SELECT audit_emit(c.account_id, 'connection.token_read', jsonb_build_object('kind', 'connection', 'id', c.id, 'name', c.provider), '[]')
FROM connection c WHERE c.account_id = $1 AND c.provider = $2;

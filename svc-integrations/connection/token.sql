-- name: token_get (read)
-- $1 account, $2 provider, $3 seconds that the token must still be valid.
SELECT id, status = 'active', coalesce(status_reason, ''), sealed, token_type, time_json(token_expires_at), to_jsonb(scopes),
       token_expires_at IS NULL OR token_expires_at > now() + make_interval(secs => $3::float8),
       refresh_until IS NOT NULL AND refresh_until >= now(), refresh_until IS NULL, refresh_fence, refresh_fault
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
-- $1 connection, $2 fence, $3 sealed credentials, $4 token type, $5 seconds until the token expires or 0, $6 scopes or NULL.
-- Whether the connection is still there; storing the same twice changes nothing.
WITH stored AS (
    UPDATE connection SET sealed = $3, token_type = $4,
        token_expires_at = now() + make_interval(secs => nullif($5::float8, 0)),
        scopes = coalesce(regexp_split_to_array(nullif(trim($6), ''), '[\s,]+'), scopes), last_refreshed_at = now(),
        refresh_until = NULL, refresh_fault = NULL
    WHERE id = $1 AND refresh_fence = $2
)
SELECT EXISTS (SELECT FROM connection WHERE id = $1);

-- name: refresh_give_up
-- $1 connection, $2 fence, $3 why, $4 whether the connection is expired; if not, the next one may try.
UPDATE connection SET refresh_until = NULL, refresh_fault = $3,
    status = CASE WHEN $4 THEN 'expired' ELSE status END, status_reason = CASE WHEN $4 THEN $3 ELSE status_reason END
WHERE id = $1 AND refresh_fence = $2;

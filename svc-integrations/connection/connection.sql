-- name: connection_list (read)
-- $1 account, $2 limit, $3 offset.
SELECT coalesce((SELECT jsonb_agg(connection_json(c) ORDER BY c.id DESC)
                 FROM (SELECT * FROM connection WHERE account_id = $1 AND status = 'active'
                       ORDER BY id DESC LIMIT $2 OFFSET $3) c), '[]'),
       (SELECT count(*) FROM connection WHERE account_id = $1 AND status = 'active') AS total;

-- name: connection_names (read)
-- $1 account: the providers that it is connected to.
SELECT provider FROM connection WHERE account_id = $1 AND status = 'active';

-- name: connection_get (read)
-- $1 account, $2 provider: the connection, and whether it is active.
SELECT connection_json(c), status = 'active' AS is_active FROM connection c WHERE account_id = $1 AND provider = $2;

-- name: connection_credentials (read)
-- $1 account, $2 provider.
SELECT id, sealed, base_url FROM connection WHERE account_id = $1 AND provider = $2 AND status = 'active';

-- name: connection_remove
-- $1 account, $2 provider, $3 address of the code host's pages. The id of the connection; no row: there was none. Without a
-- connection to the code host the account has access to no repository any more.
WITH found AS (
    SELECT id FROM connection WHERE account_id = $1 AND provider = $2
)
SELECT jsonb_build_object('id', id, 'deleted', true), CASE WHEN $2 = 'code_host' THEN access_lost_announce($1, NULL, $3) END
FROM found WHERE connection_remove($1, $2) > 0;

-- name: connection_store
-- $1 id, $2 account, $3 provider, $4 external id, $5 external login, $6 external email, $7 scopes, $8 sealed credentials, $9
-- token type, $10 seconds until the token expires, 0: unknown, -1: it has; $11 base URL, $12 whether the provider has verified the email, $13 key and $14 person of who connects,
-- $15 for how many ms they have been doing so; NULL: they may since have lost their place in the account. A connection that exists is
-- replaced and gets the new id, for which the credentials are sealed. A refresh that runs is refused by its fence. The former tokens are
-- revoked (connection_replaced()). No row: who connects has no place in the account any more.
INSERT INTO connection AS c (id, account_id, provider, external_id, external_login, external_email, scopes, sealed,
                             token_type, token_expires_at, base_url, external_email_verified, key_id, person_id)
SELECT $1, $2, $3, $4, $5, $6, coalesce(regexp_split_to_array(nullif(trim($7), ''), '[\s,]+'), '{}'), $8, $9,
       now() + make_interval(secs => nullif($10::float8, 0)), $11, $12, $13, $14
WHERE NOT connection_maker_is_gone($2, $13, $14, $15)
ON CONFLICT (account_id, provider) DO UPDATE
SET id = excluded.id, status = 'active', status_reason = NULL, external_id = excluded.external_id,
    external_login = excluded.external_login, external_email = excluded.external_email,
    external_email_verified = excluded.external_email_verified, scopes = excluded.scopes,
    sealed = excluded.sealed, token_type = excluded.token_type, token_expires_at = excluded.token_expires_at,
    base_url = excluded.base_url, connected_at = now(), last_refreshed_at = NULL, refresh_fence = c.refresh_fence + 1,
    refresh_until = NULL, refresh_fault = NULL, refusals = 0, key_id = excluded.key_id, person_id = excluded.person_id
RETURNING connection_json(c), CASE WHEN $15::bigint IS NOT NULL THEN connection_announce(c, NULL, NULL) END;

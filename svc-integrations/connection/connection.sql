-- name: connection_list(account, limit, offset) (read)
SELECT coalesce((SELECT jsonb_agg(connection_json(c) ORDER BY c.id DESC)
                 FROM (SELECT * FROM connection WHERE account_id = :account AND status = 'active'
                       ORDER BY id DESC LIMIT :limit OFFSET :offset) c), '[]'),
       (SELECT count(*) FROM connection WHERE account_id = :account AND status = 'active') AS total;

-- name: connection_names(account) (read)
-- Returns the providers that it is connected to.
SELECT provider FROM connection WHERE account_id = :account AND status = 'active';

-- name: connection_get(account, provider) (read)
-- Returns the connection, and whether it is active.
SELECT connection_json(c), status = 'active' AS is_active FROM connection c WHERE account_id = :account AND provider = :provider;

-- name: connection_credentials(account, provider) (read)
SELECT id, sealed, base_url FROM connection WHERE account_id = :account AND provider = :provider AND status = 'active';

-- name: connection_remove(account, provider, web_url)
-- :web_url: address of the code host's pages. Returns the id of the connection. No row: there was none. Without a connection to
-- the code host the account has access to no repository any more.
WITH found AS (
    SELECT id FROM connection WHERE account_id = :account AND provider = :provider
)
SELECT jsonb_build_object('id', id, 'deleted', true),
       CASE WHEN :provider = 'code_host' THEN access_lost_announce(:account, NULL, :web_url) END
FROM found WHERE connection_remove(:account, :provider) > 0;

-- name: connection_store(connection, account, provider, external_id, external_login, external_email, scopes, credentials,
--   token_type, expires_in_s, base_url, is_email_verified, key, person, age_ms)
-- The :credentials are sealed. :expires_in_s: of the token; 0: unknown, -1: it has expired. :is_email_verified: by the provider.
-- :key and :person: who connects. They have been doing so for :age_ms, and may since have lost their place in the account; NULL:
-- it is not asked whether they have. A connection that exists is replaced and gets the new id, for which the credentials are
-- sealed. A refresh that runs is refused by its fence. The former tokens are revoked (connection_replaced()). No row: who
-- connects has no place in the account any more.
INSERT INTO connection AS c (id, account_id, provider, external_id, external_login, external_email, scopes, sealed,
                             token_type, token_expires_at, base_url, external_email_verified, key_id, person_id)
SELECT :connection, :account, :provider, :external_id, :external_login, :external_email,
       coalesce(regexp_split_to_array(nullif(trim(:scopes), ''), '[\s,]+'), '{}'), :credentials,
       :token_type, now() + make_interval(secs => nullif(:expires_in_s::float8, 0)), :base_url, :is_email_verified, :key, :person
WHERE NOT connection_maker_is_gone(:account, :key, :person, :age_ms)
ON CONFLICT (account_id, provider) DO UPDATE
SET id = excluded.id, status = 'active', status_reason = NULL, external_id = excluded.external_id,
    external_login = excluded.external_login, external_email = excluded.external_email,
    external_email_verified = excluded.external_email_verified, scopes = excluded.scopes,
    unaccepted = 0, sealed = excluded.sealed, token_type = excluded.token_type, token_expires_at = excluded.token_expires_at,
    base_url = excluded.base_url, connected_at = now(), last_refreshed_at = NULL, refresh_fence = c.refresh_fence + 1,
    refresh_until = NULL, refresh_fault = NULL, refusals = 0, key_id = excluded.key_id, person_id = excluded.person_id
RETURNING connection_json(c), CASE WHEN :age_ms::bigint IS NOT NULL THEN connection_announce(c, NULL, NULL) END;

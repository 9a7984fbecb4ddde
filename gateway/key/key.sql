-- name: key_lookup
-- The owner of the valid key with the hash $1. Sets last_used_at, at most once a minute.
WITH used AS (
    UPDATE api_key SET last_used_at = now()
    WHERE hash = $1 AND revoked_at IS NULL AND deleted_at IS NULL
      AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')
)
SELECT account_id, id, kind, array_to_string(scopes, ' ') AS scopes, repo, interest_id,
       (extract(epoch FROM expires_at) * 1000)::bigint AS expires_at_ms, repo_verified
FROM api_key
WHERE hash = $1 AND revoked_at IS NULL AND deleted_at IS NULL
  AND (expires_at IS NULL OR expires_at > now());

-- name: session_lookup
-- The same for the valid session with the hash $1. Sets last_seen_at, at most once a minute.
WITH valid AS (
    SELECT (v.s).id, (v.s).last_seen_at, (v.s).expires_at, v.k, v.scopes FROM session_valid($1) v
), seen AS (
    UPDATE session s SET last_seen_at = now() FROM valid
    WHERE s.id = valid.id AND valid.last_seen_at < now() - interval '1 minute'
)
SELECT (k).account_id, (k).id, (k).kind, array_to_string(scopes, ' ') AS scopes, (k).repo, (k).interest_id,
       (extract(epoch FROM expires_at) * 1000)::bigint AS expires_at_ms, (k).repo_verified
FROM valid;

-- name: key_list (read)
-- $1 account, $2 limit, $3 offset, $4 the only key to show (NULL: all). Newest first.
SELECT (SELECT coalesce(jsonb_agg(page.json ORDER BY page.id DESC), '[]')
        FROM (SELECT k.id, api_key_json(k) AS json FROM api_key k
              WHERE k.account_id = $1 AND k.deleted_at IS NULL AND ($4::uuid IS NULL OR k.id = $4)
              ORDER BY k.id DESC LIMIT $2 OFFSET $3) page),
       (SELECT count(*) FROM api_key WHERE account_id = $1 AND deleted_at IS NULL AND ($4::uuid IS NULL OR id = $4)) AS total;

-- name: key_create
-- $1 account, $2 the key that makes it (NULL: none), $3 name, $4 kind, $5 prefix to show, $6 hash, $7 scopes as a JSON array,
-- $8 repo, $9 interest, $10 days until the key expires (NULL: never).
SELECT made, outcome FROM api_key_new($1, $2, $3, $4, $5, $6, $7, repository_hold($8), $9, $10);

-- name: key_lacking
-- $1 account, $2 the key that grants scopes, $3 these as a JSON array: those that it lacks. No row: it is not valid.
SELECT scopes_lacking(k.scopes, $3::jsonb) AS lacking FROM api_key_maker($1, $2) k WHERE k.id IS NOT NULL;

-- name: key_kind (read)
SELECT kind FROM api_key WHERE id = $1 AND account_id = $2 AND deleted_at IS NULL;

-- name: key_update
-- $3 name, $4 scopes as a JSON array; NULL: unchanged.
UPDATE api_key SET
    name = coalesce($3, name),
    scopes = CASE WHEN $4::jsonb IS NULL THEN scopes
                  ELSE ARRAY(SELECT jsonb_array_elements_text($4::jsonb)) END
WHERE id = $1 AND account_id = $2 AND deleted_at IS NULL
RETURNING api_key_json(api_key);

-- name: key_revoke
-- Only the first revocation of a key sends the event.
WITH before AS (
    SELECT k AS old, k.id, k.revoked_at FROM api_key k
    WHERE k.id = $1 AND k.account_id = $2 AND k.deleted_at IS NULL FOR UPDATE
), event AS (
    SELECT api_key_announce(old, 'key.revoked') FROM before WHERE revoked_at IS NULL
)
UPDATE api_key k SET revoked_at = coalesce(k.revoked_at, now())
FROM before LEFT JOIN (SELECT count(*) FROM event) sent ON true
WHERE k.id = before.id
RETURNING api_key_json(k);

-- name: key_delete
WITH before AS (
    SELECT k AS old FROM api_key k WHERE k.id = $1 AND k.account_id = $2 AND k.deleted_at IS NULL FOR UPDATE
), event AS (
    SELECT api_key_announce(old, 'key.revoked') FROM before
), deleted AS (
    UPDATE api_key k SET revoked_at = coalesce(k.revoked_at, now()), deleted_at = now()
    FROM before WHERE k.id = (old).id
)
SELECT jsonb_build_object('id', id, 'deleted', true), (SELECT count(*) FROM event)
FROM api_key WHERE id = $1 AND account_id = $2;

-- name: key_owner (read)
SELECT account_id FROM api_key WHERE id = $1 AND deleted_at IS NULL;

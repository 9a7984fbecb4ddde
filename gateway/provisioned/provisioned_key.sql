-- name: provisioned_key_create
-- $1 account, $2 the key that asks for it (NULL: none), $3 name, $4 prefix to show, $5 hash, $6 scopes as a JSON array, $7 repo,
-- $8 interest, $9 purpose (NULL: temporary), $10 seconds until it expires, $11 whether the repo is proved.
SELECT made || jsonb_build_object('replaced', replaced), outcome, replaced
FROM api_key_provision($1, $2, $3, $4, $5, $6, repository_hold($7), $8, $9, $10, $11);

-- name: provisioned_key_get (read)
SELECT api_key_json(k) FROM api_key k WHERE k.id = $1 AND k.account_id = $2 AND k.is_provisioned;

-- name: provisioned_key_revoke
-- $1 key, $2 account, $3 purpose of a valid key: one of $1 and $3, the other is NULL. Only the first revocation of a key sends the event.
WITH before AS (
    SELECT k AS old, k.id, k.revoked_at FROM api_key k
    WHERE k.account_id = $2 AND k.is_provisioned AND (k.id = $1 OR k.purpose = $3 AND k.revoked_at IS NULL) FOR UPDATE
), event AS (
    SELECT api_key_announce(old, 'key.revoked') FROM before WHERE revoked_at IS NULL
)
UPDATE api_key k SET revoked_at = coalesce(k.revoked_at, now())
FROM before LEFT JOIN (SELECT count(*) FROM event) sent ON true
WHERE k.id = before.id
RETURNING api_key_json(k), k.id;

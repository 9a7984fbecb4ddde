-- name: provisioned_key_create(account, maker, name, prefix, key_hash, scopes, repository, interest, purpose, lifetime_s,
--   is_repository_verified)
-- :maker is the key that asks for it (NULL: none), :prefix is to be shown, :scopes is a JSON array. No :purpose: it is temporary.
SELECT made || jsonb_build_object('replaced', replaced), outcome, replaced
FROM api_key_provision(:account, :maker, :name, :prefix, :key_hash, :scopes, repository_hold(:repository), :interest, :purpose,
                       :lifetime_s, :is_repository_verified);

-- name: provisioned_key_get(key, account) (read)
SELECT api_key_json(k)
FROM api_key k
WHERE k.id = :key AND k.account_id = :account AND k.is_provisioned;

-- name: provisioned_key_revoke(key, account, purpose)
-- :key, or the valid key with :purpose: the other is NULL. Only the first revocation of a key sends the event.
WITH before AS (
    SELECT k AS old, k.id, k.revoked_at
    FROM api_key k
    WHERE k.account_id = :account AND k.is_provisioned AND (k.id = :key OR k.purpose = :purpose AND k.revoked_at IS NULL)
    FOR UPDATE
), event AS (
    SELECT api_key_announce(old, 'key.revoked') FROM before WHERE revoked_at IS NULL
)
UPDATE api_key k SET revoked_at = coalesce(k.revoked_at, now())
FROM before LEFT JOIN (SELECT count(*) FROM event) sent ON true
WHERE k.id = before.id
RETURNING api_key_json(k), k.id;

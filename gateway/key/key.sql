-- name: key_lookup(hashes)
-- An item each (pg/batch.h). Returns the owner of each valid key, its person and their role (NULL: it is not restricted).
-- Sets last_used_at, at most once a minute; it waits for no key that somebody changes.
WITH item AS (
    SELECT * FROM unnest(:hashes::bytea[]) WITH ORDINALITY AS i (hash, n)
), used AS (
    UPDATE api_key SET last_used_at = now()
    WHERE id IN (SELECT k.id FROM api_key k
                 WHERE k.hash = ANY (:hashes) AND k.revoked_at IS NULL AND k.deleted_at IS NULL
                   AND (k.last_used_at IS NULL OR k.last_used_at < now() - interval '1 minute')
                 FOR NO KEY UPDATE SKIP LOCKED)
)
SELECT item.n, k.account_id, k.id, k.kind, array_to_string(k.scopes, ' ') AS scopes, k.repo, k.interest_id,
       (extract(epoch FROM k.expires_at) * 1000)::bigint AS expires_at_ms, k.repo_verified, m.role, p.is_operator,
       p.id AS person_id, k.account_id AS key_account_id
FROM item
JOIN api_key k USING (hash)
LEFT JOIN api_key_person o ON o.key_id = k.id AND k.kind = 'personal'
LEFT JOIN person p ON p.id = o.person_id AND p.disabled_at IS NULL
LEFT JOIN member m ON m.account_id = k.account_id AND m.person_id = p.id
WHERE k.revoked_at IS NULL AND k.deleted_at IS NULL
  AND (k.expires_at IS NULL OR k.expires_at > now()) AND (o.key_id IS NULL OR m.role IS NOT NULL);

-- name: session_lookup(hashes)
-- The same for sessions. Sets last_seen_at, at most once a minute.
WITH valid AS (
    SELECT i.n, v.s, v.k, v.scopes
    FROM unnest(:hashes::bytea[]) WITH ORDINALITY AS i (hash, n) CROSS JOIN LATERAL session_valid(i.hash) v
), seen AS (
    UPDATE session SET last_seen_at = now()
    WHERE id IN (SELECT s.id FROM session s
                 WHERE s.id IN (SELECT (valid.s).id FROM valid) AND s.last_seen_at < now() - interval '1 minute'
                 FOR NO KEY UPDATE SKIP LOCKED)
)
SELECT n, (s).account_id, (k).id, (k).kind, array_to_string(scopes, ' ') AS scopes, (k).repo, (k).interest_id,
       (extract(epoch FROM (s).expires_at) * 1000)::bigint AS expires_at_ms, (k).repo_verified, m.role, p.is_operator,
       p.id AS person_id, (k).account_id AS key_account_id
FROM valid
LEFT JOIN person p ON p.id = (s).person_id
LEFT JOIN member m ON m.account_id = (s).account_id AND m.person_id = p.id;

-- name: key_list(account, limit, offset, only_key, actor_key) (read)
-- Newest first. :only_key is the only one to show (NULL: all), :actor_key the one that asks.
WITH shown AS MATERIALIZED (
    SELECT k.id
    FROM api_key k
    LEFT JOIN api_key_person o ON o.key_id = k.id, actor(:account, :actor_key) a
    WHERE k.account_id = :account AND k.deleted_at IS NULL AND (:only_key::uuid IS NULL OR k.id = :only_key)
      AND (k.id = :actor_key OR a.role IN ('owner', 'admin') OR a.role IS NOT NULL AND o.person_id = a.person_id)
      AND NOT EXISTS (SELECT FROM login_key l WHERE l.key_id = k.id)
)
SELECT (SELECT coalesce(jsonb_agg(page.json ORDER BY page.id DESC), '[]')
        FROM (SELECT k.id, api_key_json(k) AS json
              FROM api_key k JOIN shown USING (id)
              ORDER BY k.id DESC
              LIMIT :limit OFFSET :offset) page),
       (SELECT count(*) FROM shown) AS total;

-- name: key_create(account, maker, name, kind, prefix, key_hash, scopes, repository, interest, lifetime_days)
-- :maker is the key that makes it (NULL: none). :prefix is to be shown. :scopes is a JSON array. A :lifetime_days of NULL: it
-- never expires.
SELECT made, outcome
FROM api_key_new(:account, :maker, :name, :kind, :prefix, :key_hash, :scopes, repository_hold(:repository), :interest,
                 :lifetime_days);

-- name: key_lacking(account, maker, scopes)
-- Returns those of :scopes, a JSON array, that :maker lacks, the key that grants them. No row: it is not valid.
SELECT scopes_lacking(k.scopes, :scopes::jsonb) AS lacking
FROM api_key_maker(:account, :maker) k
WHERE k.id IS NOT NULL;

-- name: key_actor(account, key)
-- Returns the role of who acts with the key; `none`: it is an automation key whose maker has none. It stays so until the end of
-- the transaction.
SELECT coalesce(a.role, CASE WHEN k.kind = 'automation' THEN 'none' END) AS role
FROM api_key k, actor_lock(:account, :key) a
WHERE k.id = :key;

-- name: key_kind(key, account, actor_key) (read)
-- Returns the kind, and whether the key is of the same person as :actor_key, the key that asks. No row: it is not shown to that.
-- What is nobody's is an owner's.
SELECT k.kind, a.person_id IS NOT DISTINCT FROM o.person_id OR o.person_id IS NULL AND a.role = 'owner' AS is_own
FROM api_key k
LEFT JOIN api_key_person o ON o.key_id = k.id, actor(:account, :actor_key) a
WHERE k.id = :key AND k.account_id = :account AND k.deleted_at IS NULL AND api_key_is_shown(:account, :actor_key, :key);

-- name: key_hold(key, account)
-- It stays as it is until the end of the transaction.
SELECT array_to_string(scopes, ' ') AS scopes,
       revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp()) AS is_valid
FROM api_key
WHERE id = :key AND account_id = :account AND deleted_at IS NULL
FOR UPDATE;

-- name: key_update(key, account, name, scopes, changes_expiry, lifetime_days, actor_key)
-- A :name of NULL: unchanged. :scopes is a JSON array (NULL: unchanged). :changes_expiry: it ends in :lifetime_days (NULL:
-- never). :actor_key changes it. Sessions that were made with it end no later than it. Services hear of it.
WITH expiry AS (
    SELECT CASE WHEN :changes_expiry THEN api_key_expiry(k, :actor_key, :lifetime_days) END AS at
    FROM api_key k
    WHERE k.id = :key AND k.account_id = :account AND k.deleted_at IS NULL
), sessions AS (
    UPDATE session s SET expires_at = expiry.at
    FROM expiry
    WHERE :changes_expiry AND s.key_id = :key AND s.expires_at > expiry.at
)
UPDATE api_key k SET
    name = coalesce(:name, k.name),
    scopes = CASE WHEN :scopes::jsonb IS NULL THEN k.scopes
                  ELSE ARRAY(SELECT jsonb_array_elements_text(:scopes::jsonb)) END,
    expires_at = CASE WHEN :changes_expiry THEN expiry.at ELSE k.expires_at END,
    expiry_told = CASE WHEN :changes_expiry THEN api_key_expiry_told(expiry.at) ELSE k.expiry_told END
FROM expiry
WHERE k.id = :key
RETURNING api_key_json(k), event_emit('events.account', 'key.updated', k.account_id, api_key_event(k));

-- name: key_revoke(key, account, actor_key)
-- :actor_key revokes it (NULL: a command). Only the first revocation of a key sends the event.
WITH before AS (
    SELECT k AS old, k.id, k.revoked_at
    FROM api_key k
    WHERE k.id = :key AND k.account_id = :account AND k.deleted_at IS NULL
      AND (:actor_key::uuid IS NULL OR api_key_is_shown(:account, :actor_key, k.id))
    FOR UPDATE
), event AS (
    SELECT api_key_announce(old, 'key.revoked') FROM before WHERE revoked_at IS NULL
)
UPDATE api_key k SET revoked_at = coalesce(k.revoked_at, now())
FROM before LEFT JOIN (SELECT count(*) FROM event) sent ON true
WHERE k.id = before.id
RETURNING api_key_json(k);

-- name: key_delete(key, account, actor_key)
-- :actor_key deletes it.
WITH before AS (
    SELECT k AS old
    FROM api_key k
    WHERE k.id = :key AND k.account_id = :account AND k.deleted_at IS NULL AND api_key_is_shown(:account, :actor_key, k.id)
    FOR UPDATE
), event AS (
    SELECT api_key_announce(old, 'key.revoked') FROM before
), deleted AS (
    UPDATE api_key k SET revoked_at = coalesce(k.revoked_at, now()), deleted_at = now()
    FROM before
    WHERE k.id = (old).id
)
SELECT jsonb_build_object('id', id, 'deleted', true), (SELECT count(*) FROM event)
FROM api_key
WHERE id = :key AND account_id = :account AND api_key_is_shown(:account, :actor_key, id);

-- name: key_owner(key) (read)
SELECT account_id FROM api_key WHERE id = :key AND deleted_at IS NULL;

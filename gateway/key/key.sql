-- name: key_lookup
-- $1 hashes: an item each (pg/batch.h). Of those with a valid key its owner, its person and their role (NULL: it is not restricted).
-- Sets last_used_at, at most once a minute; it waits for no key that somebody changes.
WITH item AS (
    SELECT * FROM unnest($1::bytea[]) WITH ORDINALITY AS i (hash, n)
), used AS (
    UPDATE api_key SET last_used_at = now()
    WHERE id IN (SELECT k.id FROM api_key k
                 WHERE k.hash = ANY ($1) AND k.revoked_at IS NULL AND k.deleted_at IS NULL
                   AND (k.last_used_at IS NULL OR k.last_used_at < now() - interval '1 minute')
                 FOR NO KEY UPDATE SKIP LOCKED)
)
SELECT item.n, k.account_id, k.id, k.kind, array_to_string(k.scopes, ' ') AS scopes, k.repo, k.interest_id,
       (extract(epoch FROM k.expires_at) * 1000)::bigint AS expires_at_ms, k.repo_verified, m.role, p.is_operator, p.id AS person_id,
       k.account_id AS key_account_id
FROM item
JOIN api_key k USING (hash)
LEFT JOIN api_key_person o ON o.key_id = k.id AND k.kind = 'personal'
LEFT JOIN person p ON p.id = o.person_id AND p.disabled_at IS NULL
LEFT JOIN member m ON m.account_id = k.account_id AND m.person_id = p.id
WHERE k.revoked_at IS NULL AND k.deleted_at IS NULL
  AND (k.expires_at IS NULL OR k.expires_at > now()) AND (o.key_id IS NULL OR m.role IS NOT NULL);

-- name: session_lookup
-- The same for sessions. Sets last_seen_at, at most once a minute.
WITH valid AS (
    SELECT i.n, v.s, v.k, v.scopes
    FROM unnest($1::bytea[]) WITH ORDINALITY AS i (hash, n) CROSS JOIN LATERAL session_valid(i.hash) v
), seen AS (
    UPDATE session SET last_seen_at = now()
    WHERE id IN (SELECT s.id FROM session s
                 WHERE s.id IN (SELECT (valid.s).id FROM valid) AND s.last_seen_at < now() - interval '1 minute'
                 FOR NO KEY UPDATE SKIP LOCKED)
)
SELECT n, (s).account_id, (k).id, (k).kind, array_to_string(scopes, ' ') AS scopes, (k).repo, (k).interest_id,
       (extract(epoch FROM (s).expires_at) * 1000)::bigint AS expires_at_ms, (k).repo_verified, m.role, p.is_operator, p.id AS person_id,
       (k).account_id AS key_account_id
FROM valid
LEFT JOIN person p ON p.id = (s).person_id
LEFT JOIN member m ON m.account_id = (s).account_id AND m.person_id = p.id;

-- name: key_list (read)
-- $1 account, $2 limit, $3 offset, $4 the only key to show (NULL: all), $5 the key that asks. Newest first.
WITH shown AS MATERIALIZED (
    SELECT k.id FROM api_key k LEFT JOIN api_key_person o ON o.key_id = k.id, actor($1, $5) a
    WHERE k.account_id = $1 AND k.deleted_at IS NULL AND ($4::uuid IS NULL OR k.id = $4)
      AND (k.id = $5 OR a.role IN ('owner', 'admin') OR a.role IS NOT NULL AND o.person_id = a.person_id)
      AND NOT EXISTS (SELECT FROM login_key l WHERE l.key_id = k.id)
)
SELECT (SELECT coalesce(jsonb_agg(page.json ORDER BY page.id DESC), '[]')
        FROM (SELECT k.id, api_key_json(k) AS json FROM api_key k JOIN shown USING (id)
              ORDER BY k.id DESC LIMIT $2 OFFSET $3) page),
       (SELECT count(*) FROM shown) AS total;

-- name: key_create
-- $1 account, $2 the key that makes it (NULL: none), $3 name, $4 kind, $5 prefix to show, $6 hash, $7 scopes as a JSON array,
-- $8 repo, $9 interest, $10 days until the key expires (NULL: never).
SELECT made, outcome FROM api_key_new($1, $2, $3, $4, $5, $6, $7, repository_hold($8), $9, $10);

-- name: key_lacking
-- $1 account, $2 the key that grants scopes, $3 these as a JSON array: those that it lacks. No row: it is not valid.
SELECT scopes_lacking(k.scopes, $3::jsonb) AS lacking FROM api_key_maker($1, $2) k WHERE k.id IS NOT NULL;

-- name: key_actor
-- $1 account, $2 key: the role of who acts with it; `none`: it is an automation key whose maker has none. It stays so until the end of
-- the transaction.
SELECT coalesce(a.role, CASE WHEN k.kind = 'automation' THEN 'none' END) AS role FROM api_key k, actor_lock($1, $2) a WHERE k.id = $2;

-- name: key_kind (read)
-- $1 key, $2 account, $3 the key that asks: of one that is shown to it, the kind, and whether it is of the same person. What is
-- nobody's is an owner's.
SELECT k.kind, a.person_id IS NOT DISTINCT FROM o.person_id OR o.person_id IS NULL AND a.role = 'owner' AS is_own
FROM api_key k LEFT JOIN api_key_person o ON o.key_id = k.id, actor($2, $3) a
WHERE k.id = $1 AND k.account_id = $2 AND k.deleted_at IS NULL AND api_key_is_shown($2, $3, $1);

-- name: key_hold
-- $1 key, $2 account. It stays as it is until the end of the transaction.
SELECT array_to_string(scopes, ' ') AS scopes,
       revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp()) AS is_valid
FROM api_key WHERE id = $1 AND account_id = $2 AND deleted_at IS NULL FOR UPDATE;

-- name: key_update
-- $1 key, $2 account, $3 name, $4 scopes as a JSON array (NULL: unchanged), $5 whether it ends at another time, $6 days until then
-- (NULL: never), $7 the key that changes it. Sessions that were made with it end no later than it. Services hear of it.
WITH expiry AS (
    SELECT CASE WHEN $5 THEN api_key_expiry(k, $7, $6) END AS at FROM api_key k
    WHERE k.id = $1 AND k.account_id = $2 AND k.deleted_at IS NULL
), sessions AS (
    UPDATE session s SET expires_at = expiry.at FROM expiry WHERE $5 AND s.key_id = $1 AND s.expires_at > expiry.at
)
UPDATE api_key k SET
    name = coalesce($3, k.name),
    scopes = CASE WHEN $4::jsonb IS NULL THEN k.scopes
                  ELSE ARRAY(SELECT jsonb_array_elements_text($4::jsonb)) END,
    expires_at = CASE WHEN $5 THEN expiry.at ELSE k.expires_at END,
    expiry_told = CASE WHEN $5 THEN api_key_expiry_told(expiry.at) ELSE k.expiry_told END
FROM expiry WHERE k.id = $1
RETURNING api_key_json(k), event_emit('events.account', 'key.updated', k.account_id, api_key_event(k));

-- name: key_revoke
-- $1 key, $2 account, $3 the key that revokes it (NULL: a command). Only the first revocation of a key sends the event.
WITH before AS (
    SELECT k AS old, k.id, k.revoked_at FROM api_key k
    WHERE k.id = $1 AND k.account_id = $2 AND k.deleted_at IS NULL AND ($3::uuid IS NULL OR api_key_is_shown($2, $3, k.id))
    FOR UPDATE
), event AS (
    SELECT api_key_announce(old, 'key.revoked') FROM before WHERE revoked_at IS NULL
)
UPDATE api_key k SET revoked_at = coalesce(k.revoked_at, now())
FROM before LEFT JOIN (SELECT count(*) FROM event) sent ON true
WHERE k.id = before.id
RETURNING api_key_json(k);

-- name: key_delete
-- $1 key, $2 account, $3 the key that deletes it.
WITH before AS (
    SELECT k AS old FROM api_key k
    WHERE k.id = $1 AND k.account_id = $2 AND k.deleted_at IS NULL AND api_key_is_shown($2, $3, k.id)
    FOR UPDATE
), event AS (
    SELECT api_key_announce(old, 'key.revoked') FROM before
), deleted AS (
    UPDATE api_key k SET revoked_at = coalesce(k.revoked_at, now()), deleted_at = now()
    FROM before WHERE k.id = (old).id
)
SELECT jsonb_build_object('id', id, 'deleted', true), (SELECT count(*) FROM event)
FROM api_key WHERE id = $1 AND account_id = $2 AND api_key_is_shown($2, $3, id);

-- name: key_owner (read)
SELECT account_id FROM api_key WHERE id = $1 AND deleted_at IS NULL;

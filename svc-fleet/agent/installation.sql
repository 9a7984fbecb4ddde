-- name: installation_list(account, only_repository, limit, offset) (read)
-- :only_repository is the only one that the key may see; NULL: all.
SELECT (SELECT coalesce(json_agg(installation_json(i) ORDER BY i.id DESC), '[]')
        FROM (SELECT * FROM installation x
              WHERE x.account_id = :account AND (:only_repository::text IS NULL OR x.repo_key = repository_key(:only_repository))
              ORDER BY x.id DESC LIMIT :limit OFFSET :offset) i),
       (SELECT count(*) FROM installation x
        WHERE x.account_id = :account AND (:only_repository::text IS NULL OR x.repo_key = repository_key(:only_repository))
       ) AS total;

-- name: installation_record(account, body)
SELECT installation_json(i)
FROM installation_record(:account, :body::jsonb || jsonb_build_object('repo', repository_hold(:body::jsonb ->> 'repo'))) i;

-- name: installation_find(account, installation) (read)
-- `is_over`: nobody can use its key, as far as is known here. The gateway forgets such keys some day.
SELECT i.repo, i.interest_id, i.key_id,
       i.status = 'revoked'
       OR EXISTS (SELECT FROM key_expiring k WHERE k.account_id = :account AND k.key_id = i.key_id AND k.expires_at <= now()) AS is_over
FROM installation i WHERE i.account_id = :account AND i.id = :installation;

-- name: installation_revoke(account, installation, key)
-- :key is its key, which is revoked. No row: it has another key meanwhile.
UPDATE installation i
SET status = 'revoked', revoked_at = coalesce(i.revoked_at, now())
WHERE account_id = :account AND id = :installation AND key_id = :key
RETURNING installation_json(i);

-- name: installation_replace_key(account, key, new_key)
WITH gone AS (
    DELETE FROM key_expiring WHERE account_id = :account AND key_id = :key
)
UPDATE installation SET key_id = :new_key
WHERE account_id = :account AND key_id = :key AND status = 'active';

-- name: installation_revoke_key(account, key)
WITH gone AS (
    DELETE FROM key_expiring WHERE account_id = :account AND key_id = :key
)
UPDATE installation SET status = 'revoked', revoked_at = now()
WHERE account_id = :account AND key_id = :key AND status = 'active';

-- name: installation_list (read)
-- $1 account, $2 the only repository that the key may see (NULL: all), $3 limit, $4 offset.
SELECT (SELECT coalesce(json_agg(installation_json(i) ORDER BY i.id DESC), '[]')
        FROM (SELECT * FROM installation x WHERE x.account_id = $1 AND ($2::text IS NULL OR x.repo_key = repository_key($2))
              ORDER BY x.id DESC LIMIT $3 OFFSET $4) i),
       (SELECT count(*) FROM installation x WHERE x.account_id = $1 AND ($2::text IS NULL OR x.repo_key = repository_key($2))) AS total;

-- name: installation_record
-- $1 account, $2 body.
SELECT installation_json(i) FROM installation_record($1, $2::jsonb || jsonb_build_object('repo', repository_hold($2::jsonb ->> 'repo'))) i;

-- name: installation_find (read)
-- $1 account, $2 installation.
SELECT repo, interest_id, key_id FROM installation WHERE account_id = $1 AND id = $2;

-- name: installation_revoke
-- $1 account, $2 installation, $3 its key, which is revoked. No row: it has another key meanwhile.
UPDATE installation i SET status = 'revoked', revoked_at = coalesce(i.revoked_at, now())
WHERE account_id = $1 AND id = $2 AND key_id = $3
RETURNING installation_json(i);

-- name: installation_replace_key
-- $1 account, $2 key, $3 the key in its place.
WITH gone AS (
    DELETE FROM key_expiring WHERE account_id = $1 AND key_id = $2
)
UPDATE installation SET key_id = $3 WHERE account_id = $1 AND key_id = $2 AND status = 'active';

-- name: installation_revoke_key
-- $1 account, $2 key.
WITH gone AS (
    DELETE FROM key_expiring WHERE account_id = $1 AND key_id = $2
)
UPDATE installation SET status = 'revoked', revoked_at = now()
WHERE account_id = $1 AND key_id = $2 AND status = 'active';

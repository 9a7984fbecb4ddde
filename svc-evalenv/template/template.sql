-- name: template_list (read)
-- $1 account, $2 limit, $3 offset, $4 the only repository whose templates the key may use (NULL: all).
WITH found AS (
    SELECT id FROM template WHERE account_id = $1 AND ($4::text IS NULL OR lower(repo) = (SELECT repository_key($4)))
)
SELECT (SELECT coalesce(json_agg(template_json(t) ORDER BY t.id DESC), '[]')
        FROM (SELECT id FROM found ORDER BY id DESC LIMIT $2 OFFSET $3) page JOIN template t USING (id)),
       (SELECT count(*) FROM found) AS total;

-- name: template_create
-- $1 account, $2 id, $3 body, $4 sealed secret, $5 the most templates of the account.
SELECT template_json(t) FROM template_new($1, $2, $3::jsonb || jsonb_build_object('repo', repository_hold($3::jsonb ->> 'repo')), $4, $5) t;

-- name: template_get (read)
-- $1 id, $2 account, $3 as $4 of template_list. Locking changes what is shown, not the version.
SELECT template_json(t), t.version || CASE WHEN t.is_locked THEN '-1' ELSE '' END AS tag
FROM template t WHERE id = $1 AND account_id = $2 AND ($3::text IS NULL OR lower(repo) = (SELECT repository_key($3)));

-- name: template_update
-- $3 members to change, $4 whether the secret changes, $5 the sealed secret, $6 versions that If-Match allows (NULL: any), $7 how
-- many versions are kept besides those that runs were made with. No row: no such template. A row with NULL: it has another version,
-- or is locked, which `is_locked` says.
WITH old AS MATERIALIZED (
    SELECT id, is_locked, $6::bigint[] IS NULL OR version = ANY ($6::bigint[]) AS is_allowed
    FROM template WHERE id = $1 AND account_id = $2 FOR UPDATE
), changed AS (
    UPDATE template t SET
        (name, description, spec, repo) = (SELECT n.name, n.description, n.spec, repository_hold(n.repo) FROM jsonb_populate_record(t, $3::jsonb) n),
        secret = CASE WHEN $4::boolean THEN $5::bytea ELSE t.secret END,
        version = t.version + 1,
        updated_at = now()
    FROM old WHERE t.id = old.id AND old.is_allowed AND NOT old.is_locked
    RETURNING t.id, t.version, template_json(t) AS json, t.version::text AS tag
), forgotten AS (
    DELETE FROM template_version v USING changed c
    WHERE v.template_id = c.id AND v.version <= c.version - $7::int
      AND NOT EXISTS (SELECT FROM run r WHERE r.template_id = v.template_id AND r.template_version = v.version)
)
SELECT changed.json, changed.tag, old.is_allowed AND old.is_locked AS is_locked FROM old LEFT JOIN changed ON true;

-- name: template_lock
UPDATE template t SET is_locked = true, updated_at = CASE WHEN is_locked THEN updated_at ELSE now() END
WHERE id = $1 AND account_id = $2
RETURNING template_json(t);

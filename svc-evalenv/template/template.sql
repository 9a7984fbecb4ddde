-- name: template_list(account, limit, offset, only_repository) (read)
-- An :only_repository of NULL: all; else the key may use templates of no other.
WITH found AS (
    SELECT id FROM template
    WHERE account_id = :account AND (:only_repository::text IS NULL OR lower(repo) = (SELECT repository_key(:only_repository)))
)
SELECT (SELECT coalesce(json_agg(template_json(t) ORDER BY t.id DESC), '[]')
        FROM (SELECT id FROM found ORDER BY id DESC LIMIT :limit OFFSET :offset) page JOIN template t USING (id)),
       (SELECT count(*) FROM found) AS total;

-- name: template_create(account, template, body, secret, templates_max)
-- The :secret is sealed.
SELECT template_json(t)
FROM template_new(:account, :template, :body::jsonb || jsonb_build_object('repo', repository_hold(:body::jsonb ->> 'repo')),
                  :secret, :templates_max) t;

-- name: template_get(template, account, only_repository) (read)
-- An :only_repository as in template_list. Locking changes what is shown, not the version.
SELECT template_json(t), t.version || CASE WHEN t.is_locked THEN '-1' ELSE '' END AS tag
FROM template t
WHERE id = :template AND account_id = :account
  AND (:only_repository::text IS NULL OR lower(repo) = (SELECT repository_key(:only_repository)));

-- name: template_update(template, account, changes, is_secret_changed, secret, versions, versions_kept)
-- The :secret is sealed. :versions: those of If-Match; NULL: any. :versions_kept: how many are kept besides those that
-- runs were made with. No row: no such template. A row with NULL: it has another version, or is locked, which `is_locked` says.
WITH old AS MATERIALIZED (
    SELECT id, is_locked, :versions::bigint[] IS NULL OR version = ANY (:versions::bigint[]) AS is_allowed
    FROM template WHERE id = :template AND account_id = :account FOR UPDATE
), changed AS (
    UPDATE template t SET
        (name, description, spec, repo) = (SELECT n.name, n.description, n.spec, repository_hold(n.repo)
                                           FROM jsonb_populate_record(t, :changes::jsonb) n),
        secret = CASE WHEN :is_secret_changed::boolean THEN :secret::bytea ELSE t.secret END,
        version = t.version + 1,
        updated_at = now()
    FROM old WHERE t.id = old.id AND old.is_allowed AND NOT old.is_locked
    RETURNING t.id, t.version, template_json(t) AS json, t.version::text AS tag
), forgotten AS (
    DELETE FROM template_version v USING changed c
    WHERE v.template_id = c.id AND v.version <= c.version - :versions_kept::int
      AND NOT EXISTS (SELECT FROM run r WHERE r.template_id = v.template_id AND r.template_version = v.version)
)
SELECT changed.json, changed.tag, old.is_allowed AND old.is_locked AS is_locked FROM old LEFT JOIN changed ON true;

-- name: template_lock(template, account)
UPDATE template t SET is_locked = true, updated_at = CASE WHEN is_locked THEN updated_at ELSE now() END
WHERE id = :template AND account_id = :account
RETURNING template_json(t);

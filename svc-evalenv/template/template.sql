-- name: template_list (read)
-- $1 account, $2 limit, $3 offset.
SELECT (SELECT coalesce(json_agg(template_json(t) ORDER BY t.id DESC), '[]')
        FROM (SELECT * FROM template WHERE account_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3) t),
       (SELECT count(*) FROM template WHERE account_id = $1);

-- name: template_create
-- $2 id, $3 body, $4 sealed secret.
INSERT INTO template (id, account_id, name, description, spec, secret)
SELECT $2, $1, n.name, n.description, n.spec, $4 FROM jsonb_populate_record(NULL::template, $3::jsonb) n
RETURNING template_json(template);

-- name: template_get (read)
SELECT template_json(t) FROM template t WHERE id = $1 AND account_id = $2;

-- name: template_update
-- $3 members to change, $4 whether the secret changes, $5 the sealed secret. No row: no such template. A row with NULL: it
-- is locked.
WITH old AS MATERIALIZED (
    SELECT id, is_locked FROM template WHERE id = $1 AND account_id = $2 FOR UPDATE
), changed AS (
    UPDATE template t SET
        (name, description, spec) = (SELECT n.name, n.description, n.spec FROM jsonb_populate_record(t, $3::jsonb) n),
        secret = CASE WHEN $4::boolean THEN $5::bytea ELSE t.secret END,
        version = t.version + 1,
        updated_at = now()
    FROM old WHERE t.id = old.id AND NOT old.is_locked
    RETURNING template_json(t) AS json
)
SELECT changed.json FROM old LEFT JOIN changed ON true;

-- name: template_lock
UPDATE template t SET is_locked = true, updated_at = CASE WHEN is_locked THEN updated_at ELSE now() END
WHERE id = $1 AND account_id = $2
RETURNING template_json(t);

-- See main/reseal.h.

-- name: reseal_template_page (read)
SELECT id, id AS context, secret AS sealed FROM template
WHERE id > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000') AND NOT starts_with(encode(secret, 'hex'), $2)
ORDER BY id LIMIT $3;

-- name: reseal_template_update
UPDATE template SET secret = $3 WHERE id = $1 AND secret = $2;

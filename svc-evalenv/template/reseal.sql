-- See main/reseal.h.

-- name: reseal_template_page(after, prefix, limit) (read)
SELECT id, id AS context, secret AS sealed FROM template
WHERE id > coalesce(:after::uuid, '00000000-0000-0000-0000-000000000000') AND NOT starts_with(encode(secret, 'hex'), :prefix)
ORDER BY id LIMIT :limit;

-- name: reseal_template_update(template, former, sealed)
UPDATE template SET secret = :sealed WHERE id = :template AND secret = :former;

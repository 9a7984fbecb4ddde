-- name: project_list (read)
-- $1 account, $2 limit, $3 offset.
SELECT (SELECT coalesce(json_agg(project_json(p) ORDER BY p.id DESC), '[]')
        FROM (SELECT * FROM project WHERE account_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3) p),
       (SELECT count(*) FROM project WHERE account_id = $1);

-- name: project_create
-- $2 body.
INSERT INTO project (account_id, name, description)
SELECT $1, n.name, n.description FROM jsonb_populate_record(NULL::project, $2::jsonb) n
RETURNING project_json(project);

-- name: project_get (read)
SELECT project_json(p) FROM project p WHERE id = $1 AND account_id = $2;

-- name: project_update
-- $3 members to change.
UPDATE project p SET
    (name, description) = (SELECT n.name, n.description FROM jsonb_populate_record(p, $3::jsonb) n),
    updated_at = now()
WHERE id = $1 AND account_id = $2
RETURNING project_json(p);

-- name: project_delete
-- $3 API key, $4 request id.
SELECT json_build_object('id', $1::uuid, 'deleted', true) WHERE project_remove($2, $1, $3, $4);

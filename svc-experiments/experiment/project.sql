-- name: project_list (read)
-- $1 account, $2 limit, $3 offset.
SELECT (SELECT coalesce(json_agg(project_json(p) ORDER BY p.id DESC), '[]')
        FROM (SELECT * FROM project WHERE account_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3) p),
       (SELECT count(*) FROM project WHERE account_id = $1) AS total;

-- name: project_create
-- $2 body.
INSERT INTO project (account_id, name, description)
SELECT $1, n.name, n.description FROM jsonb_populate_record(NULL::project, $2::jsonb) n
RETURNING project_json(project);

-- The version of a project is the time of its last change, in microseconds. The tag also has a hash of what it shows, since the number
-- of its experiments changes without it.

-- name: project_get (read)
WITH shown AS MATERIALIZED (
    SELECT project_json(p) AS json, (extract(epoch FROM updated_at) * 1000000)::bigint AS version
    FROM project p WHERE id = $1 AND account_id = $2
)
SELECT json, version || '-' || left(md5(json::text), 16) AS tag FROM shown;

-- name: project_update
-- $3 members to change, $4 versions that If-Match allows (NULL: any). No row: no such project. A row with NULL: it has another version.
WITH old AS MATERIALIZED (
    SELECT id, (extract(epoch FROM updated_at) * 1000000)::bigint AS version
    FROM project WHERE id = $1 AND account_id = $2 FOR NO KEY UPDATE
), changed AS (
    UPDATE project p SET
        (name, description) = (SELECT n.name, n.description FROM jsonb_populate_record(p, $3::jsonb) n),
        updated_at = greatest(clock_timestamp(), p.updated_at + interval '1 microsecond') -- the version of If-Match: never equal
    FROM old WHERE p.id = old.id AND ($4::bigint[] IS NULL OR old.version = ANY ($4::bigint[]))
    RETURNING project_json(p) AS json, (extract(epoch FROM p.updated_at) * 1000000)::bigint AS version
)
SELECT changed.json, changed.version || '-' || left(md5(changed.json::text), 16) AS tag FROM old LEFT JOIN changed ON true;

-- name: project_delete
-- $3 API key, $4 request id, $5 versions that If-Match allows (NULL: any). Rows as of project_update.
WITH old AS MATERIALIZED (
    SELECT (extract(epoch FROM updated_at) * 1000000)::bigint AS version
    FROM project WHERE id = $1 AND account_id = $2 FOR UPDATE
)
SELECT CASE WHEN ($5::bigint[] IS NULL OR version = ANY ($5::bigint[])) AND project_remove($2, $1, $3, $4)
            THEN json_build_object('id', $1::uuid, 'deleted', true) END
FROM old;

-- name: project_detach
-- $1 account, $2 project that was deleted, $3 API key that deleted it, $4 request id, $5 how many.
SELECT project_detach($1, $2, $3, $4, $5::int);

-- name: project_outline_get (read)
-- $1 account, $2 project.
SELECT jsonb_build_object('name', p.name, 'outline', (
    SELECT string_agg(left(concat_ws('. ', e.name, e.hypothesis, 'Measured by ' || e.target_metric), 1000), E'\n\n' ORDER BY e.id DESC)
    FROM (SELECT * FROM experiment x WHERE x.account_id = p.account_id AND x.project_id = p.id ORDER BY x.id DESC LIMIT 30) e))
FROM project p WHERE p.account_id = $1 AND p.id = $2;

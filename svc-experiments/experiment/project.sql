-- name: project_list(account, limit, offset) (read)
SELECT (SELECT coalesce(json_agg(project_json(p) ORDER BY p.id DESC), '[]')
        FROM (SELECT * FROM project WHERE account_id = :account ORDER BY id DESC LIMIT :limit OFFSET :offset) p),
       (SELECT count(*) FROM project WHERE account_id = :account) AS total;

-- name: project_create(account, body)
INSERT INTO project (account_id, name, description)
SELECT :account, n.name, n.description FROM jsonb_populate_record(NULL::project, :body::jsonb) n
RETURNING project_json(project);

-- The version of a project is the time of its last change, in microseconds. The tag also has a hash of what it shows, since the
-- number of its experiments changes without it.

-- name: project_get(project, account) (read)
WITH shown AS MATERIALIZED (
    SELECT project_json(p) AS json, (extract(epoch FROM updated_at) * 1000000)::bigint AS version
    FROM project p WHERE id = :project AND account_id = :account
)
SELECT json, version || '-' || left(md5(json::text), 16) AS tag FROM shown;

-- name: project_update(project, account, body, versions)
-- :body are the members to change, :versions those that If-Match allows (NULL: any). No row: no such project. A row with NULL: it
-- has another version.
WITH old AS MATERIALIZED (
    SELECT id, (extract(epoch FROM updated_at) * 1000000)::bigint AS version
    FROM project WHERE id = :project AND account_id = :account FOR NO KEY UPDATE
), changed AS (
    UPDATE project p SET
        (name, description) = (SELECT n.name, n.description FROM jsonb_populate_record(p, :body::jsonb) n),
        updated_at = greatest(clock_timestamp(), p.updated_at + interval '1 microsecond') -- the version of If-Match: never equal
    FROM old WHERE p.id = old.id AND (:versions::bigint[] IS NULL OR old.version = ANY (:versions::bigint[]))
    RETURNING project_json(p) AS json, (extract(epoch FROM p.updated_at) * 1000000)::bigint AS version
)
SELECT changed.json, changed.version || '-' || left(md5(changed.json::text), 16) AS tag FROM old LEFT JOIN changed ON true;

-- name: project_delete(project, account, by_key, request_id, versions)
-- :versions and rows as of project_update.
WITH old AS MATERIALIZED (
    SELECT (extract(epoch FROM updated_at) * 1000000)::bigint AS version
    FROM project WHERE id = :project AND account_id = :account FOR UPDATE
)
SELECT CASE WHEN (:versions::bigint[] IS NULL OR version = ANY (:versions::bigint[]))
             AND project_remove(:account, :project, :by_key, :request_id)
            THEN json_build_object('id', :project::uuid, 'deleted', true) END
FROM old;

-- name: project_detach(account, project, by_key, request_id, limit)
-- :by_key has deleted the :project. Detaches :limit experiments at most, and returns how many.
SELECT project_detach(:account, :project, :by_key, :request_id, :limit::int);

-- name: project_outline_get(account, project) (read)
SELECT jsonb_build_object('name', p.name, 'outline', (
    SELECT string_agg(left(concat_ws('. ', e.name, e.hypothesis, 'Measured by ' || e.target_metric), 1000),
                      E'\n\n' ORDER BY e.id DESC)
    FROM (SELECT * FROM experiment x
          WHERE x.account_id = p.account_id AND x.project_id = p.id
          ORDER BY x.id DESC LIMIT 30) e))
FROM project p WHERE p.account_id = :account AND p.id = :project;

-- name: run_list (read)
-- $1 account, $2 status, $3 template (NULL: any), $4 the only repository that the key may see (NULL: all), $5 limit, $6 offset.
WITH found AS (
    SELECT r.id FROM run r JOIN work w USING (id)
    WHERE r.account_id = $1 AND ($2::text IS NULL OR w.status = $2) AND ($3::uuid IS NULL OR r.template_id = $3)
      AND ($4::text IS NULL OR lower(w.repo) = (SELECT repository_key($4)))
)
SELECT (SELECT coalesce(json_agg(run_item_json(r, w) ORDER BY r.id DESC), '[]')
        FROM (SELECT id FROM found ORDER BY id DESC LIMIT $5 OFFSET $6) page JOIN run r USING (id) JOIN work w USING (id)),
       (SELECT count(*) FROM found) AS total;

-- name: run_create
-- $1 account, $2 body, $3 seconds that a build may take, $4 the repository that the key is limited to, $5 the most runs of the
-- account that wait.
SELECT outcome, made FROM run_new($1, $2::jsonb, $3, repository_hold($4), $5);

-- name: run_get (read)
SELECT run_json(r, w) FROM run r JOIN work w USING (id) WHERE r.id = $1 AND r.account_id = $2;

-- name: run_claim
-- $1 account, $2 repository, $3 worker, $4 lease.
SELECT claimed FROM run_claim($1, repository_now($2), $3, $4::interval) AS claimed WHERE claimed IS NOT NULL;

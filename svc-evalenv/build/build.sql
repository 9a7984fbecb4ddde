-- name: build_template (read)
-- $1 id, $2 account, $3 the only repository whose templates the key may use (NULL: all).
SELECT jsonb_build_object('template_id', id, 'version', version, 'digest', digest, 'spec', spec)
FROM template WHERE id = $1 AND account_id = $2 AND ($3::text IS NULL OR lower(repo) = (SELECT repository_key($3)));

-- name: build_list (read)
-- $1 account, $2 status (NULL: any), $3 the only repository that the key may see (NULL: all), $4 limit, $5 offset.
WITH found AS (
    SELECT id FROM work WHERE account_id = $1 AND kind = 'build' AND ($3::text IS NULL OR lower(repo) = (SELECT repository_key($3)))
      AND ($2::text IS NULL OR status = CASE $2 WHEN 'building' THEN 'running' ELSE $2 END)
)
SELECT (SELECT coalesce(json_agg(build_item_json(b, w) ORDER BY b.id DESC), '[]')
        FROM (SELECT id FROM found ORDER BY id DESC LIMIT $4 OFFSET $5) page JOIN build b USING (id) JOIN work w USING (id)),
       (SELECT count(*) FROM found) AS total;

-- name: build_create
-- $1 account, $2 what is built: members that are columns of build, $3 the paper (NULL: none), $4 whether the outcome goes to the
-- shared catalogue, $5 whether an equal build is not used, $6 the most seconds, $7 the repository that the key is limited to, $8 the most
-- builds of the account that wait.
SELECT build_new($1, jsonb_set($2::jsonb, '{repo}', coalesce(to_jsonb(repository_hold($2::jsonb ->> 'repo')), 'null'), false),
                 $3::jsonb, $4, $5, $6, repository_hold($7), $8);

-- name: build_get (read)
SELECT build_json(b, w) FROM build b JOIN work w USING (id) WHERE b.id = $1 AND b.account_id = $2;

-- name: build_context (read)
-- $1 id, $2 account (NULL: any).
SELECT build_context(b) FROM build b WHERE id = $1 AND ($2::uuid IS NULL OR account_id = $2);

-- name: build_claim
-- $1 account, $2 repository, $3 worker, $4 lease.
SELECT claimed FROM build_claim($1, repository_now($2), $3, $4::interval) AS claimed WHERE claimed IS NOT NULL;

-- name: build_report
-- $1 id, $2 account (NULL: any), $3 attempt (NULL: not from a worker that has claimed it), $4 report, $5 lease.
SELECT build_report($1, $2, $3, $4::jsonb, $5::interval);

-- name: build_reported (read)
-- $1 id.
SELECT build_json(b, w) FROM build b JOIN work w USING (id) WHERE b.id = $1;

-- name: build_template(template, account, only_repository) (read)
-- An :only_repository of NULL: all; else the key may use templates of no other.
SELECT jsonb_build_object('template_id', id, 'version', version, 'digest', digest, 'spec', spec)
FROM template
WHERE id = :template AND account_id = :account
  AND (:only_repository::text IS NULL OR lower(repo) = (SELECT repository_key(:only_repository)));

-- name: build_list(account, status, only_repository, limit, offset) (read)
-- A :status of NULL: any. An :only_repository of NULL: all; else the key may see no other.
WITH found AS (
    SELECT id FROM work
    WHERE account_id = :account AND kind = 'build'
      AND (:only_repository::text IS NULL OR lower(repo) = (SELECT repository_key(:only_repository)))
      AND (:status::text IS NULL OR status = CASE :status WHEN 'building' THEN 'running' ELSE :status END)
)
SELECT (SELECT coalesce(json_agg(build_item_json(b, w) ORDER BY b.id DESC), '[]')
        FROM (SELECT id FROM found ORDER BY id DESC LIMIT :limit OFFSET :offset) page
        JOIN build b USING (id) JOIN work w USING (id)),
       (SELECT count(*) FROM found) AS total;

-- name: build_create(account, build, paper, shares, no_cache, timeout_s, only_repository, waiting_max)
-- :build: members that are columns of build. A :paper of NULL: none. :shares: the outcome goes to the shared catalogue.
-- :no_cache: an equal build is not used. :only_repository: that of the key, or NULL. :waiting_max: builds of the account that may
-- wait.
SELECT build_new(:account,
                 jsonb_set(:build::jsonb, '{repo}', coalesce(to_jsonb(repository_hold(:build::jsonb ->> 'repo')), 'null'), false),
                 :paper::jsonb, :shares, :no_cache, :timeout_s, repository_hold(:only_repository), :waiting_max);

-- name: build_get(build, account) (read)
SELECT build_json(b, w) FROM build b JOIN work w USING (id) WHERE b.id = :build AND b.account_id = :account;

-- name: build_context(build, account) (read)
-- An :account of NULL: any.
SELECT build_context(b) FROM build b WHERE id = :build AND (:account::uuid IS NULL OR account_id = :account);

-- name: build_claim(account, only_repository, worker, lease, shared_max)
-- An :account or :only_repository of NULL: any.
SELECT claimed
FROM build_claim(:account, repository_now(:only_repository), :worker, :lease::interval, :shared_max::int) AS claimed
WHERE claimed IS NOT NULL;

-- name: build_report(build, account, attempt, report, lease)
-- An :account of NULL: any. An :attempt of NULL: not from a worker that has claimed it.
SELECT build_report(:build, :account, :attempt, :report::jsonb, :lease::interval);

-- name: build_reported(build) (read)
SELECT build_json(b, w) FROM build b JOIN work w USING (id) WHERE b.id = :build;

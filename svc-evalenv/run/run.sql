-- name: run_list(account, status, template, only_repository, limit, offset) (read)
-- A :status or :template of NULL: any. An :only_repository of NULL: all; else the key may see no other.
WITH found AS (
    SELECT r.id FROM run r JOIN work w USING (id)
    WHERE r.account_id = :account
      AND (:status::text IS NULL OR w.status = :status)
      AND (:template::uuid IS NULL OR r.template_id = :template)
      AND (:only_repository::text IS NULL OR lower(w.repo) = (SELECT repository_key(:only_repository)))
)
SELECT (SELECT coalesce(json_agg(run_item_json(r, w) ORDER BY r.id DESC), '[]')
        FROM (SELECT id FROM found ORDER BY id DESC LIMIT :limit OFFSET :offset) page
        JOIN run r USING (id) JOIN work w USING (id)),
       (SELECT count(*) FROM found) AS total;

-- name: run_create(account, body, build_timeout_s, only_repository, waiting_max)
-- :only_repository: that of the key, or NULL. :waiting_max: runs of the account that may wait.
SELECT outcome, made FROM run_new(:account, :body::jsonb, :build_timeout_s, repository_hold(:only_repository), :waiting_max);

-- name: run_get(run, account) (read)
SELECT run_json(r, w) FROM run r JOIN work w USING (id) WHERE r.id = :run AND r.account_id = :account;

-- name: run_claim(account, only_repository, worker, lease, shared_max)
-- An :account or :only_repository of NULL: any.
SELECT claimed
FROM run_claim(:account, repository_now(:only_repository), :worker, :lease::interval, :shared_max::int) AS claimed
WHERE claimed IS NOT NULL;

-- name: code_host_item_update(repository, kind, number, state, action, occurred_at, repository_number, merge_commit, reverts)
-- :merge_commit is the commit by which it was merged, :reverts what it reverts (JSON). Either may be NULL. The reverts come
-- first: they lock all pull requests in order.
WITH held AS MATERIALIZED (
    SELECT repository_hold(:repository, :repository_number) AS repo
), noted AS MATERIALIZED (
    SELECT h.repo,
           CASE WHEN num_nonnulls(:merge_commit::text, :reverts::jsonb) > 0
                THEN reverts_note(h.repo, :number, :merge_commit, :reverts::jsonb, :occurred_at::timestamptz) END
    FROM held h
)
SELECT code_host_item_update(n.repo, :kind, :number, :state,
                             CASE WHEN :action = 'opened' THEN :occurred_at::timestamptz END,
                             CASE WHEN :action = 'closed' THEN :occurred_at::timestamptz END,
                             :occurred_at::timestamptz, coalesce(:action = 'reopened', false))
FROM noted n;

-- name: code_host_push(repository, reverts, occurred_at, repository_number)
-- :reverts is what its last commit reverts (JSON).
SELECT reverts_note(repository_hold(:repository, :repository_number), NULL, NULL, :reverts::jsonb, :occurred_at::timestamptz);

-- name: workflow_run_update(repository, run, status, conclusion, occurred_at, repository_number)
WITH held AS MATERIALIZED (
    SELECT repository_hold(:repository, :repository_number) AS repo
), dropped AS MATERIALIZED (
    SELECT h.repo, run_status_drop(h.repo, false) FROM held h
)
SELECT workflow_runs_update(d.repo, jsonb_build_array(jsonb_build_object(
    'run_id', :run::bigint, 'status', :status::text, 'conclusion', :conclusion::text, 'updated_at', :occurred_at::text)))
FROM dropped d;

-- name: code_host_settle(repository)
-- Gives its owners' deliverables the state that the code host reported under any of its names.
SELECT deliverable_reconcile(o.account_id, o.repo_key)
FROM (SELECT lower(repository_hold(:repository)) AS repo_key) held JOIN owned_repo o USING (repo_key)
ORDER BY o.account_id;

-- name: code_host_item_update
-- $1 repository, $2 kind, $3 number, $4 state, $5 action, $6 when it happened, $7 number of the repository.
-- $8 the commit by which it was merged, $9 what it reverts (JSON), either NULL.
-- The reverts come first: they lock all pull requests in order.
WITH held AS MATERIALIZED (SELECT repository_hold($1, $7) AS repo), noted AS MATERIALIZED (
    SELECT h.repo, CASE WHEN num_nonnulls($8::text, $9::jsonb) > 0 THEN reverts_note(h.repo, $3, $8, $9::jsonb, $6::timestamptz) END
    FROM held h
)
SELECT code_host_item_update(n.repo, $2, $3, $4, CASE WHEN $5 = 'opened' THEN $6::timestamptz END,
                             CASE WHEN $5 = 'closed' THEN $6::timestamptz END, $6::timestamptz) FROM noted n;

-- name: code_host_push
-- $1 repository, $2 what its last commit reverts (JSON), $3 when, $4 number of the repository.
SELECT reverts_note(repository_hold($1, $4), NULL, NULL, $2::jsonb, $3::timestamptz);

-- name: workflow_run_update
-- $1 repository, $2 run, $3 its status, $4 how it ended, $5 when that was, $6 number of the repository.
WITH held AS MATERIALIZED (SELECT repository_hold($1, $6) AS repo), dropped AS MATERIALIZED (
    SELECT h.repo, run_status_drop(h.repo, false) FROM held h
)
SELECT workflow_runs_update(d.repo, jsonb_build_array(jsonb_build_object(
    'run_id', $2::bigint, 'status', $3::text, 'conclusion', $4::text, 'updated_at', $5::text))) FROM dropped d;

-- name: code_host_settle
-- $1 repository: give its owners' deliverables the state that the code host reported under any of its names.
SELECT deliverable_reconcile(o.account_id, o.repo_key)
FROM (SELECT lower(repository_hold($1)) AS repo_key) held JOIN owned_repo o USING (repo_key) ORDER BY o.account_id;

-- name: code_host_item_tell
-- $1 repository, $2 kind, $3 number, $4 state, $5 action, $6 when it happened.
SELECT code_host_item_tell($1, $2, $3, $4, CASE WHEN $5 = 'opened' THEN $6::timestamptz END,
                           CASE WHEN $5 = 'closed' THEN $6::timestamptz END, $6::timestamptz);

-- name: workflow_run_tell
-- $1 repository, $2 run, $3 its status, $4 how it ended, $5 when that was.
WITH dropped AS MATERIALIZED (SELECT run_status_drop($1, false))
SELECT workflow_runs_tell($1, jsonb_build_array(jsonb_build_object(
    'run_id', $2::bigint, 'status', $3::text, 'conclusion', $4::text, 'updated_at', $5::text))) FROM dropped;

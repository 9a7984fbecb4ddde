-- name: linked_run_measured
-- $1 account, $2 data of the event, $3 request id.
SELECT linked_run_measured($1, $2::jsonb, $3);

-- name: linked_runs_get (read)
-- $1 account, $2 experiment, $3 source. No row: no such experiment.
SELECT CASE $3::text WHEN 'eval_runs' THEN linked_runs_evaluated(e.id) ELSE linked_runs_measured(e.id) END
FROM experiment e WHERE e.account_id = $1 AND e.id = $2;

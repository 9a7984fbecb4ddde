-- name: linked_run_measured
-- $1 account, $2 data of the event, $3 request id.
SELECT linked_run_measured($1, $2::jsonb, $3);

-- name: linked_runs_get (read)
-- $1 account, $2 experiment, $3 source: the runs, their `md5`, the newest analysis of the experiment, and how many runs are kept.
-- No row: no such experiment.
SELECT l.runs, md5(l.runs::text) AS md5, e.analysis_id, linked_runs_max($3) AS kept_runs
FROM experiment e, LATERAL (SELECT linked_runs(e.id, $3) AS runs OFFSET 0) l
WHERE e.account_id = $1 AND e.id = $2;

-- name: linked_result_store
-- $1 account, $2 experiment, $3 the configuration that the analysis is by, $4 source, $5 and $6 of linked_runs_get, $7 input, $8 output,
-- $9 request id. Fails with serialization_failure when the configuration has changed meanwhile.
SELECT linked_result_add($1, $2, $3::jsonb, $4, $5, $6, $7::jsonb, $8::jsonb, $9);

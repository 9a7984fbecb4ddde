-- name: result_analysis_load (read)
-- $1 account, $2 experiment. `config`: what the results are analysed by, for result_analysis_store.
SELECT jsonb_build_object('ab_test_config', e.ab_test_config, 'previous', r.output, 'eval_runs_max', linked_runs_max('eval_runs')),
       e.ab_test_config AS config
FROM experiment e LEFT JOIN experiment_result r ON r.id = e.analysis_id
WHERE e.account_id = $1 AND e.id = $2;

-- name: result_analysis_store
-- $1 account, $2 experiment, $3 the configuration that the analysis is by, $4 source, $5 input, $6 output, $7 API key, $8 request id.
-- No row: no such experiment. Fails with serialization_failure when the configuration has changed meanwhile.
SELECT added FROM result_add($1, $2, $3::jsonb, $4, $5::jsonb, $6::jsonb, $7, $8) AS added WHERE added IS NOT NULL;

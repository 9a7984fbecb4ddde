-- name: result_plan (read)
-- $1 account, $2 experiment. `config`: what the results are analysed by, for result_add.
SELECT jsonb_build_object('ab_test_config', e.ab_test_config, 'previous', r.output), e.ab_test_config AS config
FROM experiment e LEFT JOIN experiment_result r ON r.id = e.analysis_id
WHERE e.account_id = $1 AND e.id = $2;

-- name: result_add
-- $1 account, $2 experiment, $3 the configuration that the analysis is by, $4 source, $5 input, $6 output, $7 API key, $8 request id.
-- No row: no such experiment. Fails with serialization_failure when the configuration has changed meanwhile.
SELECT added FROM result_add($1, $2, $3::jsonb, $4, $5::jsonb, $6::jsonb, $7, $8) AS added WHERE added IS NOT NULL;

-- name: result_newest (read)
-- $1 account, $2 experiment.
SELECT r.output FROM experiment e JOIN experiment_result r ON r.id = e.analysis_id WHERE e.account_id = $1 AND e.id = $2;

-- name: result_list (read)
-- $1 account, $2 experiment. No row: no such experiment.
SELECT (SELECT coalesce(jsonb_agg(r.output || jsonb_build_object('apart', r.is_apart) ORDER BY r.id DESC), '[]')
        FROM experiment_result r WHERE r.experiment_id = e.id)
FROM experiment e WHERE e.account_id = $1 AND e.id = $2;

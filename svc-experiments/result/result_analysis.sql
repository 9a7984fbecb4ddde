-- name: result_analysis_load(account, experiment) (read)
-- Returns in `config` what the results are analysed by, for result_analysis_store.
SELECT jsonb_build_object('ab_test_config', e.ab_test_config, 'previous', r.output,
                          'eval_runs_max', linked_runs_max('eval_runs')),
       e.ab_test_config AS config
FROM experiment e LEFT JOIN experiment_result r ON r.id = e.analysis_id
WHERE e.account_id = :account AND e.id = :experiment;

-- name: result_analysis_store(account, experiment, config, source, input, output, by_key, request_id)
-- :config is the configuration that the analysis is by. No row: no such experiment. Fails with serialization_failure when the
-- configuration has changed meanwhile.
SELECT added
FROM result_add(:account, :experiment, :config::jsonb, :source, :input::jsonb, :output::jsonb, :by_key, :request_id) AS added
WHERE added IS NOT NULL;

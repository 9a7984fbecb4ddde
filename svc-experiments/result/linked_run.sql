-- name: linked_run_measured(account, run, request_id)
-- :run is the data of the event.
SELECT linked_run_measured(:account, :run::jsonb, :request_id);

-- name: linked_run_removed(account, run, request_id)
-- :run is the data of the event.
SELECT linked_run_removed(:account, :run::jsonb, :request_id);

-- name: linked_runs_get(account, experiment, source) (read)
-- Returns the runs, their `md5`, the newest analysis of the experiment, and how many runs are kept. No row: no such experiment.
SELECT l.runs, md5(l.runs::text) AS md5, e.analysis_id, linked_runs_max(:source) AS kept_runs
FROM experiment e, LATERAL (SELECT linked_runs(e.id, :source) AS runs OFFSET 0) l
WHERE e.account_id = :account AND e.id = :experiment;

-- name: linked_result_store(account, experiment, config, source, runs_md5, former, input, output, request_id)
-- :config is the configuration that the analysis is by; :runs_md5 and :former are `md5` and `analysis_id` of linked_runs_get.
-- Fails with serialization_failure when the configuration has changed meanwhile.
SELECT linked_result_add(:account, :experiment, :config::jsonb, :source, :runs_md5, :former, :input::jsonb, :output::jsonb,
                         :request_id);

-- name: linked_results_withdraw(account, experiment, source, request_id)
-- Does nothing while the experiment has runs of the source.
SELECT linked_results_withdraw(:account, :experiment, :source, :request_id);

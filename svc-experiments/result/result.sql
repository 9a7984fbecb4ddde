-- name: result_newest(account, experiment) (read)
SELECT r.output
FROM experiment e JOIN experiment_result r ON r.id = e.analysis_id
WHERE e.account_id = :account AND e.id = :experiment;

-- name: result_list(account, experiment) (read)
-- No row: no such experiment.
SELECT (SELECT coalesce(jsonb_agg(r.output || jsonb_build_object('apart', r.is_apart) ORDER BY r.at DESC, r.id DESC), '[]')
        FROM experiment_result r WHERE r.experiment_id = e.id)
FROM experiment e WHERE e.account_id = :account AND e.id = :experiment;

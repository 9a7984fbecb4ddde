-- name: result_newest (read)
-- $1 account, $2 experiment.
SELECT r.output FROM experiment e JOIN experiment_result r ON r.id = e.analysis_id WHERE e.account_id = $1 AND e.id = $2;

-- name: result_list (read)
-- $1 account, $2 experiment. No row: no such experiment.
SELECT (SELECT coalesce(jsonb_agg(r.output || jsonb_build_object('apart', r.is_apart) ORDER BY r.at DESC, r.id DESC), '[]')
        FROM experiment_result r WHERE r.experiment_id = e.id)
FROM experiment e WHERE e.account_id = $1 AND e.id = $2;

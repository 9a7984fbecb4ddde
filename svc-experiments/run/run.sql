-- name: run_about(account, experiment) (read)
-- Returns what starting a run comes to, and the target and the key of the reservation.
SELECT n.outcome, n.target, implementation_key(:experiment, n.attempt) AS key
FROM (SELECT) AS one LEFT JOIN experiment e ON e.id = :experiment AND e.account_id = :account, implementation_next(e) AS n;

-- name: run_start(account, experiment, by_key, steps, request_id)
-- :steps is a JSON array of the names of the steps.
SELECT outcome, started_task
FROM implementation_start(:account, :experiment, :by_key, ARRAY(SELECT jsonb_array_elements_text(:steps::jsonb)), :request_id);

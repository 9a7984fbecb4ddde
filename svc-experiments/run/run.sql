-- name: run_about (read)
-- $1 account, $2 experiment. What starting a run comes to, and the target and the key of the reservation.
SELECT n.outcome, n.target, implementation_key($2, n.attempt) AS key
FROM (SELECT) AS one LEFT JOIN experiment e ON e.id = $2 AND e.account_id = $1, implementation_next(e) AS n;

-- name: run_start
-- $1 account, $2 experiment, $3 API key, $4 the names of the steps as a JSON array, $5 request id.
SELECT outcome, started_task
FROM implementation_start($1, $2, $3, ARRAY(SELECT jsonb_array_elements_text($4::jsonb)), $5);

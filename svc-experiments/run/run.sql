-- name: run_start
-- $1 account, $2 experiment, $3 API key, $4 the names of the steps as a JSON array, $5 request id.
SELECT outcome, started_task
FROM implementation_start($1, $2, $3, ARRAY(SELECT jsonb_array_elements_text($4::jsonb)), $5);

-- name: evaluation_store
-- $1 account, $2 data of the event, $3 request id.
SELECT experiment_evaluated($1, $2::jsonb, $3);

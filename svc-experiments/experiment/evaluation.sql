-- name: evaluation_store(account, evaluation, request_id)
-- :evaluation is the data of the event.
SELECT experiment_evaluated(:account, :evaluation::jsonb, :request_id);

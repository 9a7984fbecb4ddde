-- name: digest_message_store
-- $1 account, $2 the data of `digest.due`.
INSERT INTO digest_due AS d (endpoint_id, account_id, local_date, due_at, settings)
SELECT w.endpoint_id, $1, w.local_date, w.due_at, w.settings
FROM jsonb_to_record($2::jsonb) AS w (endpoint_id uuid, local_date date, due_at timestamptz, settings jsonb)
ON CONFLICT (endpoint_id) DO UPDATE SET local_date = excluded.local_date, due_at = excluded.due_at, settings = excluded.settings
WHERE d.local_date < excluded.local_date;

-- name: digest_message_start
-- $1 how many: start the tasks of digests that need not wait any more. How many are over.
SELECT digests_start($1::int);

-- name: digest_message_make
-- $1 account, $2 the input of the task.
SELECT digest_make($1, $2::jsonb);

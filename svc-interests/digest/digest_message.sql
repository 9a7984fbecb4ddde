-- name: digest_message_store(account, digest)
-- :digest is the data of `digest.due`.
INSERT INTO digest_due AS d (endpoint_id, account_id, local_date, due_at, settings)
SELECT w.endpoint_id, :account, w.local_date, w.due_at, w.settings
FROM jsonb_to_record(:digest::jsonb) AS w (endpoint_id uuid, local_date date, due_at timestamptz, settings jsonb)
ON CONFLICT (endpoint_id) DO UPDATE SET local_date = excluded.local_date, due_at = excluded.due_at, settings = excluded.settings
WHERE d.local_date < excluded.local_date;

-- name: digest_message_start(limit)
-- Starts the tasks of digests that need not wait any more. Returns how many are over.
SELECT digests_start(:limit::int);

-- name: digest_message_make(account, input)
-- :input is that of the task.
SELECT digest_make(:account, :input::jsonb);

-- name: dispatch_get (read)
-- $1 account, $2 key: whether it is for this repository $3 and workflow $4, the newest run before it, whether it was
-- answered, its run and address, and the time.
SELECT lower(repo) = lower($3) AND workflow = $4 AS is_same, after_run_id, is_answered, run_id, html_url,
       time_json(dispatched_at) AS dispatched_at
FROM dispatch WHERE account_id = $1 AND key = $2;

-- name: dispatch_note
-- $1 account, $2 key, $3 repository, $4 workflow, $5 the newest run before it. Also deletes up to 20 of 30 days ago.
WITH old AS (
    DELETE FROM dispatch WHERE ctid IN (
        SELECT ctid FROM dispatch WHERE dispatched_at < now() - interval '30 days' LIMIT 20 FOR UPDATE SKIP LOCKED)
    AND (account_id, key) <> ($1, $2)
)
INSERT INTO dispatch (account_id, key, repo, workflow, after_run_id) VALUES ($1, $2, $3, $4, $5);

-- name: dispatch_forget
-- $1 account, $2 key.
DELETE FROM dispatch WHERE account_id = $1 AND key = $2 AND NOT is_answered;

-- name: dispatch_answer
-- $1 account, $2 key, $3 run, $4 its address; both may be null.
UPDATE dispatch SET is_answered = true, run_id = $3, html_url = $4 WHERE account_id = $1 AND key = $2
RETURNING time_json(dispatched_at);

-- name: dispatch_unknown_run (read)
-- $1 repository, $2 JSON array of runs: the oldest that belongs to no key.
SELECT r FROM jsonb_array_elements_text($2::jsonb) r
WHERE NOT EXISTS (SELECT FROM dispatch d WHERE lower(d.repo) = lower($1) AND d.run_id = r::bigint)
ORDER BY r::bigint LIMIT 1;

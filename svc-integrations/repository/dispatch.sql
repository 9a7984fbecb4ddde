-- name: dispatch_is_noted(account, key) (read)
SELECT EXISTS (SELECT FROM dispatch WHERE account_id = :account AND key = :key);

-- name: dispatch_expire(account, key, valid_s)
-- Forget a dispatch of :valid_s ago or more.
DELETE FROM dispatch WHERE account_id = :account AND key = :key AND dispatched_at <= now() - make_interval(secs => :valid_s::float8);

-- name: dispatch_get(account, key, repository, workflow, settles_s) (read)
-- Returns whether the key is for this :repository and :workflow, the newest run before it, whether it was answered, its run and
-- address, the time, and whether it was sent, for the last time, less than :settles_s ago.
SELECT lower(repo) = lower(:repository) AND workflow = :workflow AS is_same, after_run_id, is_answered, run_id, html_url,
       time_json(dispatched_at) AS dispatched_at,
       coalesce(sent_again_at, dispatched_at) > now() - make_interval(secs => :settles_s::float8) AS is_recent
FROM dispatch WHERE account_id = :account AND key = :key;

-- name: dispatch_note(account, key, repository, workflow, after_run)
-- :after_run: the newest run before it. Also deletes up to 20 of 30 days ago.
WITH old AS (
    DELETE FROM dispatch WHERE ctid IN (
        SELECT ctid FROM dispatch WHERE dispatched_at < now() - interval '30 days' LIMIT 20 FOR UPDATE SKIP LOCKED)
    AND (account_id, key) <> (:account, :key)
)
INSERT INTO dispatch (account_id, key, repo, workflow, after_run_id)
VALUES (:account, :key, :repository, :workflow, :after_run);

-- name: dispatch_note_again(account, key)
UPDATE dispatch SET sent_again_at = now() WHERE account_id = :account AND key = :key;

-- name: dispatch_end(account, key, repository, workflow)
-- The key starts nothing.
INSERT INTO dispatch (account_id, key, repo, workflow, after_run_id, is_answered) VALUES (:account, :key, :repository, :workflow, 0, true);

-- name: dispatch_forget(account, key)
DELETE FROM dispatch WHERE account_id = :account AND key = :key AND NOT is_answered;

-- name: dispatch_answer(account, key, run, html_url)
-- The :run and its :html_url may be NULL.
UPDATE dispatch SET is_answered = true, run_id = :run, html_url = :html_url
WHERE account_id = :account AND key = :key
RETURNING time_json(dispatched_at);

-- name: dispatch_unknown_run(repository, runs) (read)
-- Returns the oldest of :runs, a JSON array, that belongs to no key.
SELECT r FROM jsonb_array_elements_text(:runs::jsonb) r
WHERE NOT EXISTS (SELECT FROM dispatch d WHERE lower(d.repo) = lower(:repository) AND d.run_id = r::bigint)
ORDER BY r::bigint LIMIT 1;

-- name: work_heartbeat(work, kind, account, attempt, log, releases, lease)
-- An :account of NULL: any. :log: more of the log. :releases: the worker gives it back.
SELECT outcome, json_build_object('lease_until', time_json(until), 'cancelled', outcome = 'ended') AS answer
FROM work_heartbeat(:work, :kind, :account, :attempt, :log, :releases, :lease::interval);

-- name: work_cancel(work, kind, account)
SELECT work_cancel(:work, :kind, :account);

-- name: work_pass(lease, attempts_max)
SELECT work_pass(:lease::interval, :attempts_max);

-- name: work_repo(work, kind, account) (read)
-- An :account of NULL: any.
SELECT repo FROM work WHERE id = :work AND kind = :kind AND (:account::uuid IS NULL OR account_id = :account);

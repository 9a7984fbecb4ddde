-- name: work_heartbeat
-- $1 id, $2 kind, $3 account (NULL: any), $4 attempt, $5 more of the log, $6 whether the worker gives it back, $7 lease.
SELECT outcome, json_build_object('lease_until', time_json(until), 'cancelled', outcome = 'ended') AS answer
FROM work_heartbeat($1, $2, $3, $4, $5, $6, $7::interval);

-- name: work_cancel
-- $1 id, $2 kind, $3 account.
SELECT work_cancel($1, $2, $3);

-- name: work_expire
-- $1 the most attempts of one work.
SELECT work_expire($1);

-- name: work_repo (read)
-- $1 id, $2 kind, $3 account (NULL: any).
SELECT repo FROM work WHERE id = $1 AND kind = $2 AND ($3::uuid IS NULL OR account_id = $3);

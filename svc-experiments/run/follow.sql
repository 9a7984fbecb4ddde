-- name: follow_load (read)
-- $1 experiment, $2 attempt: what to ask the code host, as JSON. No row: it was deleted, or nothing was started.
SELECT jsonb_build_object('repo', i.repo, 'run_id', i.run_id, 'pr_url', repository_link_now(e.pr_url), 'work_branch', i.work_branch,
                          'since', time_json(coalesce(i.dispatched_at, i.started_at)))
FROM implementation i JOIN experiment e ON e.id = i.experiment_id
WHERE i.experiment_id = $1 AND i.attempt = $2::int AND (i.run_id IS NOT NULL OR i.deadline_at IS NOT NULL);

-- name: follow_settle
-- $1 experiment, $2 attempt, $3 conclusion, $4 pull request.
SELECT implementation_reconcile($1, $2::int, $3, $4);

-- name: follow_pull_request
-- $1 repo, $2 number, $3 branch, $4 state, $5 when, $6 number of the repository. One that no column can hold is none of ours.
SELECT implementation_pull_update(repository_hold($1, $6), CASE WHEN $2::bigint < 2147483648 THEN ($2::bigint)::int END, $3, $4,
                                  $5::timestamptz);

-- name: follow_workflow
-- $1 repo, $2 run: it has ended. $3 number of the repository.
SELECT implementation_check(i) FROM (SELECT lower(repository_hold($1, $3)) AS repo) held
JOIN implementation i ON lower(i.repo) = held.repo
WHERE i.run_id = $2 AND (i.finished_at IS NULL OR i.pr_number IS NULL);

-- name: follow_due
WITH due AS (
    SELECT i.experiment_id, i.attempt FROM implementation i WHERE i.check_at <= now() AND i.finished_at IS NULL
    ORDER BY i.check_at LIMIT 100 FOR UPDATE SKIP LOCKED
), late AS (
    UPDATE implementation i SET check_at = implementation_next_check(i.deadline_at) FROM due
    WHERE (i.experiment_id, i.attempt) = (due.experiment_id, due.attempt) RETURNING i
)
SELECT implementation_check(i) FROM late;

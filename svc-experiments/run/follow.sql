-- name: follow_load(experiment, attempt) (read)
-- Returns what to ask the code host, as JSON. No row: it was deleted, or nothing was started.
SELECT jsonb_build_object('repo', i.repo, 'run_id', i.run_id, 'pr_url', repository_link_now(e.pr_url),
                          'work_branch', i.work_branch,
                          'since', time_json(coalesce(i.dispatched_at, i.started_at)))
FROM implementation i JOIN experiment e ON e.id = i.experiment_id
WHERE i.experiment_id = :experiment AND i.attempt = :attempt::int AND (i.run_id IS NOT NULL OR i.deadline_at IS NOT NULL);

-- name: follow_settle(experiment, attempt, conclusion, pull_request)
SELECT implementation_reconcile(:experiment, :attempt::int, :conclusion, :pull_request);

-- name: follow_pull_request(repository, number, branch, state, occurred_at, repository_number, action)
-- A :number that no column can hold is none of ours.
SELECT implementation_pull_update(repository_hold(:repository, :repository_number),
                                  CASE WHEN :number::bigint < 2147483648 THEN (:number::bigint)::int END,
                                  :branch, :state, :occurred_at::timestamptz, coalesce(:action = 'reopened', false));

-- name: follow_workflow(repository, run, repository_number)
-- The :run has ended.
SELECT implementation_check(i)
FROM (SELECT lower(repository_hold(:repository, :repository_number)) AS repo) held
JOIN implementation i ON lower(i.repo) = held.repo
WHERE i.run_id = :run AND (i.finished_at IS NULL OR i.pr_number IS NULL);

-- name: follow_due
WITH due AS (
    SELECT i.experiment_id, i.attempt FROM implementation i WHERE i.check_at <= now() AND i.finished_at IS NULL
    ORDER BY i.check_at LIMIT 100 FOR UPDATE SKIP LOCKED
), late AS (
    UPDATE implementation i SET check_at = implementation_next_check(i.deadline_at) FROM due
    WHERE (i.experiment_id, i.attempt) = (due.experiment_id, due.attempt) RETURNING i
)
SELECT implementation_check(i) FROM late;

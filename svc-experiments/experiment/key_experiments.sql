-- name: key_experiment (read)
-- $1 experiment, $2 account. Its target repository and its project; NULL: it has none, or the project was deleted.
SELECT nullif(launch_context ->> 'target_repo', '') AS repo, (SELECT p.id FROM project p WHERE p.id = e.project_id) AS project_id
FROM experiment e WHERE id = $1 AND account_id = $2;

-- name: key_experiment_hold
-- As key_experiment, with the row locked.
SELECT nullif(launch_context ->> 'target_repo', '') AS repo, (SELECT p.id FROM project p WHERE p.id = e.project_id) AS project_id
FROM experiment e WHERE id = $1 AND account_id = $2 FOR UPDATE;

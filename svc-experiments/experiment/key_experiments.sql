-- name: key_experiment(experiment, account) (read)
-- Returns its target repository and its project. NULL: it has none, or the project was deleted.
SELECT nullif(launch_context ->> 'target_repo', '') AS repo, (SELECT p.id FROM project p WHERE p.id = e.project_id) AS project_id
FROM experiment e WHERE id = :experiment AND account_id = :account;

-- name: key_experiment_hold(experiment, account)
-- As key_experiment, with the row locked.
SELECT nullif(launch_context ->> 'target_repo', '') AS repo, (SELECT p.id FROM project p WHERE p.id = e.project_id) AS project_id
FROM experiment e WHERE id = :experiment AND account_id = :account FOR UPDATE;

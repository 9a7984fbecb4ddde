-- name: seed_lock
-- $1 account. Commands that seed the same account wait for each other. Otherwise they could create the same rows twice.
SELECT account_lock($1, true);

-- name: seed_project
-- $2 project. No row: a project of that name exists, and is left as it is.
INSERT INTO project (account_id, name, description)
SELECT $1, n.name, n.description FROM jsonb_populate_record(NULL::project, $2::jsonb) n
ON CONFLICT (account_id, name) DO NOTHING
RETURNING id;

-- name: seed_project_find (read)
SELECT id FROM project WHERE account_id = $1 AND name = $2;

-- name: seed_experiment
-- $2 experiment, $3 id of its project or NULL. No row: an experiment of that name exists, and is left as it is.
SELECT experiment_new($1, $2::jsonb || jsonb_build_object('created_via', 'seed', 'project_id', $3::uuid), NULL, NULL)
WHERE NOT EXISTS (SELECT FROM experiment WHERE account_id = $1 AND name = $2::jsonb ->> 'name');

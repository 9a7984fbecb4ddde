-- name: seed_lock
-- Seeds for one account wait for each other, so that none doubles what another makes.
SELECT pg_advisory_xact_lock(hashtextextended('seed ' || $1, 0));

-- name: seed_project
-- $2 the project. One of that name stays as it is.
INSERT INTO project (account_id, name, description)
SELECT $1, n.name, n.description FROM jsonb_populate_record(NULL::project, $2::jsonb) n
ON CONFLICT (account_id, name) DO NOTHING
RETURNING id;

-- name: seed_project_find (read)
SELECT id FROM project WHERE account_id = $1 AND name = $2;

-- name: seed_experiment
-- $2 the experiment, $3 its project or NULL. No row: the account has one of that name.
SELECT experiment_new($1, $2::jsonb || jsonb_build_object('created_via', 'seed', 'project_id', $3::uuid), NULL)
WHERE NOT EXISTS (SELECT FROM experiment WHERE account_id = $1 AND name = $2::jsonb ->> 'name');

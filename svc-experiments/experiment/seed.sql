-- name: seed_lock(account)
-- Commands that seed the same account wait for each other. Otherwise they could create the same rows twice.
SELECT account_lock(:account, true);

-- name: seed_project(account, project)
-- No row: a project of that name exists, and is left as it is.
INSERT INTO project (account_id, name, description)
SELECT :account, n.name, n.description FROM jsonb_populate_record(NULL::project, :project::jsonb) n
ON CONFLICT (account_id, name) DO NOTHING
RETURNING id;

-- name: seed_project_find(account, name) (read)
SELECT id FROM project WHERE account_id = :account AND name = :name;

-- name: seed_experiment(account, experiment, project)
-- :project is the id of its project or NULL. No row: an experiment of that name exists, and is left as it is.
SELECT experiment_new(:account, :experiment::jsonb || jsonb_build_object('created_via', 'seed', 'project_id', :project::uuid),
                      NULL, NULL)
WHERE NOT EXISTS (SELECT FROM experiment WHERE account_id = :account AND name = :experiment::jsonb ->> 'name');

-- name: installation_get (read)
-- $1 repository in any case, $2 for how many seconds an answer of the code host is believed.
SELECT installation_id, owner_login, permissions, repository_id, full_name FROM installation
WHERE repo = lower($1) AND told_at > now() - make_interval(secs => $2::float8);

-- name: installation_store
-- $1 repository, $2 installation, $3 owner, $4 permissions, $5 id and $6 name of a renamed repository or NULL.
INSERT INTO installation AS i (repo, installation_id, owner_login, permissions, repository_id, full_name)
VALUES (lower($1), $2, $3, $4, $5, $6)
ON CONFLICT (repo) DO UPDATE SET installation_id = excluded.installation_id, owner_login = excluded.owner_login,
    permissions = excluded.permissions, repository_id = excluded.repository_id, full_name = excluded.full_name,
    told_at = now();

-- name: installation_name
-- $1 repository, $2 the name that it has now.
UPDATE installation SET full_name = $2 WHERE repo = lower($1);

-- name: installation_forget_repo
DELETE FROM installation WHERE repo = lower($1);

-- name: installation_forget
DELETE FROM installation WHERE installation_id = $1;

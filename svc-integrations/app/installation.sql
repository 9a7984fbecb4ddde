-- name: installation_get (read)
-- $1 repository in any case, $2 for how many seconds an answer of the code host is believed.
SELECT installation_id, owner_login, permissions FROM installation
WHERE repo = lower($1) AND told_at > now() - make_interval(secs => $2::float8);

-- name: installation_store
INSERT INTO installation AS i (repo, installation_id, owner_login, permissions) VALUES (lower($1), $2, $3, $4)
ON CONFLICT (repo) DO UPDATE SET installation_id = excluded.installation_id, owner_login = excluded.owner_login,
    permissions = excluded.permissions, told_at = now();

-- name: installation_forget_repo
DELETE FROM installation WHERE repo = lower($1);

-- name: installation_forget
DELETE FROM installation WHERE installation_id = $1;

-- name: installation_get (read)
-- $1 repository in any case, $2 for how many seconds an answer of the code host is believed, $3 one that there is no
-- installation, or that it is suspended. A row without an installation: there is none. No row: not known.
SELECT i.installation_id, i.owner_login, i.permissions, i.repository_id, i.full_name, time_json(i.suspended_at) AS suspended_at
FROM (SELECT lower($1) AS repo) r
LEFT JOIN installation i ON i.repo = r.repo AND i.told_at > now() - make_interval(
    secs => CASE WHEN i.suspended_at IS NULL THEN $2::float8 ELSE $3::float8 END)
LEFT JOIN installation_absence a ON a.repo = r.repo AND a.told_at > now() - make_interval(secs => $3::float8)
WHERE i.repo IS NOT NULL OR a.repo IS NOT NULL;

-- name: installation_lookup
-- $1 account, $2 how many look-ups it may make in an hour: whether this is one of them, and the seconds until the hour ends.
-- No row: the account was deleted.
INSERT INTO installation_lookup AS l (account_id) VALUES ($1)
ON CONFLICT (account_id) DO UPDATE SET
    lookups = CASE WHEN l.began_at > now() - interval '1 hour' THEN least(l.lookups, $2) + 1 ELSE 1 END,
    began_at = CASE WHEN l.began_at > now() - interval '1 hour' THEN l.began_at ELSE now() END
RETURNING lookups <= $2 AS may_look, ceil(extract(epoch FROM began_at + interval '1 hour' - now()))::bigint AS wait_s;

-- name: installation_store
-- $1 repository, $2 installation, $3 owner, $4 permissions, $5 id and $6 name of a renamed repository or NULL, $7 since when it is
-- suspended or NULL.
WITH no_absence AS (
    DELETE FROM installation_absence WHERE repo = lower($1)
)
INSERT INTO installation AS i (repo, installation_id, owner_login, permissions, repository_id, full_name, suspended_at)
VALUES (lower($1), $2, $3, $4, $5, $6, $7)
ON CONFLICT (repo) DO UPDATE SET installation_id = excluded.installation_id, owner_login = excluded.owner_login,
    permissions = excluded.permissions, repository_id = excluded.repository_id, full_name = excluded.full_name,
    suspended_at = excluded.suspended_at, told_at = now();

-- name: installation_name
-- $1 repository, $2 the name that it has now.
UPDATE installation SET full_name = $2 WHERE repo = lower($1);

-- name: installation_store_absence
-- $1 repository, $2 as $3 of installation_get. Also deletes up to 20 old rows.
WITH forgotten AS (
    DELETE FROM installation WHERE repo = lower($1)
), old AS (
    DELETE FROM installation_absence WHERE repo IN (
        SELECT repo FROM installation_absence WHERE told_at < now() - make_interval(secs => $2::float8)
        LIMIT 20 FOR UPDATE SKIP LOCKED)
    AND repo <> lower($1)
)
INSERT INTO installation_absence (repo) VALUES (lower($1)) ON CONFLICT (repo) DO UPDATE SET told_at = now();

-- name: installation_forget
DELETE FROM installation WHERE installation_id = $1;

-- name: installation_get(repository, believed_s, absence_believed_s) (read)
-- The case of the :repository does not matter. An answer of the code host is believed for :believed_s; one that there is no
-- installation, or that it is suspended, for :absence_believed_s. A row without an installation: there is none. No row: not
-- known.
SELECT i.installation_id, i.owner_login, i.permissions, i.repository_id, i.full_name, time_json(i.suspended_at) AS suspended_at
FROM (SELECT lower(:repository) AS repo) r
LEFT JOIN installation i ON i.repo = r.repo AND i.told_at > now() - make_interval(
    secs => CASE WHEN i.suspended_at IS NULL THEN :believed_s::float8 ELSE :absence_believed_s::float8 END)
LEFT JOIN installation_absence a ON a.repo = r.repo AND a.told_at > now() - make_interval(secs => :absence_believed_s::float8)
WHERE i.repo IS NOT NULL OR a.repo IS NOT NULL;

-- name: installation_count(account, lookups, tokens, lists, most)
-- One of :lookups, :tokens and :lists is 1, the others 0: of what is counted, an account may make :most in an hour. Returns whether this
-- is one of them, and the seconds until the hour ends. No row: the account was deleted.
INSERT INTO installation_lookup AS l (account_id, lookups, tokens, lists) VALUES (:account, :lookups::int, :tokens::int, :lists::int)
ON CONFLICT (account_id) DO UPDATE SET
    (lookups, tokens, lists, began_at) = (
        SELECT n.lookups + excluded.lookups, n.tokens + excluded.tokens, n.lists + excluded.lists, n.began_at
        FROM (VALUES (false, l.lookups, l.tokens, l.lists, l.began_at), (true, 0, 0, 0, now())) AS n (is_new, lookups, tokens, lists, began_at)
        WHERE n.began_at > now() - interval '1 hour' ORDER BY n.is_new LIMIT 1)
RETURNING lookups * :lookups::int + tokens * :tokens::int + lists * :lists::int <= :most AS may_look,
    ceil(extract(epoch FROM began_at + interval '1 hour' - now()))::bigint AS wait_s;

-- name: installation_store(repository, installation, owner_login, permissions, number, name, suspended_at)
-- :number and :name: of a renamed repository, or NULL. A :suspended_at of NULL: it is not suspended.
WITH no_absence AS (
    DELETE FROM installation_absence WHERE repo = lower(:repository)
)
INSERT INTO installation AS i (repo, installation_id, owner_login, permissions, repository_id, full_name, suspended_at)
VALUES (lower(:repository), :installation, :owner_login, :permissions, :number, :name, :suspended_at)
ON CONFLICT (repo) DO UPDATE SET installation_id = excluded.installation_id, owner_login = excluded.owner_login,
    permissions = excluded.permissions, repository_id = excluded.repository_id, full_name = excluded.full_name,
    suspended_at = excluded.suspended_at, told_at = now();

-- name: installation_name(repository, name)
-- :name: what the repository is called now.
UPDATE installation SET full_name = :name WHERE repo = lower(:repository);

-- name: installation_store_absence(repository, absence_believed_s)
-- Also deletes up to 20 that are not believed any more, after :absence_believed_s.
WITH forgotten AS (
    DELETE FROM installation WHERE repo = lower(:repository)
), old AS (
    DELETE FROM installation_absence WHERE repo IN (
        SELECT repo FROM installation_absence WHERE told_at < now() - make_interval(secs => :absence_believed_s::float8)
        LIMIT 20 FOR UPDATE SKIP LOCKED)
    AND repo <> lower(:repository)
)
INSERT INTO installation_absence (repo) VALUES (lower(:repository))
ON CONFLICT (repo) DO UPDATE SET told_at = now();

-- name: installation_forget(installation)
DELETE FROM installation WHERE installation_id = :installation;

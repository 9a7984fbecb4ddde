-- name: access_get (read)
-- $1 account, $2 repository in any case, $3 for how many seconds an answer of the code host is believed. The account's connection, the
-- number of the repository if its user is known to have push access, whether the connection is active, the name that the repository
-- of this number has now, and the number of the repository that has, or last had, the name $2; no row: not connected.
SELECT c.id, a.repository_id, c.status = 'active' AS is_active, r.name,
       coalesce((SELECT n.number FROM repository n WHERE lower(n.name) = lower($2)),
                (SELECT f.number FROM repository_former f WHERE f.name = lower($2))) AS known_number
FROM connection c LEFT JOIN repository_access a ON a.connection_id = c.id AND a.repo = lower($2)
                                                AND a.told_at > now() - make_interval(secs => $3::float8)
LEFT JOIN repository r ON r.number = a.repository_id
WHERE c.account_id = $1 AND c.provider = 'code_host';

-- name: access_store
-- $1 account, $2 connection, $3 repository as it was asked for, $4 as above, $5 number of the repository: its user has push access; $6
-- whether it takes changes: one that does not is asked about each time; $7 its name. Also deletes up to 20 old answers.
WITH old AS (
    DELETE FROM repository_access WHERE ctid IN (
        SELECT ctid FROM repository_access WHERE told_at < now() - make_interval(secs => $4::float8)
        LIMIT 20 FOR UPDATE SKIP LOCKED)
    AND (connection_id, repo) <> ($2, lower($3))
), restored AS (
    DELETE FROM access_lost WHERE account_id = $1 AND repo IN (lower($3), lower($7))
)
INSERT INTO repository_access AS a (account_id, connection_id, repo, repository_id, told_at)
VALUES ($1, $2, lower($3), $5, CASE WHEN $6 THEN now() ELSE '-infinity' END)
ON CONFLICT (connection_id, repo) DO UPDATE SET repository_id = excluded.repository_id, told_at = excluded.told_at;

-- name: access_name_record
-- $1 number of a repository, $2 its name, $3 the name by which it was asked for, $4 when it was last changed (NULL: unknown), $5 address
-- of the code host's pages.
SELECT repository_record(jsonb_build_object('number', $1::bigint, 'name', $2::text, 'former', nullif(lower($3::text), lower($2::text)),
                                          'at', $4::text), NULL, NULL, $5);

-- name: access_lost_announce
-- $1 account, $2 repository, $3 address of the code host's pages.
SELECT access_lost_announce($1, $2, $3);

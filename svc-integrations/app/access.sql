-- name: access_get(account, repository, believed_s) (read)
-- The case of the :repository does not matter. An answer of the code host is believed for :believed_s. Returns the account's
-- connection, the number of the repository if its user is known to have push access, whether the connection is active, the name
-- that the repository of this number has now, and the number of the repository that has, or last had, the name :repository. No
-- row: not connected.
SELECT c.id, a.repository_id, c.status = 'active' AS is_active, r.name,
       coalesce((SELECT n.number FROM repository n WHERE lower(n.name) = lower(:repository)),
                (SELECT f.number FROM repository_former f WHERE f.name = lower(:repository))) AS known_number
FROM connection c
LEFT JOIN repository_access a ON a.connection_id = c.id AND a.repo = lower(:repository)
                             AND a.told_at > now() - make_interval(secs => :believed_s::float8)
LEFT JOIN repository r ON r.number = a.repository_id
WHERE c.account_id = :account AND c.provider = 'code_host';

-- name: access_store(account, connection, asked_name, believed_s, number, takes_changes, name)
-- The user of the :connection has push access to the repository :number, which was asked for by :asked_name. One that takes no
-- changes is asked about each time. Also deletes up to 20 answers that are not believed any more, after :believed_s.
WITH old AS (
    DELETE FROM repository_access WHERE ctid IN (
        SELECT ctid FROM repository_access WHERE told_at < now() - make_interval(secs => :believed_s::float8)
        LIMIT 20 FOR UPDATE SKIP LOCKED)
    AND (connection_id, repo) <> (:connection, lower(:asked_name))
), restored AS (
    DELETE FROM access_lost WHERE account_id = :account AND repo IN (lower(:asked_name), lower(:name))
)
INSERT INTO repository_access AS a (account_id, connection_id, repo, repository_id, told_at)
VALUES (:account, :connection, lower(:asked_name), :number, CASE WHEN :takes_changes THEN now() ELSE '-infinity' END)
ON CONFLICT (connection_id, repo) DO UPDATE SET repository_id = excluded.repository_id, told_at = excluded.told_at;

-- name: access_name_record(number, name, asked_name, changed_at, web_url)
-- :changed_at: when the repository was last changed; NULL: unknown. :web_url: address of the code host's pages.
SELECT repository_record(jsonb_build_object('number', :number::bigint, 'name', :name::text,
                                            'former', nullif(lower(:asked_name::text), lower(:name::text)),
                                            'at', :changed_at::text), NULL, NULL, :web_url);

-- name: access_lost_announce(account, repository, web_url)
-- :web_url: address of the code host's pages.
SELECT access_lost_announce(:account, :repository, :web_url);

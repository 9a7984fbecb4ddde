-- name: session_create(key_hash, session_hash, ip, user_agent)
SELECT session_new(:key_hash, :session_hash, :ip, :user_agent);

-- name: session_operator(key_hash) (read)
-- Returns whether the key's person is an operator.
SELECT p.is_operator
FROM api_key k
JOIN api_key_person o ON o.key_id = k.id
JOIN person p ON p.id = o.person_id
WHERE k.hash = :key_hash;

-- name: session_refused(key_hash, reason)
SELECT session_refused_key(:key_hash, :reason);

-- name: session_read(session_hash) (read)
SELECT session_json(v.s, v.scopes) FROM session_valid(:session_hash) v;

-- name: session_show_account(session_hash, account)
-- The session shows :account from now on. No row: there is no such session; NULL: its person is no member.
SELECT session_switch(:session_hash, :account) FROM session_valid(:session_hash);

-- name: session_remove(session_hash)
DELETE FROM session
WHERE hash = :session_hash
RETURNING jsonb_build_object('id', id, 'deleted', true);

-- name: sessions_list(account, session_hash, limit, offset, actor_key) (read)
-- :session_hash is of the session that asks (NULL: a key asks), :actor_key the key that asks. A person has at most 20.
WITH valid AS MATERIALIZED (
    SELECT *
    FROM session s
    WHERE s.account_id = :account AND EXISTS (SELECT FROM session_valid(s.hash)) AND is_shown(:account, :actor_key, s.person_id)
)
SELECT (SELECT coalesce(jsonb_agg(jsonb_build_object(
                   'id', page.id, 'person', page.person_id, 'created_at', time_json(page.created_at),
                   'last_seen_at', time_json(page.last_seen_at), 'expires_at', time_json(page.expires_at), 'ip', page.ip,
                   'user_agent', page.user_agent, 'current', page.hash IS NOT DISTINCT FROM :session_hash)
               ORDER BY page.id DESC), '[]')
        FROM (SELECT * FROM valid ORDER BY id DESC LIMIT :limit OFFSET :offset) page),
       (SELECT count(*) FROM valid) AS total;

-- name: session_end(session, account, actor_key)
-- :actor_key ends it.
DELETE FROM session
WHERE id = :session AND account_id = :account AND is_shown(:account, :actor_key, person_id)
RETURNING jsonb_build_object('id', id, 'deleted', true);

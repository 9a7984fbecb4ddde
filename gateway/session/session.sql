-- name: session_create
-- $1 hash of the key, $2 hash of the session, $3 address of the client, $4 what its browser calls itself.
SELECT session_new($1, $2, $3, $4);

-- name: session_operator (read)
-- $1 hash of a key: whether its person is an operator.
SELECT p.is_operator FROM api_key k JOIN api_key_person o ON o.key_id = k.id JOIN person p ON p.id = o.person_id WHERE k.hash = $1;

-- name: session_refused
-- $1 hash of the key, $2 why.
SELECT session_refused_key($1, $2);

-- name: session_read (read)
SELECT session_json(v.s, v.scopes) FROM session_valid($1) v;

-- name: session_show_account
-- $1 hash of the session, $2 the account that it shows from now on. No row: there is no such session; NULL: its person is no member.
SELECT session_switch($1, $2) FROM session_valid($1);

-- name: session_remove
DELETE FROM session WHERE hash = $1 RETURNING jsonb_build_object('id', id, 'deleted', true);

-- name: sessions_list (read)
-- $1 account, $2 hash of the session that asks (NULL: a key asks), $3 limit, $4 offset, $5 the key that asks. A person has at most
-- 20.
WITH valid AS MATERIALIZED (
    SELECT * FROM session s
    WHERE s.account_id = $1 AND EXISTS (SELECT FROM session_valid(s.hash)) AND is_shown($1, $5, s.person_id)
)
SELECT (SELECT coalesce(jsonb_agg(jsonb_build_object(
                   'id', page.id, 'person', page.person_id, 'created_at', time_json(page.created_at),
                   'last_seen_at', time_json(page.last_seen_at), 'expires_at', time_json(page.expires_at), 'ip', page.ip,
                   'user_agent', page.user_agent, 'current', page.hash IS NOT DISTINCT FROM $2) ORDER BY page.id DESC), '[]')
        FROM (SELECT * FROM valid ORDER BY id DESC LIMIT $3 OFFSET $4) page),
       (SELECT count(*) FROM valid) AS total;

-- name: session_end
-- $1 id, $2 account, $3 the key that ends it.
DELETE FROM session WHERE id = $1 AND account_id = $2 AND is_shown($2, $3, person_id) RETURNING jsonb_build_object('id', id, 'deleted', true);

-- name: identity_log_in(issuer, subject, email, name, may_be_new, account, role, token_hash)
-- :email is the verified address (NULL: none). :may_be_new: a person may be made, who joins :account with :role (NULL: none).
-- :token_hash is of the token of the invitation whose link they have followed (NULL: none).
SELECT outcome, person FROM identity_enter(:issuer, :subject, :email, :name, :may_be_new, :account, :role, :token_hash);

-- name: identity_known(issuer, subject) (read)
-- No row: it is nobody's.
SELECT FROM identity WHERE issuer = :issuer AND subject = :subject;

-- name: identity_refused(person, reason)
-- A :person of NULL: nobody is known.
SELECT session_refused(a, audit_actor_person(:person), :reason) FROM audit_accounts(:person) a;

-- name: identity_session(person, issuer, session_hash, user_scopes, operator_scopes, ip, user_agent)
-- Returns the id of the session. NULL: the person is a member of no account.
SELECT session_of_person(:person, :issuer, :session_hash, :user_scopes, :operator_scopes, :ip, :user_agent);

-- name: identity_link(issuer, subject, session_hash, email)
-- :session_hash, in hexadecimal, is that of the session that adds the identity. Returns whether it is the person's now, and who
-- that is. No row: the session has ended.
SELECT identity_add(:issuer, :subject, (v.s).person_id, :email, true) AS is_theirs, (v.s).person_id AS person
FROM session_valid(decode(:session_hash, 'hex')) v
WHERE (v.s).person_id IS NOT NULL;

-- name: identity_adder(session_hash) (read)
-- Returns :session_hash in hexadecimal, the session's person, the scopes of its key, whether the person is an operator, and the
-- highest of their roles in all their accounts.
SELECT encode(:session_hash::bytea, 'hex') AS session, p.id AS person, to_jsonb(v.scopes) AS scopes, p.is_operator,
       (SELECT m.role
        FROM member m
        WHERE m.person_id = p.id
        ORDER BY array_position(ARRAY['owner', 'admin', 'member', 'viewer'], m.role)
        LIMIT 1) AS role
FROM session_valid(:session_hash) v
LEFT JOIN person p ON p.id = (v.s).person_id;

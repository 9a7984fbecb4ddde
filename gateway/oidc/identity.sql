-- name: identity_log_in
-- $1 issuer, $2 subject, $3 verified address (NULL: none), $4 name, $5 whether a person may be made, $6 account that they join and
-- $7 their role (NULL: none), $8 hash of the token of the invitation whose link they have followed (NULL: none).
SELECT outcome, person FROM identity_enter($1, $2, $3, $4, $5, $6, $7, $8);

-- name: identity_known (read)
-- $1 issuer, $2 subject. No row: it is nobody's.
SELECT FROM identity WHERE issuer = $1 AND subject = $2;

-- name: identity_refused
-- $1 person (NULL: nobody is known), $2 why.
SELECT session_refused(a, audit_actor_person($1), $2) FROM audit_accounts($1) a;

-- name: identity_session
-- $1 person, $2 issuer, $3 hash of the session, $4 scopes of a user, $5 those of an operator, $6 address of the client, $7 what its
-- browser calls itself: the id of the session. NULL: the person is a member of no account.
SELECT session_of_person($1, $2, $3, $4, $5, $6, $7);

-- name: identity_link
-- $1 issuer, $2 subject, $3 hash of the session that adds it, in hexadecimal, $4 address: whether it is the person's now, and who that
-- is. No row: the session has ended.
SELECT identity_add($1, $2, (v.s).person_id, $4, true) AS is_theirs, (v.s).person_id AS person
FROM session_valid(decode($3, 'hex')) v WHERE (v.s).person_id IS NOT NULL;

-- name: identity_adder (read)
-- $1 hash of a session: the same in hexadecimal, its person, the scopes of its key, whether the person is an operator, and the highest
-- of their roles in all their accounts.
SELECT encode($1::bytea, 'hex') AS session, p.id AS person, to_jsonb(v.scopes) AS scopes, p.is_operator,
       (SELECT m.role FROM member m WHERE m.person_id = p.id
        ORDER BY array_position(ARRAY['owner', 'admin', 'member', 'viewer'], m.role) LIMIT 1) AS role
FROM session_valid($1) v LEFT JOIN person p ON p.id = (v.s).person_id;

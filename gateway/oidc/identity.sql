-- name: identity_log_in
-- $1 issuer, $2 subject, $3 verified address (NULL: none), $4 name, $5 whether a person may be made, $6 account that they join and
-- $7 their role (NULL: none).
SELECT outcome, person FROM identity_find($1, $2, $3, $4, $5, $6, $7);

-- name: identity_session
-- $1 person, $2 hash of the session, $3 scopes of a user, $4 those of an operator, $5 address of the client, $6 what its browser calls
-- itself: the id of the session. NULL: the person is a member of no account.
SELECT session_of_person($1, $2, $3, $4, $5, $6);

-- name: identity_link
-- $1 issuer, $2 subject, $3 person, $4 address: whether it is the person's now.
SELECT identity_add($1, $2, $3, $4) FROM person WHERE id = $3 AND disabled_at IS NULL;

-- name: identity_session_person (read)
-- $1 hash of a session: its person.
SELECT (v.s).person_id FROM session_valid($1) v;

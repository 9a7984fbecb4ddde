-- name: command_person (read)
-- $1 address: the person.
SELECT id FROM person WHERE lower(email) = lower($1);

-- name: command_team
-- $1 name, $2 the person who owns it: the id of the new account.
SELECT team_new($1, $2);

-- name: command_member
-- $1 account, $2 address of a person, who is made if there is none.
SELECT person_of($2) FROM account WHERE id = $1 FOR UPDATE;

-- name: command_add
-- $1 account, $2 person, $3 role: how it went, `last_owner`, `too_many` or anything else.
SELECT CASE WHEN added = 'is_member' THEN member_set_role($1, $2, $3) ELSE added END FROM member_add($1, $2, $3, NULL) added;

-- name: command_give
-- $1 key, $2 person, whose key it is from now on.
INSERT INTO api_key_person (key_id, person_id) VALUES ($1, $2)
ON CONFLICT (key_id) DO UPDATE SET person_id = excluded.person_id;

-- name: command_disable
-- $1 address, $2 whether the person is enabled again.
SELECT person_disable($1, $2);

-- name: command_person(email) (read)
SELECT id FROM person WHERE lower(email) = lower(:email);

-- name: command_team(name, owner)
-- :owner is the person who owns it. Returns the id of the new account.
SELECT team_new(:name, :owner);

-- name: command_member(account, email)
-- Returns the person with the address, who is made if there is none.
SELECT person_of(:email)
FROM account
WHERE id = :account
FOR UPDATE;

-- name: command_add(account, person, role)
-- Returns how it went: `last_owner`, `too_many` or anything else.
SELECT CASE WHEN added = 'is_member' THEN member_set_role(:account, :person, :role) ELSE added END
FROM member_add(:account, :person, :role, NULL) added;

-- name: command_give(key, person)
-- It is the person's key from now on.
INSERT INTO api_key_person (key_id, person_id)
VALUES (:key, :person)
ON CONFLICT (key_id) DO UPDATE SET person_id = excluded.person_id;

-- name: command_disable(email, is_undone)
-- :is_undone: the person is enabled again.
SELECT person_disable(:email, :is_undone);

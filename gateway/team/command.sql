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
-- $1 address, $2 whether the person is enabled again. The invitations that they have made end with them, and services are told by
-- `member.disabled` in each of their accounts.
WITH changed AS (
    UPDATE person SET disabled_at = CASE WHEN NOT $2 THEN coalesce(disabled_at, now()) END
    WHERE lower(email) = lower($1) RETURNING id, disabled_at
), told AS (
    SELECT member_gone_announce(m.account_id, m.person_id, 'member.disabled')
    FROM changed JOIN member m ON m.person_id = changed.id WHERE changed.disabled_at IS NOT NULL
), revoked AS (
    UPDATE invitation i SET revoked_at = now() FROM changed
    WHERE i.invited_by = changed.id AND changed.disabled_at IS NOT NULL AND i.accepted_at IS NULL AND i.revoked_at IS NULL
)
SELECT id, (SELECT count(*) FROM told) FROM changed;

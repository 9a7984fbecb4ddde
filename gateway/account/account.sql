-- name: account_create(email, is_operator)
-- An existing account can become an operator, but is never demoted.
INSERT INTO account (email, is_operator)
VALUES (:email, :is_operator)
ON CONFLICT (lower(email)) DO UPDATE SET is_operator = account.is_operator OR excluded.is_operator
RETURNING id;

-- name: account_has_own_person(account) (read)
-- Returns whether the person with its address is still a member.
SELECT EXISTS (
    SELECT
    FROM account a
    JOIN person p ON lower(p.email) = lower(a.email)
    JOIN member m ON (m.account_id, m.person_id) = (a.id, p.id)
    WHERE a.id = :account);

-- name: account_members(account) (read)
-- Returns its name, and how many members it has.
SELECT coalesce(a.name, a.email) AS name, (SELECT count(*) FROM member m WHERE m.account_id = a.id) AS members
FROM account a
WHERE a.id = :account;

-- name: account_delete(account)
-- The account's keys are deleted with it. The event tells every service to delete its data of the account.
WITH deleted AS (
    DELETE FROM account WHERE id = :account RETURNING id
), event AS (
    SELECT event_emit('events.account', 'account.deleted', id, '{}') FROM deleted
)
SELECT jsonb_build_object('id', id, 'deleted', true), (SELECT count(*) FROM event)
FROM deleted;

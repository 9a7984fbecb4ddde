-- name: account_create
-- $1 email, $2 operator or not. An account that is there already becomes an operator's when asked, never less.
INSERT INTO account (email, is_operator) VALUES ($1, $2)
ON CONFLICT (lower(email)) DO UPDATE SET is_operator = account.is_operator OR excluded.is_operator
RETURNING id;

-- name: account_delete
-- The keys go with it; the event has every service remove what it keeps.
WITH gone AS (
    DELETE FROM account WHERE id = $1 RETURNING id
), told AS (
    SELECT event_emit('events.account', 'account.deleted', id, '{}') FROM gone
)
SELECT jsonb_build_object('id', id, 'deleted', true), (SELECT count(*) FROM told) FROM gone;

-- name: account_forget
-- $1 account. Again changes nothing.
WITH noted AS (
    INSERT INTO deleted_account (id) VALUES ($1) ON CONFLICT (id) DO NOTHING
), experiments AS (
    DELETE FROM experiment WHERE account_id = $1
), kept AS (
    DELETE FROM idempotency WHERE account_id = $1
)
DELETE FROM project WHERE account_id = $1;

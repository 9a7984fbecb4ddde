-- name: account_forget
-- $1 account. Again changes nothing.
SELECT account_forget($1);

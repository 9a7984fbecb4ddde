-- name: cost_look_next(after) (read)
-- Returns the next account behind the account :after that has runs to be compared.
SELECT l.account_id FROM cost_look l WHERE l.account_id > :after ORDER BY l.account_id LIMIT 1;

-- name: cost_look_account(account)
-- Returns whether it had runs that nobody else compares, and why they could not be compared, or NULL.
SELECT is_done, fault FROM cost_look_account(:account);

-- name: cost_look_leave_out(account)
-- Drops those that cost_look_account() has taken before it was ended.
DELETE FROM cost_look l WHERE l.run IN (SELECT x.run FROM cost_look x WHERE x.account_id = :account ORDER BY x.run LIMIT 50);

-- name: cost_looks_drop
DELETE FROM cost_look;

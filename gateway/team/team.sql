-- :actor_key is the key that asks.

-- name: team_read(account, actor_key) (read)
-- No row: it was deleted.
SELECT team_json(a.id, :actor_key) FROM account a WHERE a.id = :account;

-- name: team_open(account, actor_key)
SELECT team_is_open_to(:account, :actor_key);

-- name: team_rename(account, name)
UPDATE account SET name = :name WHERE id = :account;

-- name: team_member_change(account, actor_key, person, role)
-- Returns how it went.
SELECT member_change(:account, :actor_key, :person, :role) AS outcome;

-- name: team_member_read(account, person)
SELECT member_json(:account, :person);

-- name: team_member_remove(account, actor_key, person)
-- Returns how it went.
SELECT member_remove(:account, :actor_key, :person) AS outcome;

-- name: team_caller(actor_key) (read)
-- Returns its person, or NULL.
SELECT acting_person(:actor_key);

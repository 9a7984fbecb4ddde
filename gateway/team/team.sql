-- name: team_read (read)
-- $1 account, $2 the key that asks. No row: it was deleted.
SELECT team_json(a.id, $2) FROM account a WHERE a.id = $1;

-- name: team_open
-- $1 account, $2 the key that asks.
SELECT team_is_open_to($1, $2);

-- name: team_rename
-- $1 account, $2 name.
UPDATE account SET name = $2 WHERE id = $1;

-- name: team_member_change
-- $1 account, $2 the key that asks, $3 person, $4 role: how it went.
SELECT member_change($1, $2, $3, $4) AS outcome;

-- name: team_member_read
-- $1 account, $2 person.
SELECT member_json($1, $2);

-- name: team_member_remove
-- $1 account, $2 the key that asks, $3 person: how it went.
SELECT member_remove($1, $2, $3) AS outcome;

-- name: team_caller (read)
-- $1 the key that asks: its person, or NULL.
SELECT acting_person($1);

-- name: people_find(account, ids) (read)
-- :ids are of persons and keys, a JSON array.
SELECT people_named(:account, :ids);

-- name: price_list_store
-- $1 digest of the list, $2 its prices as a JSON array. Whether it is another list than before.
SELECT price_list_store($1, $2);

-- name: prices_get (read)
-- The list as the API shows it.
SELECT price_list_json();

-- name: price_list_store(digest, prices)
-- Returns whether it is another list than before. :digest is that of the list, :prices a JSON array.
SELECT price_list_store(:digest, :prices);

-- name: prices_get (read)
-- Returns the list as the API shows it.
SELECT price_list_json();

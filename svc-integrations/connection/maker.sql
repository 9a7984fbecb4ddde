-- name: maker_gone
-- $1 account, $2 what the gateway tells of the person, $3 providers as a JSON array, $4 address of the code host's pages.
SELECT connections_of_maker_end($1, $2, $3, $4), endpoints_of_maker_disable($1, $2);

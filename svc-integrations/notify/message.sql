-- name: message_days_keep
-- $1 days.
SELECT message_days_keep($1::int);

-- name: message_take
-- $1 account, $2 id, $3 type, $4 when it happened, $5 body, $6 repository and $7 interest that it is about or NULL, $8 days for which
-- messages are kept, $9 how many may wait for an endpoint. For how many endpoints it is.
SELECT message_take($1, $2, $3, $4, $5, $6, $7, $8::int, $9::int);

-- name: message_take_digest
-- $1 account, $2 id, $3 type, $4 when it happened, $5 body, $6 the endpoint, $7 and $8 as $8 and $9 above.
SELECT digest_take($1, $2, $3, $4, $5, $6, $7::int, $8::int);

-- name: precision_get (read)
-- $1 account, $2 first day, $3 last day, in UTC, $4 interest (NULL: all), $5 how many of each day and interest count.
SELECT recommendation_precision($1, $2::date, $3::date, $4::uuid, $5::int);

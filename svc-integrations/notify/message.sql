-- name: message_days_keep
-- $1 days.
SELECT message_days_keep($1::int);

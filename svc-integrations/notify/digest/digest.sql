-- name: digest_tell
-- $1 how many dates: tell those that have come. How many.
SELECT digests_tell($1::int);

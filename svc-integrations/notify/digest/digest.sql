-- name: digests_announce
-- $1 how many dates: tell those that have come. How many.
SELECT digests_announce($1::int);

-- name: precision_get(account, since, until, interest, k) (read)
-- :since and :until are the first and the last day, in UTC. An :interest of NULL: all. The :k best of each day and interest
-- count.
SELECT recommendation_precision(:account, :since::date, :until::date, :interest::uuid, :k::int);

-- name: digests_announce(limit)
-- Tell the dates that have come, at most :limit. Returns their number.
SELECT digests_announce(:limit::int);

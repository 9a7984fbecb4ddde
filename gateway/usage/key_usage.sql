-- name: key_usage_store(counts)
-- :counts is a JSON array of {"key_id", "day", "family", "status", "requests"}. Those of keys that are gone are left out.
INSERT INTO key_usage AS u (key_id, day, family, status, requests)
SELECT x.key_id, x.day, x.family, x.status, x.requests
FROM jsonb_to_recordset(:counts::jsonb) AS x (key_id uuid, day date, family text, status smallint, requests bigint)
JOIN api_key k ON k.id = x.key_id
ORDER BY x.key_id, x.day, x.family, x.status
ON CONFLICT (key_id, day, family, status) DO UPDATE SET requests = u.requests + excluded.requests;

-- name: key_usage_list(account, key, only_key, limit, offset, actor_key) (read)
-- Returns days, newest first. :only_key is the only one to show (NULL: all), :actor_key the one that asks. No row: no such key is
-- shown to it.
SELECT (SELECT coalesce(jsonb_agg(jsonb_build_object('day', d.day, 'requests', d.requests, 'counts', d.counts)
                                  ORDER BY d.day DESC), '[]')
        FROM (SELECT u.day, sum(u.requests) AS requests,
                     jsonb_agg(jsonb_build_object('family', u.family, 'status', u.status, 'requests', u.requests)
                               ORDER BY u.family, u.status) AS counts
              FROM key_usage u
              WHERE u.key_id = k.id
              GROUP BY u.day
              ORDER BY u.day DESC
              LIMIT :limit OFFSET :offset) d) AS page,
       (SELECT count(DISTINCT u.day) FROM key_usage u WHERE u.key_id = k.id) AS total
FROM api_key k
WHERE k.account_id = :account AND k.id = :key AND k.deleted_at IS NULL AND (:only_key::uuid IS NULL OR k.id = :only_key)
  AND api_key_is_shown(:account, :actor_key, k.id);

-- name: key_usage_forget
DELETE FROM key_usage WHERE day < (now() AT TIME ZONE 'UTC')::date - 90;

-- name: key_usage_store
-- $1 counts, a JSON array of {"key_id", "day", "family", "status", "requests"}. Those of keys that are gone are left out.
INSERT INTO key_usage AS u (key_id, day, family, status, requests)
SELECT x.key_id, x.day, x.family, x.status, x.requests
FROM jsonb_to_recordset($1::jsonb) AS x (key_id uuid, day date, family text, status smallint, requests bigint)
JOIN api_key k ON k.id = x.key_id
ORDER BY x.key_id, x.day, x.family, x.status
ON CONFLICT (key_id, day, family, status) DO UPDATE SET requests = u.requests + excluded.requests;

-- name: key_usage_list (read)
-- $1 account, $2 key, $3 the only key to show (NULL: all), $4 limit, $5 offset, $6 the key that asks. Days, newest first; no row: no such
-- key is shown to it.
SELECT (SELECT coalesce(jsonb_agg(jsonb_build_object('day', d.day, 'requests', d.requests, 'counts', d.counts) ORDER BY d.day DESC), '[]')
        FROM (SELECT u.day, sum(u.requests) AS requests, jsonb_agg(
                  jsonb_build_object('family', u.family, 'status', u.status, 'requests', u.requests) ORDER BY u.family, u.status) AS counts
              FROM key_usage u WHERE u.key_id = k.id GROUP BY u.day ORDER BY u.day DESC LIMIT $4 OFFSET $5) d) AS page,
       (SELECT count(DISTINCT u.day) FROM key_usage u WHERE u.key_id = k.id) AS total
FROM api_key k WHERE k.account_id = $1 AND k.id = $2 AND k.deleted_at IS NULL AND ($3::uuid IS NULL OR k.id = $3)
  AND api_key_is_shown($1, $6, k.id);

-- name: key_usage_forget
DELETE FROM key_usage WHERE day < (now() AT TIME ZONE 'UTC')::date - 90;

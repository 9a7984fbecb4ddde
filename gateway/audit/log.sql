-- name: log_list (read)
-- $1 account, $2 whether entries of no account are shown, too, $3 since, $4 before when, $5 how the action begins, $6 person who made
-- the change, $7 id of the target (NULL: any), $8 limit, $9 offset. Newest first.
WITH found AS MATERIALIZED (
    SELECT a.id, a.at FROM audit.audit a
    WHERE a.account_id = ANY (audit_shown($1, $2)) AND a.at >= coalesce($3::timestamptz, '-infinity')
      AND a.at < coalesce($4::timestamptz, 'infinity') AND ($5::text IS NULL OR starts_with(a.action, $5))
      AND ($6::text IS NULL OR a.actor ->> 'person_id' = $6) AND ($7::text IS NULL OR a.target ->> 'id' = $7)
)
SELECT (SELECT coalesce(jsonb_agg(audit_json(a) ORDER BY a.at DESC, a.id DESC), '[]')
        FROM (SELECT f.id, f.at FROM found f ORDER BY f.at DESC, f.id DESC LIMIT $8 OFFSET $9) page
        JOIN audit.audit a ON a.id = page.id AND a.at = page.at),
       (SELECT count(*) FROM found) AS total;

-- name: log_count (read)
-- $1 to $7 as of log_list.
SELECT count(*) FROM audit.audit a
WHERE a.account_id = ANY (audit_shown($1, $2)) AND a.at >= coalesce($3::timestamptz, '-infinity')
  AND a.at < coalesce($4::timestamptz, 'infinity') AND ($5::text IS NULL OR starts_with(a.action, $5))
  AND ($6::text IS NULL OR a.actor ->> 'person_id' = $6) AND ($7::text IS NULL OR a.target ->> 'id' = $7);

-- name: log_export (read)
-- $1 to $7 as of log_list; $8 and $9 time and id of the entry behind which it goes on (NULL: from the newest), $10 the most entries: a
-- line for each, and time and id of the last. NULL: there are no more.
WITH page AS MATERIALIZED (
    SELECT a.id, a.at, audit_json(a) AS json FROM audit.audit a
    WHERE a.account_id = ANY (audit_shown($1, $2)) AND a.at >= coalesce($3::timestamptz, '-infinity')
      AND a.at < coalesce($4::timestamptz, 'infinity') AND ($5::text IS NULL OR starts_with(a.action, $5))
      AND ($6::text IS NULL OR a.actor ->> 'person_id' = $6) AND ($7::text IS NULL OR a.target ->> 'id' = $7)
      AND a.at <= coalesce($8::timestamptz, 'infinity')
      AND (a.at, a.id) < (coalesce($8::timestamptz, 'infinity'), coalesce($9::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    ORDER BY a.at DESC, a.id DESC LIMIT $10
)
SELECT string_agg(json::text || E'\n', '' ORDER BY at DESC, id DESC) AS lines,
       (SELECT p.at::text FROM page p ORDER BY p.at, p.id LIMIT 1) AS last_at,
       (SELECT p.id FROM page p ORDER BY p.at, p.id LIMIT 1) AS last_id
FROM page;

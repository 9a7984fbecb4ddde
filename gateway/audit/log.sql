-- name: log_list(account, is_operator, since, until, action, person, target, limit, offset) (read)
-- Newest first. :is_operator: entries of no account are shown, too. Entries from :since on, and before :until; their action
-- begins with :action; :person made the change; :target is the id of its target. NULL of these means any.
WITH found AS MATERIALIZED (
    SELECT a.id, a.at
    FROM audit.audit a
    WHERE a.account_id = ANY (audit_shown(:account, :is_operator))
      AND a.at >= coalesce(:since::timestamptz, '-infinity')
      AND a.at < coalesce(:until::timestamptz, 'infinity')
      AND (:action::text IS NULL OR starts_with(a.action, :action))
      AND (:person::text IS NULL OR a.actor ->> 'person_id' = :person)
      AND (:target::text IS NULL OR a.target ->> 'id' = :target)
)
SELECT (SELECT coalesce(jsonb_agg(audit_json(a) ORDER BY a.at DESC, a.id DESC), '[]')
        FROM (SELECT f.id, f.at FROM found f ORDER BY f.at DESC, f.id DESC LIMIT :limit OFFSET :offset) page
        JOIN audit.audit a ON a.id = page.id AND a.at = page.at),
       (SELECT count(*) FROM found) AS total;

-- name: log_count(account, is_operator, since, until, action, person, target) (read)
-- The parameters are as of log_list.
SELECT count(*)
FROM audit.audit a
WHERE a.account_id = ANY (audit_shown(:account, :is_operator))
  AND a.at >= coalesce(:since::timestamptz, '-infinity')
  AND a.at < coalesce(:until::timestamptz, 'infinity')
  AND (:action::text IS NULL OR starts_with(a.action, :action))
  AND (:person::text IS NULL OR a.actor ->> 'person_id' = :person)
  AND (:target::text IS NULL OR a.target ->> 'id' = :target);

-- name: log_export(account, is_operator, since, until, action, person, target, after_at, after_id, limit) (read)
-- The parameters up to :target are as of log_list. :after_at and :after_id are time and id of the entry behind which it goes on
-- (NULL: from the newest). Returns a line for each entry, and time and id of the last. NULL: there are no more.
WITH page AS MATERIALIZED (
    SELECT a.id, a.at, audit_json(a) AS json
    FROM audit.audit a
    WHERE a.account_id = ANY (audit_shown(:account, :is_operator))
      AND a.at >= coalesce(:since::timestamptz, '-infinity')
      AND a.at < coalesce(:until::timestamptz, 'infinity')
      AND (:action::text IS NULL OR starts_with(a.action, :action))
      AND (:person::text IS NULL OR a.actor ->> 'person_id' = :person)
      AND (:target::text IS NULL OR a.target ->> 'id' = :target)
      AND a.at <= coalesce(:after_at::timestamptz, 'infinity')
      AND (a.at, a.id) < (coalesce(:after_at::timestamptz, 'infinity'),
                          coalesce(:after_id::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    ORDER BY a.at DESC, a.id DESC
    LIMIT :limit
)
SELECT string_agg(json::text || E'\n', '' ORDER BY at DESC, id DESC) AS lines,
       (SELECT p.at::text FROM page p ORDER BY p.at, p.id LIMIT 1) AS last_at,
       (SELECT p.id FROM page p ORDER BY p.at, p.id LIMIT 1) AS last_id
FROM page;

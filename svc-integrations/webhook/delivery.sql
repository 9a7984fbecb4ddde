-- name: delivery_take(delivery, secret, event, action, repository, installation, body, ignored, events, is_installation_changed,
--   changed_repositories, repositories, web_url)
-- An :installation of 0: none. :ignored: why it is ignored, or NULL. :repositories: what it says of names. :web_url: address of
-- the code host's pages.
SELECT status, reason, is_new
FROM delivery_take(:delivery, :secret::int, :event, :action, :repository, nullif(:installation::bigint, 0), :body,
                   :ignored, :events, :is_installation_changed, :changed_repositories, :repositories, :web_url);

-- name: delivery_days_keep(days)
SELECT webhook_days_keep(:days::int);

-- name: delivery_list(status, repository, limit) (read)
-- Returns the newest first. A :status or :repository of NULL: any. The case of the :repository does not matter.
SELECT delivery_json(d) FROM delivery d
WHERE (:status::text IS NULL OR d.status = :status)
  AND (:repository::text IS NULL OR lower(d.repo) = lower(:repository))
ORDER BY d.received_at DESC LIMIT :limit;

-- name: delivery_get(delivery) (read)
-- Returns its row with its events, their times of sending as far as they are known, and its body.
SELECT jsonb_pretty(delivery_json(d) || jsonb_build_object('events', coalesce((
           SELECT jsonb_agg(jsonb_build_object('id', e.id, 'first_said_by', f.delivery_id, 'sent_at', time_json(o.sent_at)))
           FROM unnest(d.events) AS e (id)
           LEFT JOIN fact f ON f.id = e.id
           LEFT JOIN outbox o ON o.event_id = e.id), '[]'))) AS json,
       d.event, d.body
FROM delivery_seen s
JOIN delivery d ON d.received_on = s.received_on AND d.id = s.id
WHERE s.id = :delivery;

-- name: delivery_replay(delivery, action, repository, installation, ignored, events, is_installation_changed,
--   changed_repositories, repositories, web_url)
-- As delivery_take, of a delivery that was taken.
SELECT sent FROM delivery_replay(:delivery, :action, :repository, nullif(:installation::bigint, 0), :ignored, :events,
                                 :is_installation_changed, :changed_repositories, :repositories, :web_url);

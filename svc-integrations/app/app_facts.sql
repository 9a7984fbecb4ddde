-- name: app_facts_get(app_id, believed_s) (read)
-- An answer of the code host is believed for :believed_s.
SELECT slug, html_url, owner_login, permissions, events FROM app_facts
WHERE app_id = :app_id AND told_at > now() - make_interval(secs => :believed_s::float8);

-- name: app_facts_store(app_id, slug, html_url, owner_login, permissions, events)
INSERT INTO app_facts (app_id, slug, html_url, owner_login, permissions, events)
VALUES (:app_id, :slug, :html_url, :owner_login, :permissions, :events)
ON CONFLICT (is_only) DO UPDATE SET app_id = excluded.app_id, slug = excluded.slug, html_url = excluded.html_url,
    owner_login = excluded.owner_login, permissions = excluded.permissions, events = excluded.events, told_at = now()
RETURNING slug, html_url, owner_login, permissions, events;

-- name: app_facts_get (read)
-- $1 id of the app, $2 for how many seconds an answer of the code host is believed.
SELECT slug, html_url, owner_login, permissions, events FROM app_facts
WHERE app_id = $1 AND told_at > now() - make_interval(secs => $2::float8);

-- name: app_facts_store
-- $1 id of the app, $2 slug, $3 address of its page, $4 owner, $5 permissions, $6 events.
INSERT INTO app_facts (app_id, slug, html_url, owner_login, permissions, events) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (is_only) DO UPDATE SET app_id = excluded.app_id, slug = excluded.slug, html_url = excluded.html_url,
    owner_login = excluded.owner_login, permissions = excluded.permissions, events = excluded.events, told_at = now()
RETURNING slug, html_url, owner_login, permissions, events;

-- name: registration_get (read)
SELECT app_id, client_id, slug, html_url, owner_login, is_webhook_active, secrets FROM app;

-- name: registration_store(app_id, client_id, slug, html_url, owner_login, is_webhook_active, secrets, replaces,
--   ends_connections)
-- The :secrets are sealed. :replaces: an app that is there is replaced. No row: one is there, and stays.
WITH stored AS (
    INSERT INTO app (app_id, client_id, slug, html_url, owner_login, is_webhook_active, secrets)
    VALUES (:app_id, :client_id, :slug, :html_url, :owner_login, :is_webhook_active, :secrets)
    ON CONFLICT (is_only) DO UPDATE SET app_id = excluded.app_id, client_id = excluded.client_id, slug = excluded.slug,
        html_url = excluded.html_url, owner_login = excluded.owner_login, is_webhook_active = excluded.is_webhook_active,
        secrets = excluded.secrets, created_at = now() WHERE :replaces
    RETURNING app_id
)
SELECT app_changed(:ends_connections) FROM stored;

-- name: registration_delete(ends_connections)
-- No row: there was none.
WITH gone AS (
    DELETE FROM app RETURNING app_id
)
SELECT app_changed(:ends_connections) FROM gone;

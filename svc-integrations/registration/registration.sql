-- name: registration_get (read)
SELECT app_id, client_id, slug, html_url, owner_login, is_webhook_active, secrets FROM app;

-- name: registration_store
-- $1 id of the app, $2 of its client, $3 slug, $4 address of its page, $5 owner, $6 whether its webhook is active, $7 sealed secrets, $8
-- whether an app that is there is replaced, $9 whether connections end. No row: one is there.
WITH stored AS (
    INSERT INTO app (app_id, client_id, slug, html_url, owner_login, is_webhook_active, secrets) VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (is_only) DO UPDATE SET app_id = excluded.app_id, client_id = excluded.client_id, slug = excluded.slug,
        html_url = excluded.html_url, owner_login = excluded.owner_login, is_webhook_active = excluded.is_webhook_active,
        secrets = excluded.secrets, created_at = now() WHERE $8
    RETURNING app_id
)
SELECT app_changed($9) FROM stored;

-- name: registration_delete
-- $1 whether connections end. No row: there was none.
WITH gone AS (
    DELETE FROM app RETURNING app_id
)
SELECT app_changed($1) FROM gone;

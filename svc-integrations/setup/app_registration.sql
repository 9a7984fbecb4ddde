-- name: app_last_delivery (read)
-- When the code host's last delivery came; null: none is kept.
SELECT time_json(max(received_at)) FROM delivery;

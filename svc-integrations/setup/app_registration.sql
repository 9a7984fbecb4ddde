-- name: app_last_delivery (read)
-- Returns when the code host's last delivery came. NULL: none is kept.
SELECT time_json(max(received_at)) FROM delivery;

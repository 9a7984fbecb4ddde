-- name: expiry_tell
SELECT api_keys_expiring_tell();

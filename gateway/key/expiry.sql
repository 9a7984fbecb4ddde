-- name: expiry_announce
SELECT api_keys_expiring_announce();

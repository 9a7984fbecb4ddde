-- name: confirm_key
-- The key of confirmations; $1 becomes it if there is none.
INSERT INTO mcp_confirm_key (key) VALUES ($1) ON CONFLICT (is_only) DO UPDATE SET is_only = true
RETURNING key;

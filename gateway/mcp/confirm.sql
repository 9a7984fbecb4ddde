-- name: confirm_key
-- The key of confirmations; $1 becomes it if there is none.
INSERT INTO mcp_confirm_key (key) VALUES ($1) ON CONFLICT (is_only) DO UPDATE SET is_only = true
RETURNING key;

-- name: confirm_asked
-- The user is asked about a run, with the hash $1, once more: what they agree to then is another run, of another nonce. A row: the same run
-- was started, or may have been, within 10 minutes, or they were asked within 10 minutes of that.
UPDATE mcp_run_start SET nonce = decode(replace(gen_random_uuid()::text, '-', ''), 'hex'), at = now()
WHERE hash = $1 AND at > now() - interval '10 minutes'
RETURNING true AS is_recent;

-- name: confirm_asked_by_form
-- The same for a question whose answer has a nonce of its own.
SELECT true AS is_recent FROM mcp_run_start WHERE hash = $1 AND at > now() - interval '10 minutes';

-- name: confirm_start
-- The nonce of a run that is started, with the hash $1: that of the same one if it was started within 10 minutes and not $3, else $2. Forgets
-- others that are older.
WITH old AS (
    DELETE FROM mcp_run_start WHERE hash IN (
        SELECT o.hash FROM mcp_run_start o WHERE o.at <= now() - interval '10 minutes' AND o.hash <> $1 LIMIT 20 FOR UPDATE SKIP LOCKED))
INSERT INTO mcp_run_start AS s (hash, nonce) VALUES ($1, $2)
ON CONFLICT (hash) DO UPDATE SET
    nonce = CASE WHEN NOT $3 AND s.at > now() - interval '10 minutes' THEN s.nonce ELSE excluded.nonce END,
    at = CASE WHEN NOT $3 AND s.at > now() - interval '10 minutes' THEN s.at ELSE now() END
RETURNING nonce;

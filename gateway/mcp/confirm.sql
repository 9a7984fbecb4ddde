-- name: confirm_key(fresh_key)
-- Returns the key of confirmations; :fresh_key becomes it if there is none.
INSERT INTO mcp_confirm_key (key)
VALUES (:fresh_key)
ON CONFLICT (is_only) DO UPDATE SET is_only = true
RETURNING key;

-- name: confirm_asked(hash)
-- The user is asked about the run with the hash once more: what they agree to then is another run, of another nonce. A row: the
-- same run was started, or may have been, within 10 minutes, or they were asked within 10 minutes of that.
UPDATE mcp_run_start SET nonce = decode(replace(gen_random_uuid()::text, '-', ''), 'hex'), at = now()
WHERE hash = :hash AND at > now() - interval '10 minutes'
RETURNING true AS is_recent;

-- name: confirm_asked_by_form(hash)
-- The same for a question whose answer has a nonce of its own.
SELECT true AS is_recent
FROM mcp_run_start
WHERE hash = :hash AND at > now() - interval '10 minutes';

-- name: confirm_start(hash, nonce, is_another)
-- Returns the nonce of the run with the hash, which is started: that of the same one if it was started within 10 minutes and this
-- is not :is_another, else :nonce. Forgets others that are older.
WITH old AS (
    DELETE FROM mcp_run_start
    WHERE hash IN (
        SELECT o.hash
        FROM mcp_run_start o
        WHERE o.at <= now() - interval '10 minutes' AND o.hash <> :hash
        LIMIT 20 FOR UPDATE SKIP LOCKED))
INSERT INTO mcp_run_start AS s (hash, nonce)
VALUES (:hash, :nonce)
ON CONFLICT (hash) DO UPDATE SET
    nonce = CASE WHEN NOT :is_another AND s.at > now() - interval '10 minutes' THEN s.nonce ELSE excluded.nonce END,
    at = CASE WHEN NOT :is_another AND s.at > now() - interval '10 minutes' THEN s.at ELSE now() END
RETURNING nonce;

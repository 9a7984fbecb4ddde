-- A connection as the API shows it: nothing of its tokens.
CREATE OR REPLACE FUNCTION connection_json(c connection) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', c.id, 'provider', c.provider, 'status', c.status, 'status_reason', c.status_reason,
        'external_account', CASE WHEN c.external_id IS NOT NULL THEN jsonb_build_object(
            'id', c.external_id, 'login', c.external_login, 'email', c.external_email) END,
        'scopes', to_jsonb(c.scopes), 'base_url', c.base_url,
        'connected_at', time_json(c.connected_at), 'expires_at', time_json(c.token_expires_at),
        'last_refreshed_at', time_json(c.last_refreshed_at))
$$;

-- Remove connections and start a task that revokes the tokens of each. The tasks belong to no account: they outlive it.
CREATE OR REPLACE FUNCTION connection_remove(account uuid, only_provider text DEFAULT NULL) RETURNS bigint LANGUAGE sql VOLATILE
BEGIN ATOMIC
    WITH removed AS (
        DELETE FROM connection WHERE account_id = $1 AND ($2 IS NULL OR provider = $2)
        RETURNING id, account_id, provider, external_id, sealed
    ), noted AS (
        INSERT INTO revocation (id, account_id, provider, external_id, sealed) SELECT * FROM removed RETURNING id
    ), started AS (
        SELECT task_start('revoke', NULL, jsonb_build_object('connection_id', id)) FROM noted
    )
    SELECT count(*) FROM started;
END;

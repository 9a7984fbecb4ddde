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

-- As connection_remove(), of the tokens that a connection had before its account connected again. Not those of the same user of the code
-- host: it may end what was granted to the new ones with them.
CREATE OR REPLACE FUNCTION connection_replaced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO revocation (id, account_id, provider, external_id, sealed)
    VALUES (OLD.id, OLD.account_id, OLD.provider, OLD.external_id, OLD.sealed);
    PERFORM task_start('revoke', NULL, jsonb_build_object('connection_id', OLD.id));
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER connection_replaced AFTER UPDATE OF id ON connection FOR EACH ROW
    WHEN (OLD.external_id IS NOT NULL AND (NEW.provider <> 'code_host' OR NEW.external_id IS DISTINCT FROM OLD.external_id))
    EXECUTE FUNCTION connection_replaced();

-- End the refresh of a fence without a token, for a reason. The next one may try, unless the connection is expired: the provider has
-- refused the token, in the form of RFC 6749 or for an hour in another (`is_unclear`). Of the latter, one in ten minutes counts, since what
-- stands in front of a provider that is away for some minutes answers so to each request; three that count in a row are needed.
CREATE OR REPLACE FUNCTION refresh_give_up(connection uuid, fence bigint, reason text, is_refused boolean, is_unclear boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    c connection;
BEGIN
    SELECT * INTO c FROM connection k WHERE k.id = connection AND k.refresh_fence = fence FOR NO KEY UPDATE;
    IF NOT is_unclear THEN
        c.refusals := 0;
    ELSIF c.refusals = 0 OR c.refused_at IS NULL THEN
        c.refusals := 1;
        c.refused_since := now();
        c.refused_at := now();
    ELSIF c.refused_at <= now() - interval '10 minutes' THEN
        c.refusals := c.refusals + 1;
        c.refused_at := now();
    END IF;
    IF is_refused OR c.refusals >= 3 AND c.refused_since <= now() - interval '1 hour' THEN
        c.status := 'expired';
        c.status_reason := reason;
    END IF;
    UPDATE connection k SET refresh_until = NULL, refresh_fault = reason, refusals = c.refusals, refused_since = c.refused_since,
        refused_at = c.refused_at, status = c.status, status_reason = c.status_reason
    WHERE k.id = c.id;
END $$;

-- Connections of accounts to outside services, at most one for each provider.
--
--   status             active; expired: the tokens work no more, and status_reason says why
--   external_*         whose the tokens are at the provider; null for an API key
--   sealed             JSON {"access_token", "refresh_token"} or {"api_key"}, sealed for this row (connection/credentials.h)
--   base_url           of the provider `custom`
--   token_expires_at   of the access token; null: never, or unknown
--   refresh_fence      rises with each refresh that begins: an answer is stored only under the fence it was asked with
--   refresh_until      until then the refresh of that fence runs, and no other begins; null: none runs
--   refresh_fault      why the last refresh that ended gave no token; null: it did
CREATE TABLE connection (
    id                uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id        uuid NOT NULL,
    provider          text NOT NULL CHECK (octet_length(provider) <= 64),
    status            text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'expired')),
    status_reason     text,
    external_id       text,
    external_login    text,
    external_email    text,
    scopes            text[] NOT NULL DEFAULT '{}',
    sealed            bytea NOT NULL,
    token_type        text,
    base_url          text,
    token_expires_at  timestamptz,
    connected_at      timestamptz NOT NULL DEFAULT now(),
    last_refreshed_at timestamptz,
    refresh_fence     bigint NOT NULL DEFAULT 0,
    refresh_until     timestamptz,
    refresh_fault     text,
    UNIQUE (account_id, provider)
);

CREATE TRIGGER account_required BEFORE INSERT ON connection FOR EACH ROW EXECUTE FUNCTION account_required();

-- A connection as the API shows it: nothing of its tokens.
CREATE FUNCTION connection_json(c connection) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', c.id, 'provider', c.provider, 'status', c.status, 'status_reason', c.status_reason,
        'external_account', CASE WHEN c.external_id IS NOT NULL THEN jsonb_build_object(
            'id', c.external_id, 'login', c.external_login, 'email', c.external_email) END,
        'scopes', to_jsonb(c.scopes), 'base_url', c.base_url,
        'connected_at', time_json(c.connected_at), 'expires_at', time_json(c.token_expires_at),
        'last_refreshed_at', time_json(c.last_refreshed_at))
$$;

-- Attempts to connect that wait for their callback. The state itself is not stored, only its SHA-256; the PKCE verifier is
-- sealed for this row. A row is deleted by the callback that uses it.
CREATE TABLE authorization_attempt (
    state_hash   bytea PRIMARY KEY,
    account_id   uuid NOT NULL,
    provider     text NOT NULL,
    redirect_uri text NOT NULL,
    verifier     bytea NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at   timestamptz NOT NULL
);

CREATE INDEX authorization_attempt_newest ON authorization_attempt (account_id, provider, created_at DESC);
CREATE INDEX authorization_attempt_expired ON authorization_attempt (expires_at);
CREATE TRIGGER account_required BEFORE INSERT ON authorization_attempt
    FOR EACH ROW EXECUTE FUNCTION account_required();

-- Tokens to revoke at their provider, of connections that were removed. `id`, `account_id` and `provider` are the
-- connection's, since `sealed` is bound to them.
CREATE TABLE revocation (
    id          uuid PRIMARY KEY,
    account_id  uuid NOT NULL,
    provider    text NOT NULL,
    external_id text,
    sealed      bytea NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX connection_of_user ON connection (provider, external_id);
CREATE INDEX revocation_created ON revocation (created_at);

-- Remove connections and start a task that revokes the tokens of each. The tasks belong to no account: they outlive it.
CREATE FUNCTION connection_remove(account uuid, only_provider text DEFAULT NULL) RETURNS bigint LANGUAGE sql VOLATILE
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

-- API keys. Of a key only its SHA-256 is kept, and its first characters to show.
CREATE TABLE api_key (
    id           uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id   uuid NOT NULL REFERENCES account ON DELETE CASCADE,
    name         text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    kind         text NOT NULL CHECK (kind IN ('personal', 'automation')),
    prefix       text NOT NULL,
    hash         bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
    scopes       text[] NOT NULL,
    repo         text CHECK (repo IS NULL OR kind = 'automation'),
    interest_id  uuid CHECK (interest_id IS NULL OR kind = 'automation'),
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz,
    expires_at   timestamptz CHECK (expires_at IS NOT NULL OR kind = 'personal'),
    revoked_at   timestamptz,
    deleted_at   timestamptz -- kept, so that a second DELETE answers as the first did
);

CREATE INDEX api_key_account ON api_key (account_id, id DESC);

-- A key as the API shows it.
CREATE FUNCTION api_key_json(k api_key) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', k.id, 'name', k.name, 'kind', k.kind, 'prefix', k.prefix,
        'scopes', to_jsonb(k.scopes), 'repo', k.repo, 'interest_id', k.interest_id,
        'created_at', time_json(k.created_at),
        'last_used_at', time_json(k.last_used_at), 'expires_at', time_json(k.expires_at),
        'revoked_at', time_json(k.revoked_at),
        'status', CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked'
                       WHEN k.expires_at <= now() THEN 'expired'
                       ELSE 'active' END)
$$;

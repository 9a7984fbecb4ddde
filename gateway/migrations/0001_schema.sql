-- replaces: 0004_provisioned_key and 0001_account 0002_key 0003_key_rules 0005_scopes_of_maker
--
-- Accounts and their keys.

-- An account is one user; its id is the user_id of the whole cluster.
CREATE TABLE account (
    id          uuid PRIMARY KEY DEFAULT uuid_v7(),
    email       text NOT NULL,
    is_operator boolean NOT NULL DEFAULT false, -- may hold service:any_user and assets:write
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX account_email ON account (lower(email));

-- First answers go with their account: none is kept for one that is deleted, not even by a request under way.
ALTER TABLE idempotency ADD CONSTRAINT idempotency_account FOREIGN KEY (account_id) REFERENCES account ON DELETE CASCADE;

-- API keys. Of a key only its SHA-256 is kept, and its first characters to show.
--
--   repo_verified   the account has proved that the repository is its own; a key that is made by hand never has
--   is_provisioned  made by a service for the account, such as that of an agent in a repository
--   purpose         of a provisioned key, named by the service: an account has one valid key for each. Provisioned keys without a
--                   purpose are temporary: they are deleted when they have expired and another is made
--   deleted_at      a deleted key is kept, so that a second DELETE answers as the first did
CREATE TABLE api_key (
    id             uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id     uuid NOT NULL REFERENCES account ON DELETE CASCADE,
    name           text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    kind           text NOT NULL CHECK (kind IN ('personal', 'automation')),
    prefix         text NOT NULL,
    hash           bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
    scopes         text[] NOT NULL,
    repo           text CHECK (repo IS NULL OR kind = 'automation'),
    interest_id    uuid CHECK (interest_id IS NULL OR kind = 'automation'),
    created_at     timestamptz NOT NULL DEFAULT now(),
    last_used_at   timestamptz,
    expires_at     timestamptz CHECK (expires_at IS NOT NULL OR kind = 'personal'),
    revoked_at     timestamptz,
    deleted_at     timestamptz,
    repo_verified  boolean NOT NULL DEFAULT false,
    is_provisioned boolean NOT NULL DEFAULT false,
    purpose        text CHECK (purpose IS NULL OR is_provisioned)
);

CREATE INDEX api_key_account ON api_key (account_id, id DESC);
CREATE UNIQUE INDEX api_key_purpose ON api_key (account_id, purpose) WHERE purpose IS NOT NULL AND revoked_at IS NULL;
CREATE INDEX api_key_temporary ON api_key (account_id) WHERE is_provisioned AND purpose IS NULL AND deleted_at IS NULL;

-- Sessions of browsers. Of the cookie only its SHA-256 is kept. A session is valid as long as its key is, for 12 hours after it was
-- last seen, and at most until it expires.
--
--   scopes  those that the key had at the log-in; the session has what the key still has of them
CREATE TABLE session (
    id           uuid PRIMARY KEY DEFAULT uuid_v7(),
    hash         bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
    account_id   uuid NOT NULL REFERENCES account ON DELETE CASCADE,
    person_id    uuid,
    key_id       uuid NOT NULL REFERENCES api_key ON DELETE CASCADE,
    scopes       text[] NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL,
    ip           text,
    user_agent   text
);

CREATE INDEX session_account ON session (account_id, id DESC);
CREATE INDEX session_key ON session (key_id);

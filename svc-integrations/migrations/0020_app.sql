-- The app at the code host that was registered by POST /github/app/created. One row, or none. Settings win over it.
--
--   is_webhook_active  the code host was told where to send deliveries
--   secrets            {"key", "client_secret", "webhook_secret"}, sealed for `app APP_ID`
CREATE TABLE app (
    is_only           boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    app_id            text NOT NULL,
    client_id         text NOT NULL,
    slug              text NOT NULL,
    html_url          text NOT NULL,
    owner_login       text NOT NULL,
    is_webhook_active boolean NOT NULL,
    secrets           bytea NOT NULL,
    created_at        timestamptz NOT NULL DEFAULT now()
);

-- What the code host has last told of the app, that of the settings or the registered one. One row, which counts for a minute.
CREATE TABLE app_facts (
    is_only     boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    app_id      text NOT NULL,
    slug        text NOT NULL,
    html_url    text NOT NULL,
    owner_login text,
    permissions jsonb NOT NULL,
    events      jsonb NOT NULL,
    told_at     timestamptz NOT NULL DEFAULT now()
);

-- States that the code host gives back when it leads a browser to a page of the console. The state itself is not stored, only its
-- SHA-256. A row is deleted by the request that uses it. The account is 0 for the command app-page.
CREATE TABLE landing_state (
    state_hash bytea PRIMARY KEY,
    account_id uuid NOT NULL,
    kind       text NOT NULL CHECK (kind IN ('create', 'replace', 'install')),
    expires_at timestamptz NOT NULL
);

CREATE INDEX landing_state_expired ON landing_state (expires_at);
CREATE INDEX landing_state_account ON landing_state (account_id);
CREATE TRIGGER account_required BEFORE INSERT ON landing_state FOR EACH ROW EXECUTE FUNCTION account_required();

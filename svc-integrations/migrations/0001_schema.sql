-- replaces: 0006_installation_lookup and 0001_connection 0002_identity 0003_app 0004_webhook 0005_repository_id 0008_access_event
--
-- Connections of accounts to outside services, identities there, the code host's app, and its webhooks.

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

CREATE INDEX connection_of_user ON connection (provider, external_id);
CREATE TRIGGER account_required BEFORE INSERT ON connection FOR EACH ROW EXECUTE FUNCTION account_required();

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
CREATE TRIGGER account_required BEFORE INSERT ON authorization_attempt FOR EACH ROW EXECUTE FUNCTION account_required();

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

CREATE INDEX revocation_created ON revocation (created_at);

-- Who an account's user is on other platforms. An identity belongs to one account, by its id and by its email.
CREATE TABLE identity_link (
    id             uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id     uuid NOT NULL,
    source         text NOT NULL CHECK (source IN ('code_host', 'tracker_a', 'tracker_b')),
    external_id    text NOT NULL CHECK (octet_length(external_id) BETWEEN 1 AND 1000),
    external_email text CHECK (octet_length(external_email) BETWEEN 1 AND 1280),
    external_login text,
    created_at     timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX identity_link_id ON identity_link (source, external_id);
CREATE UNIQUE INDEX identity_link_email ON identity_link (source, lower(external_email));
CREATE INDEX identity_link_of_account ON identity_link (account_id, id DESC);
CREATE TRIGGER account_required BEFORE INSERT ON identity_link FOR EACH ROW EXECUTE FUNCTION account_required();

-- ---- The app of the code host ----

-- Rate limits of the code host that are reached: `app`, `installation 123`, `user 0197…`. All replicas wait.
CREATE TABLE rate_limit (
    name  text PRIMARY KEY,
    until timestamptz NOT NULL
);

CREATE INDEX rate_limit_until ON rate_limit (until);

-- The installation of the app that covers a repository, as the code host told. `repo` is in lower case, as it was asked for.
-- A renamed repository has its number there, and its name now as soon as that was asked.
CREATE TABLE installation (
    repo            text PRIMARY KEY CHECK (repo = lower(repo) AND octet_length(repo) <= 300),
    installation_id bigint NOT NULL,
    owner_login     text NOT NULL,
    permissions     jsonb NOT NULL,
    repository_id   bigint,
    full_name       text,
    told_at         timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX installation_by_id ON installation (installation_id);

-- Repositories that the app is not installed on, as the code host told. Rows count for a minute.
CREATE TABLE installation_absence (
    repo    text PRIMARY KEY CHECK (repo = lower(repo) AND octet_length(repo) <= 300),
    told_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX installation_absence_told ON installation_absence (told_at);

-- How often the code host was asked for an installation on behalf of an account, in the hour from `began_at` on.
CREATE TABLE installation_lookup (
    account_id uuid PRIMARY KEY,
    began_at   timestamptz NOT NULL DEFAULT now(),
    lookups    int NOT NULL DEFAULT 1
);
CREATE TRIGGER account_skipped BEFORE INSERT ON installation_lookup FOR EACH ROW EXECUTE FUNCTION account_skipped();

-- Repositories that the user of a code-host connection can push to, as the code host told.
--
--   repository_id  the code host's number; null: not known, and the code host is asked again
CREATE TABLE repository_access (
    account_id    uuid NOT NULL,
    connection_id uuid NOT NULL,
    repo          text NOT NULL CHECK (repo = lower(repo) AND octet_length(repo) <= 300),
    told_at       timestamptz NOT NULL DEFAULT now(),
    repository_id bigint,
    PRIMARY KEY (connection_id, repo)
);

CREATE INDEX repository_access_told ON repository_access (told_at);
CREATE INDEX repository_access_account ON repository_access (account_id);
CREATE TRIGGER account_skipped BEFORE INSERT ON repository_access FOR EACH ROW EXECUTE FUNCTION account_skipped();

-- Locks over all replicas, for work at the code host (repository/replica_lock.h).
CREATE TABLE replica_lock (
    name   text PRIMARY KEY,
    holder uuid NOT NULL,
    until  timestamptz NOT NULL
);

CREATE INDEX replica_lock_until ON replica_lock (until);

-- Workflow runs that were started for a key of the caller's (repository/dispatch.h).
--
--   after_run_id   the newest run of the workflow before it
--   is_answered    the code host has started it; false: that is not known
--   run_id         null: the code host did not tell
CREATE TABLE dispatch (
    account_id    uuid NOT NULL,
    key           text NOT NULL CHECK (octet_length(key) <= 800),
    repo          text NOT NULL,
    workflow      text NOT NULL,
    after_run_id  bigint NOT NULL,
    is_answered   boolean NOT NULL DEFAULT false,
    run_id        bigint,
    html_url      text,
    dispatched_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, key)
);

CREATE INDEX dispatch_of_run ON dispatch (lower(repo), run_id);
CREATE INDEX dispatch_age ON dispatch (dispatched_at);
CREATE TRIGGER account_required BEFORE INSERT ON dispatch FOR EACH ROW EXECUTE FUNCTION account_required();

-- ---- Webhooks ----

-- The ledger of the code host's deliveries: one row for each, by the day (UTC) on which it was first received.
--
--   secret        which of CODE_HOST_WEBHOOK_SECRETS signed it, from 1: shows that a former one is still in use
--   action        NULL, as repo and installation: it has none, or it was not read
--   status        `applied`: it made events, or changed what is remembered of installations; `ignored`: it did not
--   reason        why it was ignored
--   events        ids of the events that it says, also of those that another delivery has made before
--   replayed_at   when an operator has last applied it again
--   body          JSON, as it was sent
--
-- Days are added ahead (webhook_days_keep()), and by an insert that finds none (webhook_day()).
CREATE TABLE delivery (
    received_on     date NOT NULL,
    id              text NOT NULL CHECK (octet_length(id) BETWEEN 1 AND 100),
    received_at     timestamptz NOT NULL DEFAULT now(),
    secret          smallint NOT NULL,
    event           text NOT NULL,
    action          text,
    repo            text,
    installation_id bigint,
    status          text NOT NULL CHECK (status IN ('applied', 'ignored')),
    reason          text CHECK ((reason IS NOT NULL) = (status = 'ignored')),
    events          uuid[] NOT NULL,
    replayed_at     timestamptz,
    body            bytea NOT NULL,
    PRIMARY KEY (received_on, id)
) PARTITION BY RANGE (received_on);

CREATE INDEX delivery_received_at ON delivery (received_at DESC);

-- The deliveries of the ledger, and how often each was received: a key cannot span days.
CREATE TABLE delivery_seen (
    id          text PRIMARY KEY CHECK (octet_length(id) BETWEEN 1 AND 100),
    received_on date NOT NULL,
    times       int NOT NULL DEFAULT 1
);

CREATE INDEX delivery_seen_on ON delivery_seen (received_on);

-- The facts that were told, by the id of their event, and the delivery that told each first.
CREATE TABLE fact (
    id          uuid PRIMARY KEY,
    delivery_id text NOT NULL,
    told_on     date NOT NULL
);

CREATE INDEX fact_told_on ON fact (told_on);

-- Deliveries that the code host could not make, and that it is asked to make again.
--
--   attempt_id    the code host's number of the failed attempt
--   delivered_at  when it was made
--   asked         how often the code host was asked
--   ask_at        not before
CREATE TABLE redelivery (
    delivery_id  text PRIMARY KEY CHECK (octet_length(delivery_id) BETWEEN 1 AND 100),
    attempt_id   bigint NOT NULL,
    delivered_at timestamptz NOT NULL,
    asked        int NOT NULL DEFAULT 0,
    ask_at       timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX redelivery_ask_at ON redelivery (ask_at);

-- How far the code host's list of deliveries has been read. One row.
--
--   due_at      when the list is read next. Who moves it has the time until then for itself
--   read_until  what was delivered before has been read
--   cursor      where reading goes on, when it was interrupted; NULL: at the newest
--   began_at    the newest when the interrupted reading began
CREATE TABLE redelivery_state (
    is_only    boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    due_at     timestamptz NOT NULL DEFAULT 'epoch',
    read_until timestamptz NOT NULL DEFAULT 'epoch',
    cursor     text,
    began_at   timestamptz
);

INSERT INTO redelivery_state DEFAULT VALUES;

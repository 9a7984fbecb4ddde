-- The tables of the schema integrations, as pg_dump shows them. Written by deploy/dev schema; do not edit.

CREATE TABLE endpoint (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    url text,
    secret bytea,
    secret_hint text,
    old_secret bytea,
    old_secret_expires_at timestamp with time zone,
    events text[] NOT NULL,
    repos text[],
    interest_ids uuid[],
    status text DEFAULT 'active'::text NOT NULL,
    disabled_reason text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    not_before timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    failing_since timestamp with time zone,
    consecutive_failures integer DEFAULT 0 NOT NULL,
    last_success_at timestamp with time zone,
    is_quick boolean DEFAULT false NOT NULL,
    catch_up_to uuid,
    dropped bigint DEFAULT 0 NOT NULL,
    email text,
    unsubscribe_hash bytea,
    refused_days integer,
    refused_on date,
    slow_at timestamp with time zone,
    key_id uuid,
    person_id uuid,
    CONSTRAINT endpoint_check CHECK (((disabled_reason IS NOT NULL) = (status = 'disabled'::text))),
    CONSTRAINT endpoint_email CHECK (((kind = 'email'::text) = ((email IS NOT NULL) AND (unsubscribe_hash IS NOT NULL)))),
    CONSTRAINT endpoint_events_check CHECK ((cardinality(events) > 0)),
    CONSTRAINT endpoint_kind_check CHECK ((kind = ANY (ARRAY['webhook'::text, 'slack'::text, 'email'::text]))),
    CONSTRAINT endpoint_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'disabled'::text, 'unconfirmed'::text])))
)
WITH (fillfactor='50');
ALTER TABLE ONLY endpoint
    ADD CONSTRAINT endpoint_pkey PRIMARY KEY (id);
ALTER TABLE ONLY endpoint
    ADD CONSTRAINT endpoint_unsubscribe_hash_key UNIQUE (unsubscribe_hash);
CREATE INDEX endpoint_of_account ON endpoint USING btree (account_id, id);
CREATE TRIGGER account_required BEFORE INSERT ON endpoint FOR EACH ROW EXECUTE FUNCTION account_required();
CREATE TRIGGER webhook_created_audit AFTER INSERT ON endpoint FOR EACH ROW EXECUTE FUNCTION audit_row('webhook.created', 'webhook', 'id', 'name', 'kind events repos interest_ids !url !email');
CREATE TRIGGER webhook_deleted_audit AFTER DELETE ON endpoint FOR EACH ROW EXECUTE FUNCTION audit_row('webhook.deleted', 'webhook', 'id', 'name', '');
CREATE TRIGGER webhook_secret_rotated_audit AFTER UPDATE OF secret_hint ON endpoint FOR EACH ROW WHEN (((new.kind = 'webhook'::text) AND (new.secret_hint IS DISTINCT FROM old.secret_hint))) EXECUTE FUNCTION audit_row('webhook.secret_rotated', 'webhook', 'id', 'name', '');
CREATE TRIGGER webhook_updated_audit AFTER UPDATE OF name, events, repos, interest_ids, status, url, email ON endpoint FOR EACH ROW EXECUTE FUNCTION audit_row('webhook.updated', 'webhook', 'id', 'name', 'name events repos interest_ids status !url !email');

CREATE TABLE connection (
    id uuid DEFAULT uuid_v7() NOT NULL,
    account_id uuid NOT NULL,
    provider text NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    status_reason text,
    external_id text,
    external_login text,
    external_email text,
    scopes text[] DEFAULT '{}'::text[] NOT NULL,
    sealed bytea NOT NULL,
    token_type text,
    base_url text,
    token_expires_at timestamp with time zone,
    connected_at timestamp with time zone DEFAULT now() NOT NULL,
    last_refreshed_at timestamp with time zone,
    refresh_fence bigint DEFAULT 0 NOT NULL,
    refresh_until timestamp with time zone,
    refresh_fault text,
    refusals integer DEFAULT 0 NOT NULL,
    external_email_verified boolean DEFAULT false NOT NULL,
    key_id uuid,
    person_id uuid,
    refused_since timestamp with time zone,
    refused_at timestamp with time zone,
    unaccepted integer DEFAULT 0 NOT NULL,
    unaccepted_at timestamp with time zone,
    CONSTRAINT connection_provider_check CHECK ((octet_length(provider) <= 64)),
    CONSTRAINT connection_status_check CHECK ((status = ANY (ARRAY['active'::text, 'expired'::text])))
);
ALTER TABLE ONLY connection
    ADD CONSTRAINT connection_account_id_provider_key UNIQUE (account_id, provider);
ALTER TABLE ONLY connection
    ADD CONSTRAINT connection_pkey PRIMARY KEY (id);
CREATE INDEX connection_of_email ON connection USING btree (provider, lower(external_email)) WHERE external_email_verified;
CREATE INDEX connection_of_user ON connection USING btree (provider, external_id);
CREATE TRIGGER account_required BEFORE INSERT ON connection FOR EACH ROW EXECUTE FUNCTION account_required();
CREATE TRIGGER connection_connected_audit AFTER INSERT OR UPDATE OF id ON connection FOR EACH ROW WHEN ((new.external_id IS NOT NULL)) EXECUTE FUNCTION audit_row('connection.connected', 'connection', 'id', 'provider', 'connected_at external_login scopes');
CREATE TRIGGER connection_disconnected_audit AFTER DELETE ON connection FOR EACH ROW EXECUTE FUNCTION audit_row('connection.disconnected', 'connection', 'id', 'provider', '');
CREATE TRIGGER connection_proves AFTER INSERT OR DELETE ON connection FOR EACH ROW EXECUTE FUNCTION connection_proves();
CREATE TRIGGER connection_proves_anew AFTER UPDATE ON connection FOR EACH ROW WHEN (((((old.status IS DISTINCT FROM new.status) OR (old.external_id IS DISTINCT FROM new.external_id)) OR (old.external_email IS DISTINCT FROM new.external_email)) OR (old.external_email_verified IS DISTINCT FROM new.external_email_verified))) EXECUTE FUNCTION connection_proves();
CREATE TRIGGER connection_replaced AFTER UPDATE OF id ON connection FOR EACH ROW WHEN (((old.external_id IS NOT NULL) AND ((new.provider <> 'code_host'::text) OR (new.external_id IS DISTINCT FROM old.external_id)))) EXECUTE FUNCTION connection_replaced();
CREATE TRIGGER model_key_connected_audit AFTER INSERT OR UPDATE OF id ON connection FOR EACH ROW WHEN ((new.external_id IS NULL)) EXECUTE FUNCTION audit_row('model_key.connected', 'connection', 'id', 'provider', 'connected_at base_url');

CREATE TABLE revocation (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    provider text NOT NULL,
    external_id text,
    sealed bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY revocation
    ADD CONSTRAINT revocation_pkey PRIMARY KEY (id);
CREATE INDEX revocation_created ON revocation USING btree (created_at);

CREATE TABLE delivery (
    received_on date NOT NULL,
    id text NOT NULL,
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    secret smallint NOT NULL,
    event text NOT NULL,
    action text,
    repo text,
    installation_id bigint,
    status text NOT NULL,
    reason text,
    events uuid[] NOT NULL,
    replayed_at timestamp with time zone,
    body bytea NOT NULL,
    CONSTRAINT delivery_check CHECK (((reason IS NOT NULL) = (status = 'ignored'::text))),
    CONSTRAINT delivery_id_check CHECK (((octet_length(id) >= 1) AND (octet_length(id) <= 100))),
    CONSTRAINT delivery_status_check CHECK ((status = ANY (ARRAY['applied'::text, 'ignored'::text])))
)
PARTITION BY RANGE (received_on);
ALTER TABLE ONLY delivery
    ADD CONSTRAINT delivery_pkey PRIMARY KEY (received_on, id);
CREATE INDEX delivery_received_at ON ONLY delivery USING btree (received_at DESC);

CREATE TABLE delivery_seen (
    id text NOT NULL,
    received_on date NOT NULL,
    times integer DEFAULT 1 NOT NULL,
    CONSTRAINT delivery_seen_id_check CHECK (((octet_length(id) >= 1) AND (octet_length(id) <= 100)))
);
ALTER TABLE ONLY delivery_seen
    ADD CONSTRAINT delivery_seen_pkey PRIMARY KEY (id);
CREATE INDEX delivery_seen_on ON delivery_seen USING btree (received_on);

CREATE TABLE endpoint_digest (
    endpoint_id uuid NOT NULL,
    hour integer NOT NULL,
    minute integer NOT NULL,
    time_zone text NOT NULL,
    weekdays integer[] NOT NULL,
    interest_ids uuid[],
    "limit" integer NOT NULL,
    min_score double precision NOT NULL,
    skip_empty boolean NOT NULL,
    period text NOT NULL,
    last_date date,
    next_date date,
    next_at timestamp with time zone,
    told_until timestamp with time zone,
    CONSTRAINT endpoint_digest_check CHECK (((next_at IS NULL) = (next_date IS NULL))),
    CONSTRAINT endpoint_digest_hour_check CHECK (((hour >= 0) AND (hour <= 23))),
    CONSTRAINT endpoint_digest_minute_check CHECK (((minute >= 0) AND (minute <= 59))),
    CONSTRAINT endpoint_digest_weekdays_check CHECK (((weekdays <@ '{1,2,3,4,5,6,7}'::integer[]) AND (cardinality(weekdays) > 0)))
);
ALTER TABLE ONLY endpoint_digest
    ADD CONSTRAINT endpoint_digest_pkey PRIMARY KEY (endpoint_id);
CREATE INDEX endpoint_digest_due ON endpoint_digest USING btree (next_at) WHERE (next_at IS NOT NULL);
ALTER TABLE ONLY endpoint_digest
    ADD CONSTRAINT endpoint_digest_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoint(id) ON DELETE CASCADE;

CREATE TABLE email_confirmation (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    email text NOT NULL,
    token bytea NOT NULL,
    hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    sent_at timestamp with time zone,
    error text,
    used_at timestamp with time zone
);
ALTER TABLE ONLY email_confirmation
    ADD CONSTRAINT email_confirmation_hash_key UNIQUE (hash);
ALTER TABLE ONLY email_confirmation
    ADD CONSTRAINT email_confirmation_pkey PRIMARY KEY (id);
CREATE INDEX email_confirmation_of_account ON email_confirmation USING btree (account_id, created_at);
CREATE INDEX email_confirmation_of_endpoint ON email_confirmation USING btree (endpoint_id, created_at DESC);
CREATE TRIGGER account_required BEFORE INSERT ON email_confirmation FOR EACH ROW EXECUTE FUNCTION account_required();

CREATE TABLE identity_link (
    id uuid DEFAULT uuid_v7() NOT NULL,
    account_id uuid NOT NULL,
    source text NOT NULL,
    external_id text NOT NULL,
    external_email text,
    external_login text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    id_verified boolean DEFAULT false NOT NULL,
    email_verified boolean DEFAULT false NOT NULL,
    person_id uuid,
    CONSTRAINT identity_link_external_email_check CHECK (((octet_length(external_email) >= 1) AND (octet_length(external_email) <= 1280))),
    CONSTRAINT identity_link_external_id_check CHECK (((octet_length(external_id) >= 1) AND (octet_length(external_id) <= 1000))),
    CONSTRAINT identity_link_source_check CHECK ((source = ANY (ARRAY['code_host'::text, 'tracker_a'::text, 'tracker_b'::text])))
);
ALTER TABLE ONLY identity_link
    ADD CONSTRAINT identity_link_pkey PRIMARY KEY (id);
CREATE INDEX identity_link_claimed_email ON identity_link USING btree (source, lower(external_email)) WHERE (NOT email_verified);
CREATE INDEX identity_link_claimed_id ON identity_link USING btree (source, external_id) WHERE (NOT id_verified);
CREATE UNIQUE INDEX identity_link_email ON identity_link USING btree (source, lower(external_email)) WHERE email_verified;
CREATE UNIQUE INDEX identity_link_id ON identity_link USING btree (source, external_id) WHERE id_verified;
CREATE INDEX identity_link_of_account ON identity_link USING btree (account_id, id DESC);
CREATE UNIQUE INDEX identity_link_own_email ON identity_link USING btree (account_id, source, lower(external_email));
CREATE UNIQUE INDEX identity_link_own_id ON identity_link USING btree (account_id, source, external_id);
CREATE TRIGGER account_required BEFORE INSERT ON identity_link FOR EACH ROW EXECUTE FUNCTION account_required();

CREATE TABLE delivery_queue (
    delivery_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    day date NOT NULL,
    message_id uuid NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    retry_at timestamp with time zone
);
ALTER TABLE ONLY delivery_queue
    ADD CONSTRAINT delivery_queue_pkey PRIMARY KEY (delivery_id);
CREATE INDEX delivery_queue_first ON delivery_queue USING btree (endpoint_id, delivery_id) WHERE (retry_at IS NULL);
CREATE INDEX delivery_queue_retry ON delivery_queue USING btree (endpoint_id, retry_at, delivery_id) WHERE (retry_at IS NOT NULL);
ALTER TABLE ONLY delivery_queue
    ADD CONSTRAINT delivery_queue_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoint(id) ON DELETE CASCADE;

CREATE TABLE message_delivery (
    day date NOT NULL,
    id uuid DEFAULT uuid_v7() NOT NULL,
    account_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    message_id uuid NOT NULL,
    type text NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    last_status integer,
    last_error text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    delivered_at timestamp with time zone,
    CONSTRAINT message_delivery_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text, 'dropped'::text])))
)
PARTITION BY RANGE (day);
ALTER TABLE ONLY message_delivery
    ADD CONSTRAINT message_delivery_pkey PRIMARY KEY (day, id);
CREATE INDEX message_delivery_newest ON ONLY message_delivery USING btree (account_id, endpoint_id, id DESC);
CREATE INDEX message_delivery_digests ON ONLY message_delivery USING btree (day) WHERE ((type = 'digest.ready'::text) AND (status = 'delivered'::text));

CREATE TABLE fact (
    id uuid NOT NULL,
    delivery_id text NOT NULL,
    told_on date NOT NULL
);
ALTER TABLE ONLY fact
    ADD CONSTRAINT fact_pkey PRIMARY KEY (id);
CREATE INDEX fact_told_on ON fact USING btree (told_on);

CREATE TABLE installation (
    repo text NOT NULL,
    installation_id bigint NOT NULL,
    owner_login text NOT NULL,
    permissions jsonb NOT NULL,
    repository_id bigint,
    full_name text,
    told_at timestamp with time zone DEFAULT now() NOT NULL,
    suspended_at timestamp with time zone,
    CONSTRAINT installation_repo_check CHECK (((repo = lower(repo)) AND (octet_length(repo) <= 300)))
);
ALTER TABLE ONLY installation
    ADD CONSTRAINT installation_pkey PRIMARY KEY (repo);
CREATE INDEX installation_by_id ON installation USING btree (installation_id);

CREATE TABLE installation_absence (
    repo text NOT NULL,
    told_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT installation_absence_repo_check CHECK (((repo = lower(repo)) AND (octet_length(repo) <= 300)))
);
ALTER TABLE ONLY installation_absence
    ADD CONSTRAINT installation_absence_pkey PRIMARY KEY (repo);
CREATE INDEX installation_absence_told ON installation_absence USING btree (told_at);

CREATE TABLE access_lost (
    account_id uuid NOT NULL,
    repo text NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT access_lost_repo_check CHECK (((repo = lower(repo)) AND (octet_length(repo) <= 300)))
);
ALTER TABLE ONLY access_lost
    ADD CONSTRAINT access_lost_pkey PRIMARY KEY (account_id, repo);
CREATE TRIGGER account_skipped BEFORE INSERT ON access_lost FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE TABLE app (
    is_only boolean DEFAULT true NOT NULL,
    app_id text NOT NULL,
    client_id text NOT NULL,
    slug text NOT NULL,
    html_url text NOT NULL,
    owner_login text NOT NULL,
    is_webhook_active boolean NOT NULL,
    secrets bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT app_is_only_check CHECK (is_only)
);
ALTER TABLE ONLY app
    ADD CONSTRAINT app_pkey PRIMARY KEY (is_only);
CREATE TRIGGER app_created_audit AFTER INSERT ON app FOR EACH ROW EXECUTE FUNCTION audit_row('app.created', 'app', 'app_id', 'slug', 'owner_login');
CREATE TRIGGER app_deleted_audit AFTER DELETE ON app FOR EACH ROW EXECUTE FUNCTION audit_row('app.deleted', 'app', 'app_id', 'slug', '');
CREATE TRIGGER app_replaced_audit AFTER UPDATE OF app_id ON app FOR EACH ROW WHEN ((new.app_id <> old.app_id)) EXECUTE FUNCTION audit_row('app.replaced', 'app', 'app_id', 'slug', 'app_id owner_login');

CREATE TABLE app_facts (
    is_only boolean DEFAULT true NOT NULL,
    app_id text NOT NULL,
    slug text NOT NULL,
    html_url text NOT NULL,
    owner_login text,
    permissions jsonb NOT NULL,
    events jsonb NOT NULL,
    told_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT app_facts_is_only_check CHECK (is_only)
);
ALTER TABLE ONLY app_facts
    ADD CONSTRAINT app_facts_pkey PRIMARY KEY (is_only);

CREATE TABLE authorization_attempt (
    state_hash bytea NOT NULL,
    account_id uuid NOT NULL,
    provider text NOT NULL,
    redirect_uri text NOT NULL,
    verifier bytea NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY authorization_attempt
    ADD CONSTRAINT authorization_attempt_pkey PRIMARY KEY (state_hash);
CREATE INDEX authorization_attempt_expired ON authorization_attempt USING btree (expires_at);
CREATE INDEX authorization_attempt_newest ON authorization_attempt USING btree (account_id, provider, created_at DESC);
CREATE TRIGGER account_required BEFORE INSERT ON authorization_attempt FOR EACH ROW EXECUTE FUNCTION account_required();

CREATE TABLE connection_maker_gone (
    account_id uuid NOT NULL,
    person_id uuid NOT NULL,
    key_ids uuid[] NOT NULL,
    gone_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY connection_maker_gone
    ADD CONSTRAINT connection_maker_gone_pkey PRIMARY KEY (account_id, person_id);
CREATE INDEX connection_maker_gone_at ON connection_maker_gone USING btree (gone_at);
CREATE TRIGGER account_skipped BEFORE INSERT ON connection_maker_gone FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE TABLE dispatch (
    account_id uuid NOT NULL,
    key text NOT NULL,
    repo text NOT NULL,
    workflow text NOT NULL,
    after_run_id bigint NOT NULL,
    is_answered boolean DEFAULT false NOT NULL,
    run_id bigint,
    html_url text,
    dispatched_at timestamp with time zone DEFAULT now() NOT NULL,
    sent_again_at timestamp with time zone,
    CONSTRAINT dispatch_key_check CHECK ((octet_length(key) <= 800))
);
ALTER TABLE ONLY dispatch
    ADD CONSTRAINT dispatch_pkey PRIMARY KEY (account_id, key);
CREATE INDEX dispatch_age ON dispatch USING btree (dispatched_at);
CREATE INDEX dispatch_of_run ON dispatch USING btree (lower(repo), run_id);
CREATE TRIGGER account_required BEFORE INSERT ON dispatch FOR EACH ROW EXECUTE FUNCTION account_required();

CREATE TABLE email_asked (
    email text NOT NULL,
    asked_at timestamp with time zone[] NOT NULL
);
ALTER TABLE ONLY email_asked
    ADD CONSTRAINT email_asked_pkey PRIMARY KEY (email);

CREATE TABLE email_day (
    account_id uuid NOT NULL,
    day date NOT NULL,
    sent integer NOT NULL
);
ALTER TABLE ONLY email_day
    ADD CONSTRAINT email_day_pkey PRIMARY KEY (account_id, day);
CREATE TRIGGER account_required BEFORE INSERT ON email_day FOR EACH ROW EXECUTE FUNCTION account_required();

CREATE TABLE endpoint_lane (
    endpoint_id uuid NOT NULL,
    is_retry boolean NOT NULL,
    due_at timestamp with time zone,
    is_claimed boolean DEFAULT false NOT NULL,
    claim bigint DEFAULT 0 NOT NULL,
    is_quick boolean DEFAULT false NOT NULL,
    is_mail boolean DEFAULT false NOT NULL,
    queue text GENERATED ALWAYS AS (
CASE
    WHEN is_mail THEN 'mail'::text
    WHEN is_quick THEN 'quick'::text
    ELSE 'slow'::text
END) STORED NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE ONLY endpoint_lane
    ADD CONSTRAINT endpoint_lane_pkey PRIMARY KEY (endpoint_id, is_retry);
CREATE INDEX endpoint_lane_queue_due ON endpoint_lane USING btree (queue, due_at) WHERE (due_at IS NOT NULL);
ALTER TABLE ONLY endpoint_lane
    ADD CONSTRAINT endpoint_lane_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoint(id) ON DELETE CASCADE;

CREATE TABLE identity_order (
);

CREATE TABLE installation_lookup (
    account_id uuid NOT NULL,
    began_at timestamp with time zone DEFAULT now() NOT NULL,
    lookups integer DEFAULT 1 NOT NULL,
    tokens integer DEFAULT 0 NOT NULL,
    lists integer DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY installation_lookup
    ADD CONSTRAINT installation_lookup_pkey PRIMARY KEY (account_id);
CREATE TRIGGER account_skipped BEFORE INSERT ON installation_lookup FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE TABLE landing_state (
    state_hash bytea NOT NULL,
    account_id uuid NOT NULL,
    kind text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT landing_state_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'replace'::text, 'install'::text])))
);
ALTER TABLE ONLY landing_state
    ADD CONSTRAINT landing_state_pkey PRIMARY KEY (state_hash);
CREATE INDEX landing_state_account ON landing_state USING btree (account_id);
CREATE INDEX landing_state_expired ON landing_state USING btree (expires_at);
CREATE TRIGGER account_required BEFORE INSERT ON landing_state FOR EACH ROW EXECUTE FUNCTION account_required();

CREATE TABLE message (
    day date NOT NULL,
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    type text NOT NULL,
    at timestamp with time zone NOT NULL,
    body text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT message_body_check CHECK ((octet_length(body) <= 20480))
)
PARTITION BY RANGE (day);
ALTER TABLE ONLY message
    ADD CONSTRAINT message_pkey PRIMARY KEY (day, id);
CREATE INDEX message_of_account ON ONLY message USING btree (account_id);

CREATE TABLE message_attempt (
    day date NOT NULL,
    delivery_id uuid NOT NULL,
    attempt integer NOT NULL,
    at timestamp with time zone NOT NULL,
    status integer,
    duration_ms integer NOT NULL,
    error text,
    response text
)
PARTITION BY RANGE (day);
ALTER TABLE ONLY message_attempt
    ADD CONSTRAINT message_attempt_pkey PRIMARY KEY (day, delivery_id, attempt);

CREATE TABLE rate_limit (
    name text NOT NULL,
    until timestamp with time zone NOT NULL
);
ALTER TABLE ONLY rate_limit
    ADD CONSTRAINT rate_limit_pkey PRIMARY KEY (name);
CREATE INDEX rate_limit_until ON rate_limit USING btree (until);

CREATE TABLE redelivery (
    delivery_id text NOT NULL,
    attempt_id bigint NOT NULL,
    delivered_at timestamp with time zone NOT NULL,
    asked integer DEFAULT 0 NOT NULL,
    ask_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT redelivery_delivery_id_check CHECK (((octet_length(delivery_id) >= 1) AND (octet_length(delivery_id) <= 100)))
);
ALTER TABLE ONLY redelivery
    ADD CONSTRAINT redelivery_pkey PRIMARY KEY (delivery_id);
CREATE INDEX redelivery_ask_at ON redelivery USING btree (ask_at);

CREATE TABLE redelivery_state (
    is_only boolean DEFAULT true NOT NULL,
    due_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    read_until timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    cursor text,
    began_at timestamp with time zone,
    CONSTRAINT redelivery_state_is_only_check CHECK (is_only)
);
ALTER TABLE ONLY redelivery_state
    ADD CONSTRAINT redelivery_state_pkey PRIMARY KEY (is_only);

CREATE TABLE replica_lock (
    name text NOT NULL,
    holder uuid NOT NULL,
    until timestamp with time zone NOT NULL
);
ALTER TABLE ONLY replica_lock
    ADD CONSTRAINT replica_lock_pkey PRIMARY KEY (name);
CREATE INDEX replica_lock_until ON replica_lock USING btree (until);

CREATE TABLE repository (
    number bigint NOT NULL,
    name text NOT NULL,
    version bigint NOT NULL,
    told_at timestamp with time zone
);

CREATE TABLE repository_access (
    account_id uuid NOT NULL,
    connection_id uuid NOT NULL,
    repo text NOT NULL,
    told_at timestamp with time zone DEFAULT now() NOT NULL,
    repository_id bigint,
    CONSTRAINT repository_access_repo_check CHECK (((repo = lower(repo)) AND (octet_length(repo) <= 300)))
);
ALTER TABLE ONLY repository_access
    ADD CONSTRAINT repository_access_pkey PRIMARY KEY (connection_id, repo);
CREATE INDEX repository_access_account ON repository_access USING btree (account_id);
CREATE INDEX repository_access_told ON repository_access USING btree (told_at);
CREATE TRIGGER account_skipped BEFORE INSERT ON repository_access FOR EACH ROW EXECUTE FUNCTION account_skipped();

-- The tables of the schema account, as pg_dump shows them. Written by deploy/dev schema; do not edit.

CREATE TABLE api_key (
    id uuid DEFAULT uuid_v7() NOT NULL,
    account_id uuid NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    prefix text NOT NULL,
    hash bytea NOT NULL,
    scopes text[] NOT NULL,
    repo text,
    interest_id uuid,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    last_used_at timestamp with time zone,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    deleted_at timestamp with time zone,
    repo_verified boolean DEFAULT false NOT NULL,
    is_provisioned boolean DEFAULT false NOT NULL,
    purpose text,
    expiry_told smallint,
    CONSTRAINT api_key_check CHECK (((repo IS NULL) OR (kind = 'automation'::text))),
    CONSTRAINT api_key_check1 CHECK (((interest_id IS NULL) OR (kind = 'automation'::text))),
    CONSTRAINT api_key_check2 CHECK (((expires_at IS NOT NULL) OR (kind = 'personal'::text))),
    CONSTRAINT api_key_check3 CHECK (((purpose IS NULL) OR is_provisioned)),
    CONSTRAINT api_key_expiry_told_check CHECK ((expiry_told = ANY (ARRAY[7, 30]))),
    CONSTRAINT api_key_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT api_key_kind_check CHECK ((kind = ANY (ARRAY['personal'::text, 'automation'::text]))),
    CONSTRAINT api_key_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200)))
);
ALTER TABLE ONLY api_key
    ADD CONSTRAINT api_key_hash_key UNIQUE (hash);
ALTER TABLE ONLY api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (id);
CREATE INDEX api_key_account ON api_key USING btree (account_id, id DESC);
CREATE INDEX api_key_expiring ON api_key USING btree (expires_at) WHERE ((revoked_at IS NULL) AND (expiry_told IS DISTINCT FROM 7));
CREATE INDEX api_key_live ON api_key USING btree (account_id) WHERE (revoked_at IS NULL);
CREATE UNIQUE INDEX api_key_purpose ON api_key USING btree (account_id, purpose) WHERE ((purpose IS NOT NULL) AND (revoked_at IS NULL));
CREATE INDEX api_key_repo ON api_key USING btree (lower(repo)) WHERE (repo IS NOT NULL);
CREATE INDEX api_key_temporary ON api_key USING btree (account_id) WHERE (is_provisioned AND (purpose IS NULL) AND (deleted_at IS NULL));
CREATE TRIGGER api_key_audit AFTER INSERT OR UPDATE OF name, scopes, repo, expires_at, revoked_at, deleted_at ON api_key FOR EACH ROW WHEN ((new.prefix <> 'log-in'::text)) EXECUTE FUNCTION api_key_audit();
CREATE TRIGGER api_key_changed AFTER DELETE OR UPDATE OF account_id, hash, kind, scopes, repo, interest_id, expires_at, revoked_at, deleted_at, repo_verified ON api_key FOR EACH ROW EXECUTE FUNCTION api_key_changed();
CREATE TRIGGER api_key_remember BEFORE DELETE ON api_key FOR EACH ROW WHEN ((old.kind = 'personal'::text)) EXECUTE FUNCTION api_key_remember();
ALTER TABLE ONLY api_key
    ADD CONSTRAINT api_key_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;

CREATE TABLE invitation (
    id uuid DEFAULT uuid_v7() NOT NULL,
    account_id uuid NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    hash bytea NOT NULL,
    invited_by uuid,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    accepted_at timestamp with time zone,
    revoked_at timestamp with time zone,
    mail text DEFAULT 'none'::text NOT NULL,
    CONSTRAINT invitation_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT invitation_mail_check CHECK ((mail = ANY (ARRAY['none'::text, 'queued'::text, 'sent'::text, 'failed'::text, 'limited'::text]))),
    CONSTRAINT invitation_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text])))
);
ALTER TABLE ONLY invitation
    ADD CONSTRAINT invitation_hash_key UNIQUE (hash);
ALTER TABLE ONLY invitation
    ADD CONSTRAINT invitation_pkey PRIMARY KEY (id);
CREATE INDEX invitation_made ON invitation USING btree (account_id, created_at);
CREATE UNIQUE INDEX invitation_open ON invitation USING btree (account_id, lower(email)) WHERE ((accepted_at IS NULL) AND (revoked_at IS NULL));
CREATE TRIGGER invitation_audit AFTER INSERT OR UPDATE OF accepted_at, revoked_at ON invitation FOR EACH ROW EXECUTE FUNCTION invitation_audit();
ALTER TABLE ONLY invitation
    ADD CONSTRAINT invitation_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;

CREATE TABLE session (
    id uuid DEFAULT uuid_v7() NOT NULL,
    hash bytea NOT NULL,
    account_id uuid NOT NULL,
    person_id uuid,
    key_id uuid NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    last_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ip text,
    user_agent text,
    CONSTRAINT session_hash_check CHECK ((length(hash) = 32))
);
ALTER TABLE ONLY session
    ADD CONSTRAINT session_hash_key UNIQUE (hash);
ALTER TABLE ONLY session
    ADD CONSTRAINT session_pkey PRIMARY KEY (id);
CREATE INDEX session_account ON session USING btree (account_id, id DESC);
CREATE INDEX session_key ON session USING btree (key_id);
CREATE INDEX session_of_person ON session USING btree (person_id, id DESC);
CREATE TRIGGER session_account_audit AFTER UPDATE OF account_id ON session FOR EACH ROW WHEN ((old.account_id <> new.account_id)) EXECUTE FUNCTION session_audit();
CREATE TRIGGER session_audit AFTER INSERT OR DELETE ON session FOR EACH ROW EXECUTE FUNCTION session_audit();
CREATE TRIGGER session_changed AFTER DELETE OR UPDATE OF hash, account_id, person_id, key_id, scopes, expires_at ON session FOR EACH ROW EXECUTE FUNCTION session_changed();
ALTER TABLE ONLY session
    ADD CONSTRAINT session_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;
ALTER TABLE ONLY session
    ADD CONSTRAINT session_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id) ON DELETE CASCADE;

CREATE TABLE account (
    id uuid DEFAULT uuid_v7() NOT NULL,
    email text,
    is_operator boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    name text,
    CONSTRAINT account_called CHECK (((email IS NOT NULL) OR (name IS NOT NULL))),
    CONSTRAINT account_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200)))
);
ALTER TABLE ONLY account
    ADD CONSTRAINT account_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX account_email ON account USING btree (lower(email));
CREATE TRIGGER account_audit AFTER INSERT OR DELETE ON account FOR EACH ROW EXECUTE FUNCTION account_audit();
CREATE TRIGGER account_name_audit AFTER UPDATE OF name ON account FOR EACH ROW WHEN ((old.name IS DISTINCT FROM new.name)) EXECUTE FUNCTION account_audit();
CREATE TRIGGER account_owner AFTER INSERT OR UPDATE OF is_operator ON account FOR EACH ROW WHEN ((new.email IS NOT NULL)) EXECUTE FUNCTION account_owner();
CREATE TRIGGER account_persons_forget BEFORE DELETE ON account FOR EACH ROW EXECUTE FUNCTION account_persons_forget();

CREATE TABLE api_key_person (
    key_id uuid NOT NULL,
    person_id uuid NOT NULL
);
ALTER TABLE ONLY api_key_person
    ADD CONSTRAINT api_key_person_pkey PRIMARY KEY (key_id);
CREATE INDEX api_key_of_person ON api_key_person USING btree (person_id);
CREATE TRIGGER api_key_person_changed AFTER INSERT OR DELETE OR UPDATE ON api_key_person FOR EACH ROW EXECUTE FUNCTION api_key_person_changed();
ALTER TABLE ONLY api_key_person
    ADD CONSTRAINT api_key_person_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id) ON DELETE CASCADE;

CREATE TABLE former_key (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    person_id uuid NOT NULL
);
ALTER TABLE ONLY former_key
    ADD CONSTRAINT former_key_pkey PRIMARY KEY (id);
CREATE INDEX former_key_of_account ON former_key USING btree (account_id);
CREATE INDEX former_key_of_person ON former_key USING btree (person_id);

CREATE TABLE former_member (
    account_id uuid NOT NULL,
    person_id uuid NOT NULL,
    email text,
    name text,
    ended_at timestamp with time zone DEFAULT now() NOT NULL,
    marks bytea[] DEFAULT '{}'::bytea[] NOT NULL
);
ALTER TABLE ONLY former_member
    ADD CONSTRAINT former_member_pkey PRIMARY KEY (account_id, person_id);
CREATE INDEX former_member_of_person ON former_member USING btree (person_id);
ALTER TABLE ONLY former_member
    ADD CONSTRAINT former_member_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;

ALTER TABLE ONLY idempotency
    ADD CONSTRAINT idempotency_account FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;

CREATE TABLE identity (
    issuer text NOT NULL,
    subject text NOT NULL,
    person_id uuid NOT NULL,
    email text,
    is_added boolean NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    last_login_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY identity
    ADD CONSTRAINT identity_pkey PRIMARY KEY (issuer, subject);
CREATE UNIQUE INDEX identity_of_person ON identity USING btree (person_id, issuer);
CREATE TRIGGER identity_added_audit AFTER UPDATE OF is_added ON identity FOR EACH ROW WHEN ((new.is_added AND (NOT old.is_added))) EXECUTE FUNCTION identity_audit();
CREATE TRIGGER identity_audit AFTER INSERT ON identity FOR EACH ROW EXECUTE FUNCTION identity_audit();
ALTER TABLE ONLY identity
    ADD CONSTRAINT identity_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE;

CREATE TABLE invitation_mail_count (
    mark bytea NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    mails integer NOT NULL,
    CONSTRAINT invitation_mail_count_mark_check CHECK ((length(mark) = 32))
);
ALTER TABLE ONLY invitation_mail_count
    ADD CONSTRAINT invitation_mail_count_pkey PRIMARY KEY (mark);
CREATE INDEX invitation_mail_count_since ON invitation_mail_count USING btree (since);

CREATE TABLE key_change (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    subject uuid NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY key_change
    ADD CONSTRAINT key_change_pkey PRIMARY KEY (xid, subject);

CREATE TABLE key_usage (
    key_id uuid NOT NULL,
    day date NOT NULL,
    family text NOT NULL,
    status smallint NOT NULL,
    requests bigint NOT NULL
);
ALTER TABLE ONLY key_usage
    ADD CONSTRAINT key_usage_pkey PRIMARY KEY (key_id, day, family, status);
CREATE INDEX key_usage_day ON key_usage USING btree (day);
ALTER TABLE ONLY key_usage
    ADD CONSTRAINT key_usage_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id) ON DELETE CASCADE;

CREATE TABLE login (
    hash bytea NOT NULL,
    sealed bytea NOT NULL,
    return_to text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT login_hash_check CHECK ((length(hash) = 32))
);
ALTER TABLE ONLY login
    ADD CONSTRAINT login_pkey PRIMARY KEY (hash);
CREATE INDEX login_expires ON login USING btree (expires_at);

CREATE TABLE login_key (
    key_id uuid NOT NULL
);
ALTER TABLE ONLY login_key
    ADD CONSTRAINT login_key_pkey PRIMARY KEY (key_id);
ALTER TABLE ONLY login_key
    ADD CONSTRAINT login_key_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id) ON DELETE CASCADE;

CREATE TABLE mcp_confirm_key (
    is_only boolean DEFAULT true NOT NULL,
    key bytea NOT NULL,
    CONSTRAINT mcp_confirm_key_is_only_check CHECK (is_only),
    CONSTRAINT mcp_confirm_key_key_check CHECK ((length(key) = 32))
);
ALTER TABLE ONLY mcp_confirm_key
    ADD CONSTRAINT mcp_confirm_key_pkey PRIMARY KEY (is_only);

CREATE TABLE mcp_run_start (
    hash bytea NOT NULL,
    nonce bytea NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT mcp_run_start_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT mcp_run_start_nonce_check CHECK ((length(nonce) = 16))
);
ALTER TABLE ONLY mcp_run_start
    ADD CONSTRAINT mcp_run_start_pkey PRIMARY KEY (hash);
CREATE INDEX mcp_run_start_at ON mcp_run_start USING btree (at);

CREATE TABLE member (
    account_id uuid NOT NULL,
    person_id uuid NOT NULL,
    role text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    invited_by uuid,
    CONSTRAINT member_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text])))
);
ALTER TABLE ONLY member
    ADD CONSTRAINT member_pkey PRIMARY KEY (account_id, person_id);
CREATE INDEX member_of_person ON member USING btree (person_id);
CREATE TRIGGER member_audit AFTER INSERT OR DELETE ON member FOR EACH ROW EXECUTE FUNCTION member_audit();
CREATE TRIGGER member_began AFTER INSERT ON member FOR EACH ROW EXECUTE FUNCTION member_began();
CREATE TRIGGER member_changed AFTER DELETE OR UPDATE OF role ON member FOR EACH ROW EXECUTE FUNCTION member_changed();
CREATE TRIGGER member_ended AFTER DELETE ON member FOR EACH ROW EXECUTE FUNCTION member_ended();
CREATE TRIGGER member_role_audit AFTER UPDATE OF role ON member FOR EACH ROW WHEN ((old.role <> new.role)) EXECUTE FUNCTION member_audit();
ALTER TABLE ONLY member
    ADD CONSTRAINT member_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE;
ALTER TABLE ONLY member
    ADD CONSTRAINT member_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE;

CREATE TABLE person (
    id uuid DEFAULT uuid_v7() NOT NULL,
    email text NOT NULL,
    email_verified boolean DEFAULT false NOT NULL,
    name text,
    is_operator boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    disabled_at timestamp with time zone,
    CONSTRAINT person_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200)))
);
ALTER TABLE ONLY person
    ADD CONSTRAINT person_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX person_email ON person USING btree (lower(email));
CREATE TRIGGER person_audit AFTER UPDATE OF disabled_at, is_operator ON person FOR EACH ROW WHEN ((((old.disabled_at IS NULL) <> (new.disabled_at IS NULL)) OR (old.is_operator <> new.is_operator))) EXECUTE FUNCTION person_audit();
CREATE TRIGGER person_audit_forget AFTER DELETE ON person FOR EACH ROW EXECUTE FUNCTION person_audit_forget();
CREATE TRIGGER person_changed AFTER DELETE OR UPDATE OF is_operator, disabled_at ON person FOR EACH ROW EXECUTE FUNCTION person_changed();
CREATE TRIGGER person_forgotten BEFORE DELETE ON person FOR EACH ROW EXECUTE FUNCTION person_forgotten();

CREATE TABLE repository (
    number bigint NOT NULL,
    name text NOT NULL,
    version bigint NOT NULL
);

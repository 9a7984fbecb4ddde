-- The tables of the schema of every service, as pg_dump shows them. Written by deploy/dev schema; do not edit.

CREATE TABLE task (
    id uuid DEFAULT uuid_v7() NOT NULL,
    kind text NOT NULL,
    account_id uuid,
    status text DEFAULT 'pending'::text NOT NULL,
    progress smallint DEFAULT 0 NOT NULL,
    message text,
    input jsonb DEFAULT '{}'::jsonb NOT NULL,
    result jsonb,
    error text,
    attempts integer DEFAULT 0 NOT NULL,
    attempts_max integer DEFAULT 5 NOT NULL,
    lease_until timestamp with time zone,
    lease_owner text,
    run_after timestamp with time zone DEFAULT now() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    request_id text,
    interruptions integer DEFAULT 0 NOT NULL,
    turn bigint,
    input_md5 uuid,
    is_refused boolean
);
ALTER TABLE ONLY task
    ADD CONSTRAINT task_pkey PRIMARY KEY (id);
ALTER TABLE task
    ADD CONSTRAINT task_valid CHECK (task_is_valid(task.*)) NOT VALID;
CREATE INDEX task_account ON task USING btree (account_id, kind, created_at DESC);
CREATE INDEX task_dead ON task USING btree (finished_at) WHERE ((status = 'failed'::text) AND (is_refused IS NOT TRUE));
CREATE INDEX task_delayed ON task USING btree (run_after) WHERE ((status = 'pending'::text) AND (turn IS NULL));
CREATE UNIQUE INDEX task_equal ON task USING btree (account_id, kind, input_md5) NULLS NOT DISTINCT WHERE ((status = 'pending'::text) AND (attempts = 0) AND (input_md5 IS NOT NULL));
CREATE INDEX task_finished ON task USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX task_last_turn ON task USING btree (kind, COALESCE(account_id, '00000000-0000-0000-0000-000000000000'::uuid), turn) WHERE ((status = 'pending'::text) AND (turn IS NOT NULL));
CREATE INDEX task_queued ON task USING btree (kind, turn, id) WHERE ((status = 'pending'::text) AND (turn IS NOT NULL));
CREATE INDEX task_running ON task USING btree (lease_until) WHERE (status = 'running'::text);
CREATE TRIGGER task_retried_audit AFTER UPDATE OF status ON task FOR EACH ROW WHEN (((old.status = 'failed'::text) AND (new.status = ANY (ARRAY['pending'::text, 'cancelled'::text])))) EXECUTE FUNCTION task_retried();

CREATE TABLE account_guard (
    id uuid NOT NULL,
    waiting integer,
    waiting_put bigint,
    is_deleted boolean DEFAULT false NOT NULL
);
ALTER TABLE ONLY account_guard
    ADD CONSTRAINT account_guard_pkey PRIMARY KEY (id);

CREATE TABLE deleted_account (
    id uuid NOT NULL,
    deleted_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY deleted_account
    ADD CONSTRAINT deleted_account_pkey PRIMARY KEY (id);
CREATE TRIGGER account_deleted AFTER INSERT ON deleted_account FOR EACH ROW EXECUTE FUNCTION account_deleted();

CREATE TABLE event_parked (
    id bigint NOT NULL,
    stream text NOT NULL,
    entry_id text NOT NULL,
    account text NOT NULL,
    event_id text NOT NULL,
    type text NOT NULL,
    at text NOT NULL,
    data text NOT NULL,
    request_id text NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    next_try timestamp with time zone NOT NULL,
    error text,
    parked_at timestamp with time zone DEFAULT now() NOT NULL,
    lane text NOT NULL,
    CONSTRAINT event_parked_account_check CHECK ((octet_length(account) <= 36)),
    CONSTRAINT event_parked_entry_id_check CHECK ((octet_length(entry_id) <= 41)),
    CONSTRAINT event_parked_lane_check CHECK ((octet_length(lane) <= 300)),
    CONSTRAINT event_parked_stream_check CHECK ((octet_length(stream) <= 200))
);
ALTER TABLE ONLY event_parked
    ADD CONSTRAINT event_parked_pkey PRIMARY KEY (id);
ALTER TABLE ONLY event_parked
    ADD CONSTRAINT event_parked_stream_entry_id_key UNIQUE (stream, entry_id);
CREATE INDEX event_parked_order ON event_parked USING btree (stream, lane, id);

ALTER TABLE event_parked ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME event_parked_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE event_position (
    stream text NOT NULL,
    entry_id text NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT event_position_entry_id_check CHECK ((octet_length(entry_id) <= 41)),
    CONSTRAINT event_position_stream_check CHECK ((octet_length(stream) <= 200))
);
ALTER TABLE ONLY event_position
    ADD CONSTRAINT event_position_pkey PRIMARY KEY (stream);

CREATE TABLE event_seen (
    event_id uuid NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY event_seen
    ADD CONSTRAINT event_seen_pkey PRIMARY KEY (event_id);
CREATE INDEX event_seen_at ON event_seen USING btree (seen_at);

CREATE TABLE event_settled (
    stream text NOT NULL,
    event_hash uuid NOT NULL,
    settled_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT event_settled_stream_check CHECK ((octet_length(stream) <= 200))
);
ALTER TABLE ONLY event_settled
    ADD CONSTRAINT event_settled_pkey PRIMARY KEY (stream, event_hash);
CREATE INDEX event_settled_at ON event_settled USING btree (settled_at);

CREATE TABLE fill (
    name text NOT NULL,
    cursor text NOT NULL,
    rows bigint DEFAULT 0 NOT NULL,
    made_at timestamp with time zone DEFAULT now() NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT fill_name_check CHECK (((octet_length(name) >= 1) AND (octet_length(name) <= 50)))
);
ALTER TABLE ONLY fill
    ADD CONSTRAINT fill_pkey PRIMARY KEY (name);

CREATE TABLE functions (
    owner text NOT NULL,
    version integer NOT NULL,
    installed_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY functions
    ADD CONSTRAINT functions_pkey PRIMARY KEY (owner);

CREATE TABLE idempotency (
    account_id uuid NOT NULL,
    operation text NOT NULL,
    key_hash bytea NOT NULL,
    body_hash bytea NOT NULL,
    answer bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    owner uuid,
    reserved_until timestamp with time zone,
    CONSTRAINT idempotency_body_hash_check CHECK ((length(body_hash) = 32)),
    CONSTRAINT idempotency_key_hash_check CHECK ((length(key_hash) = 32)),
    CONSTRAINT idempotency_state CHECK ((((answer IS NULL) = (owner IS NOT NULL)) AND ((owner IS NULL) = (reserved_until IS NULL))))
);
ALTER TABLE ONLY idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (account_id, operation, key_hash);
CREATE INDEX idempotency_created_at ON idempotency USING btree (created_at);
CREATE INDEX idempotency_large ON idempotency USING btree (account_id) WHERE (octet_length(answer) > 65536);

CREATE TABLE idempotency_running (
    claim bigint NOT NULL
);
ALTER TABLE ONLY idempotency_running
    ADD CONSTRAINT idempotency_running_pkey PRIMARY KEY (claim);

CREATE TABLE lease (
    name text NOT NULL,
    owner text DEFAULT ''::text NOT NULL,
    until timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    fence bigint DEFAULT 0 NOT NULL,
    CONSTRAINT lease_name_check CHECK ((octet_length(name) <= 200))
);
ALTER TABLE ONLY lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (name);

CREATE TABLE migration (
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (name);

CREATE TABLE outbox (
    id bigint NOT NULL,
    event_id uuid DEFAULT uuid_v7() NOT NULL,
    stream text NOT NULL,
    type text NOT NULL,
    account_id uuid,
    data jsonb NOT NULL,
    request_id text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    sent_at timestamp with time zone,
    sent_batch bigint,
    lane text,
    CONSTRAINT outbox_data_check CHECK ((jsonb_typeof(data) = 'object'::text)),
    CONSTRAINT outbox_lane_check CHECK (((octet_length(lane) >= 1) AND (octet_length(lane) <= 300))),
    CONSTRAINT outbox_stream_check CHECK ((stream <> ''::text)),
    CONSTRAINT outbox_type_check CHECK ((type <> ''::text))
)
WITH (fillfactor='50');
ALTER TABLE ONLY outbox
    ADD CONSTRAINT outbox_event_id_key UNIQUE (event_id);
ALTER TABLE ONLY outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (id);
CREATE INDEX outbox_sent ON outbox USING btree (sent_at) WHERE (sent_at IS NOT NULL);
CREATE INDEX outbox_sent_batch ON outbox USING btree (sent_batch) WHERE (sent_batch IS NOT NULL);
CREATE INDEX outbox_unsent ON outbox USING btree (id) WHERE (sent_at IS NULL);
CREATE TRIGGER outbox_notify AFTER INSERT ON outbox FOR EACH STATEMENT EXECUTE FUNCTION outbox_notify();

CREATE SEQUENCE outbox_batch
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER TABLE outbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME outbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY repository
    ADD CONSTRAINT repository_pkey PRIMARY KEY (number);
CREATE UNIQUE INDEX repository_by_name ON repository USING btree (lower(name));

CREATE TABLE repository_former (
    name text NOT NULL,
    number bigint NOT NULL,
    CONSTRAINT repository_former_name_check CHECK ((name = lower(name)))
);
ALTER TABLE ONLY repository_former
    ADD CONSTRAINT repository_former_pkey PRIMARY KEY (name);

CREATE TABLE repository_guard (
    hash uuid NOT NULL
);
ALTER TABLE ONLY repository_guard
    ADD CONSTRAINT repository_guard_pkey PRIMARY KEY (hash);

CREATE TABLE task_limit (
    is_only boolean DEFAULT true NOT NULL,
    pending_max integer NOT NULL,
    CONSTRAINT task_limit_is_only_check CHECK (is_only),
    CONSTRAINT task_limit_pending_max_check CHECK ((pending_max > 0))
);
ALTER TABLE ONLY task_limit
    ADD CONSTRAINT task_limit_pkey PRIMARY KEY (is_only);

CREATE SEQUENCE task_put_number
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

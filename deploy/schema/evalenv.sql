-- The tables of the schema evalenv, as pg_dump shows them. Written by deploy/dev schema; do not edit.

CREATE TABLE build (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    source text NOT NULL,
    repo text,
    ref text,
    arxiv_id text,
    containerfile text,
    build_args jsonb DEFAULT '{}'::jsonb NOT NULL,
    asset jsonb,
    template jsonb,
    content text,
    shares_asset boolean DEFAULT false NOT NULL,
    image text,
    digest text,
    report text,
    CONSTRAINT build_source_check CHECK ((source = ANY (ARRAY['repo'::text, 'arxiv_id'::text, 'containerfile'::text])))
);
ALTER TABLE ONLY build
    ADD CONSTRAINT build_pkey PRIMARY KEY (id);
CREATE INDEX build_content ON build USING btree (account_id, content) WHERE ((content IS NOT NULL) AND (image IS NOT NULL));
CREATE INDEX build_repo ON build USING btree ("left"(lower(repo), 256) COLLATE "C") WHERE (repo IS NOT NULL);
CREATE INDEX build_shared ON build USING btree (arxiv_id, id) WHERE (shares_asset AND (image IS NOT NULL));
ALTER TABLE ONLY build
    ADD CONSTRAINT build_id_fkey FOREIGN KEY (id) REFERENCES work(id) ON DELETE CASCADE;

CREATE TABLE work (
    id uuid NOT NULL,
    kind text NOT NULL,
    account_id uuid NOT NULL,
    status text DEFAULT 'queued'::text NOT NULL,
    is_claimable boolean DEFAULT true NOT NULL,
    repo text,
    turn bigint DEFAULT 0 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    worker text,
    lease_until timestamp with time zone,
    timeout_seconds integer NOT NULL,
    deadline_at timestamp with time zone,
    log_tail text DEFAULT ''::text NOT NULL,
    error jsonb,
    request_id text DEFAULT request_id_now(),
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    released integer DEFAULT 0 NOT NULL,
    log_length bigint DEFAULT 0 NOT NULL,
    CONSTRAINT work_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT work_check CHECK (((lease_until IS NULL) OR (status = 'running'::text))),
    CONSTRAINT work_check1 CHECK (((status = 'running'::text) = (deadline_at IS NOT NULL))),
    CONSTRAINT work_check2 CHECK (((status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text, 'timed_out'::text])) = (finished_at IS NOT NULL))),
    CONSTRAINT work_check3 CHECK (((released >= 0) AND (released <= attempts))),
    CONSTRAINT work_kind_check CHECK ((kind = ANY (ARRAY['build'::text, 'run'::text]))),
    CONSTRAINT work_log_tail_check CHECK ((char_length(log_tail) <= 16384)),
    CONSTRAINT work_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text, 'timed_out'::text]))),
    CONSTRAINT work_timeout_seconds_check CHECK ((timeout_seconds > 0))
);
ALTER TABLE ONLY work
    ADD CONSTRAINT work_pkey PRIMARY KEY (id);
CREATE INDEX work_account ON work USING btree (account_id, kind, id);
CREATE INDEX work_by_end ON work USING btree (kind, finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX work_queued ON work USING btree (kind, turn, id) WHERE ((status = 'queued'::text) AND is_claimable);
CREATE INDEX work_queued_of_account ON work USING btree (kind, account_id, turn, id) WHERE ((status = 'queued'::text) AND is_claimable);
CREATE INDEX work_repo ON work USING btree ("left"(lower(repo), 256) COLLATE "C") WHERE (repo IS NOT NULL);
CREATE INDEX work_running ON work USING btree (LEAST(lease_until, deadline_at)) WHERE (status = 'running'::text);
CREATE INDEX work_waiting ON work USING btree (account_id, kind) WHERE (status = 'queued'::text);
CREATE TRIGGER account_required BEFORE INSERT ON work FOR EACH ROW EXECUTE FUNCTION account_required();
CREATE TRIGGER build_ended AFTER UPDATE OF finished_at ON work FOR EACH ROW WHEN (((new.kind = 'build'::text) AND (new.finished_at IS NOT NULL) AND (old.finished_at IS NULL))) EXECUTE FUNCTION build_ended();
CREATE TRIGGER run_ended AFTER UPDATE OF finished_at ON work FOR EACH ROW WHEN (((new.kind = 'run'::text) AND (new.finished_at IS NOT NULL) AND (old.finished_at IS NULL))) EXECUTE FUNCTION run_ended();
CREATE TRIGGER work_announced AFTER UPDATE OF finished_at ON work FOR EACH ROW WHEN (((new.finished_at IS NOT NULL) AND (old.finished_at IS NULL))) EXECUTE FUNCTION work_announce();
CREATE TRIGGER work_queued AFTER INSERT ON work FOR EACH ROW WHEN (((new.status = 'queued'::text) AND new.is_claimable)) EXECUTE FUNCTION work_notify();
CREATE TRIGGER work_queued_again AFTER UPDATE OF status, is_claimable ON work FOR EACH ROW WHEN (((new.status = 'queued'::text) AND new.is_claimable)) EXECUTE FUNCTION work_notify();

CREATE TABLE run (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    name text,
    target text NOT NULL,
    template_id uuid,
    template_version integer,
    template_digest text,
    build_id uuid,
    params jsonb DEFAULT '{}'::jsonb,
    metrics jsonb,
    results jsonb,
    artifacts jsonb,
    call_id text,
    result text,
    CONSTRAINT run_target_check CHECK ((target = ANY (ARRAY['worker'::text, 'hosted'::text])))
);
ALTER TABLE ONLY run
    ADD CONSTRAINT run_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX run_call ON run USING btree (account_id, call_id) WHERE (call_id IS NOT NULL);
CREATE INDEX run_list ON run USING btree (account_id, id);
CREATE INDEX run_of_build ON run USING btree (build_id) WHERE (build_id IS NOT NULL);
CREATE INDEX run_of_call ON run USING btree (call_id) WHERE (call_id IS NOT NULL);
CREATE INDEX run_of_template ON run USING btree (template_id, template_version) WHERE (template_id IS NOT NULL);
ALTER TABLE ONLY run
    ADD CONSTRAINT run_build_id_fkey FOREIGN KEY (build_id) REFERENCES build(id);
ALTER TABLE ONLY run
    ADD CONSTRAINT run_id_fkey FOREIGN KEY (id) REFERENCES work(id) ON DELETE CASCADE;
ALTER TABLE ONLY run
    ADD CONSTRAINT run_template_id_template_version_fkey FOREIGN KEY (template_id, template_version) REFERENCES template_version(template_id, version);

CREATE TABLE template (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    name text NOT NULL,
    description text,
    spec jsonb NOT NULL,
    digest text GENERATED ALWAYS AS (json_digest(spec)) STORED,
    version integer DEFAULT 1 NOT NULL,
    is_locked boolean DEFAULT false NOT NULL,
    secret bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    repo text,
    CONSTRAINT template_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))),
    CONSTRAINT template_spec_check CHECK ((jsonb_typeof(spec) = 'object'::text))
);
ALTER TABLE ONLY template
    ADD CONSTRAINT template_pkey PRIMARY KEY (id);
CREATE INDEX template_list ON template USING btree (account_id, id);
CREATE UNIQUE INDEX template_name ON template USING btree (account_id, name);
CREATE INDEX template_repo ON template USING btree (lower(repo)) WHERE (repo IS NOT NULL);
CREATE TRIGGER account_required BEFORE INSERT ON template FOR EACH ROW EXECUTE FUNCTION account_required();
CREATE TRIGGER template_locked_audit AFTER UPDATE OF is_locked ON template FOR EACH ROW WHEN ((new.is_locked AND (NOT old.is_locked))) EXECUTE FUNCTION audit_row('template.locked', 'template', 'id', 'name', 'is_locked');
CREATE TRIGGER template_new_version AFTER INSERT ON template FOR EACH ROW EXECUTE FUNCTION template_keep_version();
CREATE TRIGGER template_next_version AFTER UPDATE OF version ON template FOR EACH ROW EXECUTE FUNCTION template_keep_version();

CREATE TABLE delivery (
    account_id uuid NOT NULL,
    delivery_id text NOT NULL,
    run_id uuid NOT NULL,
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT delivery_delivery_id_check CHECK ((octet_length(delivery_id) <= 200))
);
ALTER TABLE ONLY delivery
    ADD CONSTRAINT delivery_pkey PRIMARY KEY (run_id, delivery_id);
CREATE INDEX delivery_received ON delivery USING btree (received_at);
ALTER TABLE ONLY delivery
    ADD CONSTRAINT delivery_run_id_fkey FOREIGN KEY (run_id) REFERENCES work(id) ON DELETE CASCADE;

CREATE TABLE repository (
    number bigint NOT NULL,
    name text NOT NULL,
    version bigint NOT NULL
);

CREATE TABLE run_large (
    run_id uuid NOT NULL,
    params jsonb,
    metrics jsonb,
    results jsonb,
    artifacts jsonb
);
ALTER TABLE ONLY run_large
    ADD CONSTRAINT run_large_pkey PRIMARY KEY (run_id);
ALTER TABLE ONLY run_large
    ADD CONSTRAINT run_large_run_id_fkey FOREIGN KEY (run_id) REFERENCES run(id) ON DELETE CASCADE;

CREATE TABLE template_version (
    template_id uuid NOT NULL,
    version integer NOT NULL,
    spec jsonb NOT NULL,
    digest text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY template_version
    ADD CONSTRAINT template_version_pkey PRIMARY KEY (template_id, version);
ALTER TABLE ONLY template_version
    ADD CONSTRAINT template_version_template_id_fkey FOREIGN KEY (template_id) REFERENCES template(id) ON DELETE CASCADE;

CREATE TABLE work_log (
    work_id uuid NOT NULL,
    tail text NOT NULL,
    CONSTRAINT work_log_tail_check1 CHECK ((char_length(tail) <= 16384))
);
ALTER TABLE ONLY work_log
    ADD CONSTRAINT work_log_pkey PRIMARY KEY (work_id);
ALTER TABLE ONLY work_log
    ADD CONSTRAINT work_log_work_id_fkey FOREIGN KEY (work_id) REFERENCES work(id) ON DELETE CASCADE;

CREATE TABLE work_watch (
    is_only boolean DEFAULT true NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    resumed_at timestamp with time zone,
    held_until timestamp with time zone,
    CONSTRAINT work_watch_is_only_check CHECK (is_only)
);
ALTER TABLE ONLY work_watch
    ADD CONSTRAINT work_watch_pkey PRIMARY KEY (is_only);

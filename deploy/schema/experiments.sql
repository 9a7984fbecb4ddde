-- The tables of the schema experiments, as pg_dump shows them. Written by deploy/dev schema; do not edit.

CREATE TABLE experiment (
    id uuid DEFAULT uuid_v7() NOT NULL,
    account_id uuid NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    name text NOT NULL,
    status text DEFAULT 'draft'::text NOT NULL,
    hypothesis text,
    outcome text,
    decision text,
    observed_delta double precision,
    delta_confidence text,
    target_metric text,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    pr_url text,
    pr_status text,
    external_ticket_id text,
    ticket_source text,
    ticket_url text,
    project_id uuid,
    source_type text DEFAULT 'manual'::text NOT NULL,
    source_ref text,
    launch_context jsonb,
    ab_test_config jsonb,
    ab_test_results jsonb,
    linked_resources jsonb DEFAULT '[]'::jsonb NOT NULL,
    created_via text DEFAULT 'api'::text NOT NULL,
    pipeline_status text DEFAULT 'idle'::text NOT NULL,
    branch_name text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    analysis_id uuid,
    delta_source text,
    status_at timestamp with time zone DEFAULT now(),
    outcome_at timestamp with time zone DEFAULT now(),
    CONSTRAINT created_via_bytes CHECK ((octet_length(created_via) <= 256)),
    CONSTRAINT experiment_ab_test_config_check CHECK ((jsonb_typeof(ab_test_config) = 'object'::text)),
    CONSTRAINT experiment_ab_test_results_check CHECK ((jsonb_typeof(ab_test_results) = 'object'::text)),
    CONSTRAINT experiment_delta_confidence_check CHECK ((delta_confidence = ANY (ARRAY['significant'::text, 'inconclusive'::text, 'not_tested'::text]))),
    CONSTRAINT experiment_delta_source_check CHECK ((delta_source = ANY (ARRAY['computed'::text, 'stated'::text]))),
    CONSTRAINT experiment_launch_context_check CHECK ((jsonb_typeof(launch_context) = 'object'::text)),
    CONSTRAINT experiment_linked_resources_check CHECK ((jsonb_typeof(linked_resources) = 'array'::text)),
    CONSTRAINT experiment_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 500))),
    CONSTRAINT experiment_observed_delta_check CHECK (((observed_delta >= '-1.7976931348623157e+308'::double precision) AND (observed_delta <= '1.7976931348623157e+308'::double precision))),
    CONSTRAINT experiment_outcome_check CHECK ((outcome = ANY (ARRAY['ship'::text, 'iterate'::text, 'abandon'::text]))),
    CONSTRAINT experiment_pipeline_status_check CHECK ((pipeline_status = ANY (ARRAY['idle'::text, 'queued'::text, 'assembling_context'::text, 'dispatching'::text, 'running'::text, 'pr_opened'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT experiment_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'running'::text, 'complete'::text, 'analyzing'::text, 'shipped'::text, 'iterating'::text, 'rejected'::text, 'abandoned'::text]))),
    CONSTRAINT experiment_tags_check CHECK ((cardinality(tags) <= 32)),
    CONSTRAINT external_ticket_id_bytes CHECK ((octet_length(external_ticket_id) <= 1020)),
    CONSTRAINT ticket_source_bytes CHECK ((octet_length(ticket_source) <= 256))
);
ALTER TABLE ONLY experiment
    ADD CONSTRAINT experiment_pkey PRIMARY KEY (id);
ALTER TABLE experiment
    ADD CONSTRAINT experiment_source_type_check CHECK ((source_type = ANY (ARRAY['arxiv_paper'::text, 'biorxiv_paper'::text, 'medrxiv_paper'::text, 'code_repo'::text, 'ticket'::text, 'manual'::text]))) NOT VALID;
CREATE INDEX experiment_actionable ON experiment USING btree (account_id, id DESC) INCLUDE (project_id) WHERE ((launch_context IS NOT NULL) AND (pr_url IS NULL));
CREATE INDEX experiment_by_project ON experiment USING btree (account_id, project_id, id DESC);
CREATE INDEX experiment_by_status ON experiment USING btree (account_id, status, id DESC);
CREATE INDEX experiment_by_target ON experiment USING hash (lower((launch_context ->> 'target_repo'::text))) WHERE ((launch_context ->> 'target_repo'::text) IS NOT NULL);
CREATE INDEX experiment_by_ticket ON experiment USING btree (account_id, external_ticket_id, id DESC) WHERE (external_ticket_id IS NOT NULL);
CREATE INDEX experiment_by_ticket_source ON experiment USING btree (account_id, ticket_source, id DESC) WHERE (ticket_source IS NOT NULL);
CREATE INDEX experiment_by_via ON experiment USING btree (account_id, created_via, id DESC);
CREATE INDEX experiment_newest ON experiment USING btree (account_id, id DESC);
CREATE TRIGGER account_required BEFORE INSERT ON experiment FOR EACH ROW EXECUTE FUNCTION account_required();
CREATE TRIGGER evidence_of_change AFTER UPDATE OF outcome, status ON experiment FOR EACH ROW WHEN ((((new.outcome IS NOT NULL) AND (new.outcome IS DISTINCT FROM old.outcome)) OR ((new.status = ANY (ARRAY['shipped'::text, 'rejected'::text, 'abandoned'::text])) AND (new.status <> old.status)))) EXECUTE FUNCTION experiment_decided();
CREATE TRIGGER evidence_of_new AFTER INSERT ON experiment FOR EACH ROW WHEN (((new.outcome IS NOT NULL) OR (new.status = ANY (ARRAY['shipped'::text, 'rejected'::text, 'abandoned'::text])))) EXECUTE FUNCTION experiment_decided();
CREATE TRIGGER experiment_decided_audit AFTER UPDATE OF outcome, status ON experiment FOR EACH ROW WHEN ((((new.outcome IS NOT NULL) AND (new.outcome IS DISTINCT FROM old.outcome)) OR ((new.status = ANY (ARRAY['shipped'::text, 'rejected'::text, 'abandoned'::text])) AND (new.status <> old.status)))) EXECUTE FUNCTION audit_row('experiment.decided', 'experiment', 'id', 'name', 'outcome status');
CREATE TRIGGER experiment_decided_new_audit AFTER INSERT ON experiment FOR EACH ROW WHEN (((new.outcome IS NOT NULL) OR (new.status = ANY (ARRAY['shipped'::text, 'rejected'::text, 'abandoned'::text])))) EXECUTE FUNCTION audit_row('experiment.decided', 'experiment', 'id', 'name', 'outcome status');
CREATE TRIGGER experiment_deleted AFTER DELETE ON experiment REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION experiment_counted();
CREATE TRIGGER experiment_deleted_audit AFTER DELETE ON experiment FOR EACH ROW EXECUTE FUNCTION audit_row('experiment.deleted', 'experiment', 'id', 'name', '');
CREATE TRIGGER experiment_inserted AFTER INSERT ON experiment REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION experiment_counted();
CREATE TRIGGER implementation_announce AFTER UPDATE OF pipeline_status ON experiment FOR EACH ROW WHEN (((new.pipeline_status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])) AND (old.pipeline_status <> new.pipeline_status))) EXECUTE FUNCTION implementation_announce();
CREATE TRIGGER implementation_steps_end AFTER UPDATE OF pipeline_status ON experiment FOR EACH ROW WHEN (((new.pipeline_status = ANY (ARRAY['pr_opened'::text, 'completed'::text, 'failed'::text])) AND (old.pipeline_status <> new.pipeline_status))) EXECUTE FUNCTION implementation_steps_end();
CREATE TRIGGER papers_changed AFTER UPDATE ON experiment FOR EACH ROW WHEN (((((old.launch_context IS DISTINCT FROM new.launch_context) OR (old.source_type IS DISTINCT FROM new.source_type)) OR (old.source_ref IS DISTINCT FROM new.source_ref)) OR (old.linked_resources IS DISTINCT FROM new.linked_resources))) EXECUTE FUNCTION experiment_papers_follow();
CREATE TRIGGER papers_named AFTER INSERT ON experiment FOR EACH ROW WHEN (((new.launch_context IS NOT NULL) OR (new.source_ref IS NOT NULL) OR (new.linked_resources <> '[]'::jsonb))) EXECUTE FUNCTION experiment_papers_follow();

CREATE TABLE implementation (
    experiment_id uuid NOT NULL,
    attempt integer NOT NULL,
    task_id uuid,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    error text,
    repo text,
    brief text,
    work_branch text,
    run_id bigint,
    run_url text,
    dispatched_at timestamp with time zone,
    deadline_at timestamp with time zone,
    check_at timestamp with time zone,
    pr_number integer,
    told_at timestamp with time zone,
    CONSTRAINT implementation_attempt_check CHECK ((attempt > 0))
);
ALTER TABLE ONLY implementation
    ADD CONSTRAINT implementation_pkey PRIMARY KEY (experiment_id, attempt);
CREATE INDEX implementation_check ON implementation USING btree (check_at) WHERE ((check_at IS NOT NULL) AND (finished_at IS NULL));
CREATE INDEX implementation_repo ON implementation USING btree (lower(repo)) WHERE (repo IS NOT NULL);
CREATE UNIQUE INDEX implementation_task ON implementation USING btree (task_id) WHERE (task_id IS NOT NULL);
CREATE TRIGGER implementation_cancel BEFORE DELETE ON implementation FOR EACH ROW WHEN ((old.task_id IS NOT NULL)) EXECUTE FUNCTION implementation_cancel();
CREATE TRIGGER implementation_hold BEFORE INSERT OR UPDATE OF repo ON implementation FOR EACH ROW EXECUTE FUNCTION implementation_hold();
ALTER TABLE ONLY implementation
    ADD CONSTRAINT implementation_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiment(id) ON DELETE CASCADE;

CREATE TABLE experiment_result (
    id uuid NOT NULL,
    experiment_id uuid NOT NULL,
    account_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    by_key uuid,
    source text NOT NULL,
    input jsonb NOT NULL,
    output jsonb NOT NULL,
    is_apart boolean DEFAULT false NOT NULL,
    CONSTRAINT experiment_result_source_check CHECK ((source = ANY (ARRAY['metrics'::text, 'rows'::text, 'eval_runs'::text, 'telemetry'::text])))
);
ALTER TABLE ONLY experiment_result
    ADD CONSTRAINT experiment_result_pkey PRIMARY KEY (id);
CREATE INDEX experiment_result_newest ON experiment_result USING btree (experiment_id, id DESC);
ALTER TABLE ONLY experiment_result
    ADD CONSTRAINT experiment_result_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiment(id) ON DELETE CASCADE;

CREATE TABLE linked_run (
    experiment_id uuid NOT NULL,
    source text NOT NULL,
    run_key text NOT NULL,
    arm text NOT NULL,
    digest text,
    metrics jsonb,
    is_cost_estimated boolean DEFAULT false NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT linked_run_source_check CHECK ((source = ANY (ARRAY['eval_runs'::text, 'telemetry'::text])))
);
ALTER TABLE ONLY linked_run
    ADD CONSTRAINT linked_run_pkey PRIMARY KEY (experiment_id, source, run_key);
CREATE INDEX linked_run_telemetry ON linked_run USING btree (run_key text_pattern_ops) WHERE (source = 'telemetry'::text);
ALTER TABLE ONLY linked_run
    ADD CONSTRAINT linked_run_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiment(id) ON DELETE CASCADE;

CREATE TABLE project (
    id uuid DEFAULT uuid_v7() NOT NULL,
    account_id uuid NOT NULL,
    name text NOT NULL,
    description text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT project_name_bytes CHECK ((octet_length(name) <= 800)),
    CONSTRAINT project_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200)))
);
ALTER TABLE ONLY project
    ADD CONSTRAINT project_of_account UNIQUE (account_id, id);
ALTER TABLE ONLY project
    ADD CONSTRAINT project_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX project_name ON project USING btree (account_id, name);
CREATE TRIGGER account_required BEFORE INSERT ON project FOR EACH ROW EXECUTE FUNCTION account_required();
CREATE TRIGGER project_deleted_audit AFTER DELETE ON project FOR EACH ROW EXECUTE FUNCTION audit_row('project.deleted', 'project', 'id', 'name', '');

CREATE TRIGGER implementation_task_failed AFTER UPDATE OF status ON task FOR EACH ROW WHEN (((new.kind = 'implementation'::text) AND (new.status = 'failed'::text))) EXECUTE FUNCTION implementation_task_failed();

CREATE TABLE experiment_count (
    account_id uuid NOT NULL,
    part integer NOT NULL,
    experiments bigint NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE ONLY experiment_count
    ADD CONSTRAINT experiment_count_pkey PRIMARY KEY (account_id, part);

CREATE TABLE experiment_evidence (
    experiment_id uuid NOT NULL,
    version bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    trigger text NOT NULL,
    digest text NOT NULL,
    graph jsonb NOT NULL,
    CONSTRAINT experiment_evidence_trigger_check CHECK ((trigger = ANY (ARRAY['outcome'::text, 'status'::text])))
);
ALTER TABLE ONLY experiment_evidence
    ADD CONSTRAINT experiment_evidence_pkey PRIMARY KEY (experiment_id, version);
ALTER TABLE ONLY experiment_evidence
    ADD CONSTRAINT experiment_evidence_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiment(id) ON DELETE CASCADE;

CREATE TABLE experiment_history (
    id bigint NOT NULL,
    experiment_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    field text NOT NULL,
    was jsonb NOT NULL,
    becomes jsonb NOT NULL,
    by_key uuid,
    bytes integer
);
ALTER TABLE ONLY experiment_history
    ADD CONSTRAINT experiment_history_pkey PRIMARY KEY (id);
CREATE INDEX experiment_history_newest ON experiment_history USING btree (experiment_id, id DESC);
ALTER TABLE ONLY experiment_history
    ADD CONSTRAINT experiment_history_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiment(id) ON DELETE CASCADE;

ALTER TABLE experiment_history ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME experiment_history_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE experiment_paper (
    account_id uuid NOT NULL,
    arxiv_id text NOT NULL,
    experiment_id uuid NOT NULL,
    CONSTRAINT arxiv_id_bytes CHECK ((octet_length(arxiv_id) <= 64))
);
ALTER TABLE ONLY experiment_paper
    ADD CONSTRAINT experiment_paper_pkey PRIMARY KEY (account_id, arxiv_id, experiment_id);
CREATE INDEX experiment_paper_of_experiment ON experiment_paper USING btree (experiment_id);
ALTER TABLE ONLY experiment_paper
    ADD CONSTRAINT experiment_paper_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiment(id) ON DELETE CASCADE;

CREATE TABLE implementation_step (
    experiment_id uuid NOT NULL,
    attempt integer NOT NULL,
    "position" smallint NOT NULL,
    name text NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    message text,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    CONSTRAINT implementation_step_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'completed'::text, 'skipped'::text, 'failed'::text])))
);
ALTER TABLE ONLY implementation_step
    ADD CONSTRAINT implementation_step_pkey PRIMARY KEY (experiment_id, attempt, name);
ALTER TABLE ONLY implementation_step
    ADD CONSTRAINT implementation_step_experiment_id_attempt_fkey FOREIGN KEY (experiment_id, attempt) REFERENCES implementation(experiment_id, attempt) ON DELETE CASCADE;

CREATE TABLE report (
    id bigint NOT NULL,
    experiment_id uuid NOT NULL,
    attempt integer NOT NULL,
    digest bytea NOT NULL,
    summary text,
    artifacts jsonb,
    by_key uuid,
    at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY report
    ADD CONSTRAINT report_experiment_id_attempt_digest_key UNIQUE (experiment_id, attempt, digest);
ALTER TABLE ONLY report
    ADD CONSTRAINT report_pkey PRIMARY KEY (id);
CREATE INDEX report_newest ON report USING btree (experiment_id, id DESC);
ALTER TABLE ONLY report
    ADD CONSTRAINT report_experiment_id_attempt_fkey FOREIGN KEY (experiment_id, attempt) REFERENCES implementation(experiment_id, attempt) ON DELETE CASCADE;

ALTER TABLE report ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME report_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE repository (
    number bigint NOT NULL,
    name text NOT NULL,
    version bigint NOT NULL
);

CREATE TABLE ticket (
    experiment_id uuid NOT NULL,
    source text NOT NULL,
    id text NOT NULL,
    title text,
    state text,
    url text,
    read_at timestamp with time zone,
    fault text,
    due_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY ticket
    ADD CONSTRAINT ticket_pkey PRIMARY KEY (experiment_id, source, id);
ALTER TABLE ONLY ticket
    ADD CONSTRAINT ticket_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiment(id) ON DELETE CASCADE;

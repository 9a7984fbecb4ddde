-- The tables of the schema fleet, as pg_dump shows them. Written by deploy/dev schema; do not edit.

CREATE TYPE budget_part AS (
	account_id uuid,
	repo_key text,
	interest_id text,
	at timestamp with time zone,
	reported numeric,
	estimated numeric,
	assumed numeric,
	reserved numeric,
	runs integer,
	runs_unknown integer
);

CREATE TABLE run (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    repo_key text NOT NULL,
    repo text NOT NULL,
    run_id jsonb NOT NULL,
    first_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    status text,
    outcome_kind text NOT NULL,
    agent text,
    interest_id text,
    arxiv_id text,
    cost_usd numeric,
    input_tokens bigint,
    output_tokens bigint,
    cause text,
    artifact_url text,
    record jsonb NOT NULL,
    reported_at bigint NOT NULL,
    older jsonb,
    host_state text,
    host_outcome text,
    host_told_at timestamp with time zone,
    attempts jsonb,
    spend_usd numeric,
    spend_basis text,
    price_date date,
    interest_is_proved boolean,
    CONSTRAINT run_host_state_check CHECK ((host_state = ANY (ARRAY['running'::text, 'ended'::text]))),
    CONSTRAINT run_spend_basis_check CHECK ((spend_basis = ANY (ARRAY['reported'::text, 'estimated'::text, 'assumed'::text])))
)
PARTITION BY RANGE (first_at);
ALTER TABLE ONLY run
    ADD CONSTRAINT run_pkey PRIMARY KEY (id, first_at);
CREATE INDEX run_by_agent ON ONLY run USING btree (account_id, agent, at DESC, id DESC) WHERE (agent IS NOT NULL);
CREATE INDEX run_by_artifact ON ONLY run USING btree (account_id, artifact_url) WHERE (artifact_url IS NOT NULL);
CREATE INDEX run_by_paper ON ONLY run USING btree (account_id, arxiv_id) WHERE (arxiv_id IS NOT NULL);
CREATE INDEX run_newest ON ONLY run USING btree (account_id, at DESC, id DESC);
CREATE INDEX run_failed ON ONLY run USING btree (account_id, at) INCLUDE (repo_key, cause) WHERE (outcome_kind = 'failed'::text);
CREATE INDEX run_by_interest ON ONLY run USING btree (account_id, interest_id, at DESC, id DESC) WHERE (interest_id IS NOT NULL);
CREATE INDEX run_by_outcome ON ONLY run USING btree (account_id, outcome_kind, at DESC, id DESC);
CREATE INDEX run_by_repo ON ONLY run USING btree (account_id, repo_key, at DESC, id DESC);

CREATE TYPE run_change AS (
	was run,
	became run
);

CREATE TYPE run_end AS (
	at timestamp with time zone,
	outcome text,
	status text
);

CREATE TABLE budget (
    id uuid DEFAULT uuid_v7() NOT NULL,
    account_id uuid NOT NULL,
    scope text NOT NULL,
    target text NOT NULL,
    repo text,
    interest_id uuid,
    period text NOT NULL,
    usd numeric NOT NULL,
    action text NOT NULL,
    warn_percent integer[] NOT NULL,
    time_zone text NOT NULL,
    week_starts integer NOT NULL,
    zone_since timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    former_time_zone text NOT NULL,
    former_week_starts integer NOT NULL,
    counted_from timestamp with time zone DEFAULT 'infinity'::timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    checked_at timestamp with time zone DEFAULT now() NOT NULL,
    max_usd_per_run numeric DEFAULT 10 NOT NULL,
    assume_usd numeric,
    CONSTRAINT budget_action_check CHECK ((action = ANY (ARRAY['warn'::text, 'stop'::text]))),
    CONSTRAINT budget_check CHECK (((repo IS NOT NULL) = (scope = 'repo'::text))),
    CONSTRAINT budget_check1 CHECK (((interest_id IS NOT NULL) = (scope = 'interest'::text))),
    CONSTRAINT budget_period_check CHECK ((period = ANY (ARRAY['day'::text, 'week'::text, 'month'::text]))),
    CONSTRAINT budget_scope_check CHECK ((scope = ANY (ARRAY['account'::text, 'repo'::text, 'interest'::text]))),
    CONSTRAINT budget_usd_check CHECK (((usd >= (0)::numeric) AND (usd <= (1000000)::numeric))),
    CONSTRAINT budget_week_starts_check CHECK (((week_starts >= 1) AND (week_starts <= 7)))
);
ALTER TABLE ONLY budget
    ADD CONSTRAINT budget_account_id_scope_target_period_key UNIQUE (account_id, scope, target, period);
ALTER TABLE ONLY budget
    ADD CONSTRAINT budget_pkey PRIMARY KEY (id);
CREATE INDEX budget_unchecked ON budget USING btree (checked_at);
CREATE TRIGGER account_required BEFORE INSERT ON budget FOR EACH ROW EXECUTE FUNCTION account_required();
CREATE TRIGGER budget_changed_audit AFTER INSERT OR DELETE OR UPDATE OF usd, action, warn_percent, max_usd_per_run, assume_usd, time_zone, week_starts ON budget FOR EACH ROW EXECUTE FUNCTION audit_row('budget.changed', 'budget', 'id', 'target', 'scope target period usd action warn_percent max_usd_per_run assume_usd time_zone week_starts');

CREATE TABLE budget_period (
    account_id uuid NOT NULL,
    budget_id uuid NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    reported numeric DEFAULT 0 NOT NULL,
    estimated numeric DEFAULT 0 NOT NULL,
    runs integer DEFAULT 0 NOT NULL,
    runs_unknown integer DEFAULT 0 NOT NULL,
    corrected_at timestamp with time zone,
    assumed numeric DEFAULT 0 NOT NULL,
    reserved numeric DEFAULT 0 NOT NULL,
    refused integer DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY budget_period
    ADD CONSTRAINT budget_period_pkey PRIMARY KEY (budget_id, starts_at);
ALTER TABLE ONLY budget_period
    ADD CONSTRAINT budget_period_budget_id_fkey FOREIGN KEY (budget_id) REFERENCES budget(id) ON DELETE CASCADE;

CREATE TABLE inbox_look (
    account_id uuid NOT NULL,
    look_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY inbox_look
    ADD CONSTRAINT inbox_look_pkey PRIMARY KEY (account_id);
CREATE INDEX inbox_look_due ON inbox_look USING btree (look_at);
CREATE TRIGGER account_skipped BEFORE INSERT ON inbox_look FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE TABLE reservation (
    id uuid DEFAULT uuid_v7() NOT NULL,
    account_id uuid NOT NULL,
    key text NOT NULL,
    repo_key text NOT NULL,
    repo text NOT NULL,
    interest_id uuid,
    agent text,
    provider text,
    model text,
    amount_usd numeric NOT NULL,
    max_usd numeric NOT NULL,
    assume_usd numeric NOT NULL,
    is_over_budget boolean DEFAULT false NOT NULL,
    run_id jsonb,
    run_attempt integer DEFAULT 1 NOT NULL,
    made_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    state text DEFAULT 'held'::text NOT NULL,
    asked_at timestamp with time zone,
    CONSTRAINT reservation_state_check CHECK ((state = ANY (ARRAY['held'::text, 'settled'::text, 'released'::text])))
);
ALTER TABLE ONLY reservation
    ADD CONSTRAINT reservation_account_id_key_key UNIQUE (account_id, key);
ALTER TABLE ONLY reservation
    ADD CONSTRAINT reservation_pkey PRIMARY KEY (id);
CREATE INDEX reservation_by_run ON reservation USING btree (account_id, repo_key, ((run_id #>> '{}'::text[])));
CREATE INDEX reservation_expiring ON reservation USING btree (expires_at) WHERE (state = 'held'::text);
CREATE INDEX reservation_made_at ON reservation USING brin (made_at);
CREATE TRIGGER account_required BEFORE INSERT ON reservation FOR EACH ROW EXECUTE FUNCTION account_required();
CREATE TRIGGER budget_overridden_audit AFTER UPDATE OF is_over_budget ON reservation FOR EACH ROW WHEN ((new.is_over_budget AND (NOT old.is_over_budget))) EXECUTE FUNCTION audit_row('budget.overridden', 'reservation', 'id', 'repo', 'is_over_budget amount_usd');
CREATE TRIGGER budget_overridden_new_audit AFTER INSERT ON reservation FOR EACH ROW WHEN (new.is_over_budget) EXECUTE FUNCTION audit_row('budget.overridden', 'reservation', 'id', 'repo', 'agent model amount_usd');

CREATE TABLE run_detail (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    first_at timestamp with time zone NOT NULL,
    detail jsonb NOT NULL,
    reported_at bigint NOT NULL,
    older jsonb,
    bytes integer
)
PARTITION BY RANGE (first_at);
ALTER TABLE ONLY run_detail
    ADD CONSTRAINT run_detail_pkey PRIMARY KEY (id, first_at);

CREATE TABLE candidate (
    account_id uuid NOT NULL,
    arxiv_id text NOT NULL,
    run uuid NOT NULL,
    first_at timestamp with time zone NOT NULL,
    gate text,
    reason text,
    score double precision,
    CONSTRAINT arxiv_id_bytes CHECK ((octet_length(arxiv_id) <= 64)),
    CONSTRAINT candidate_gate_check CHECK ((gate = ANY (ARRAY['relevance'::text, 'duplicate'::text, 'license'::text, 'container'::text, 'feasibility'::text, 'risk'::text, 'scope'::text, 'budget'::text, 'other'::text])))
);
ALTER TABLE ONLY candidate
    ADD CONSTRAINT candidate_pkey PRIMARY KEY (run, arxiv_id);
CREATE INDEX candidate_by_age ON candidate USING btree (first_at) WHERE (gate IS NOT NULL);
CREATE INDEX candidate_of_paper ON candidate USING btree (account_id, arxiv_id);

CREATE TABLE cost_look (
    account_id uuid NOT NULL,
    run uuid NOT NULL,
    first_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY cost_look
    ADD CONSTRAINT cost_look_pkey PRIMARY KEY (run);
CREATE INDEX cost_look_account ON cost_look USING btree (account_id);
CREATE TRIGGER account_required BEFORE INSERT ON cost_look FOR EACH ROW EXECUTE FUNCTION account_required();

CREATE TABLE cost_unusual (
    account_id uuid NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    repo_key text,
    repo text,
    agent text,
    model text,
    run_ids jsonb DEFAULT '[]'::jsonb NOT NULL,
    usd numeric NOT NULL,
    compared_usd numeric NOT NULL,
    at timestamp with time zone NOT NULL,
    found_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT cost_unusual_kind_check CHECK ((kind = ANY (ARRAY['run'::text, 'day'::text, 'failures'::text])))
);
ALTER TABLE ONLY cost_unusual
    ADD CONSTRAINT cost_unusual_pkey PRIMARY KEY (account_id, kind, subject);
CREATE TRIGGER account_required BEFORE INSERT ON cost_unusual FOR EACH ROW EXECUTE FUNCTION account_required();

CREATE TABLE deliverable (
    account_id uuid NOT NULL,
    url text NOT NULL,
    kind text NOT NULL,
    repo_key text NOT NULL,
    repo text NOT NULL,
    number bigint,
    run_id jsonb NOT NULL,
    run_at timestamp with time zone NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    stage text DEFAULT 'open'::text NOT NULL,
    closed_at timestamp with time zone,
    interest_id text,
    recommendation_id text,
    arxiv_id text,
    reverted_at timestamp with time zone,
    reverted_by text,
    reapplied_at timestamp with time zone,
    reapplied_by text,
    CONSTRAINT deliverable_kind_check CHECK ((kind = ANY (ARRAY['pull_request'::text, 'issue'::text, 'other'::text]))),
    CONSTRAINT deliverable_stage_check CHECK ((stage = ANY (ARRAY['open'::text, 'closed'::text, 'merged'::text])))
);
ALTER TABLE ONLY deliverable
    ADD CONSTRAINT deliverable_pkey PRIMARY KEY (account_id, url);
CREATE INDEX deliverable_closed ON deliverable USING btree (account_id, closed_at) INCLUDE (repo_key, kind, stage, opened_at) WHERE (closed_at IS NOT NULL);
CREATE INDEX deliverable_item ON deliverable USING btree (repo_key, kind, number);
CREATE INDEX deliverable_merged ON deliverable USING btree (account_id, closed_at) INCLUDE (repo_key, opened_at) WHERE ((stage = 'merged'::text) AND (kind = 'pull_request'::text));
CREATE INDEX deliverable_merged_at ON deliverable USING btree (closed_at) WHERE ((stage = 'merged'::text) AND (kind = 'pull_request'::text));
CREATE INDEX deliverable_newest ON deliverable USING btree (account_id, opened_at DESC, url) INCLUDE (repo_key, kind, stage);
CREATE INDEX deliverable_open ON deliverable USING btree (account_id, opened_at) WHERE ((stage = 'open'::text) AND (kind <> 'other'::text));
CREATE TRIGGER deliverable_changed AFTER UPDATE ON deliverable FOR EACH ROW WHEN (((((((((old.kind IS DISTINCT FROM new.kind) OR (old.stage IS DISTINCT FROM new.stage)) OR (old.reverted_at IS DISTINCT FROM new.reverted_at)) OR (old.reapplied_at IS DISTINCT FROM new.reapplied_at)) OR (old.run_id IS DISTINCT FROM new.run_id)) OR (old.interest_id IS DISTINCT FROM new.interest_id)) OR (old.recommendation_id IS DISTINCT FROM new.recommendation_id)) OR (old.arxiv_id IS DISTINCT FROM new.arxiv_id))) EXECUTE FUNCTION deliverable_emit_change();
CREATE TRIGGER deliverable_made AFTER INSERT ON deliverable FOR EACH ROW EXECUTE FUNCTION deliverable_emit_change();
CREATE TRIGGER deliverable_new AFTER INSERT ON deliverable FOR EACH ROW WHEN ((new.kind <> 'other'::text)) EXECUTE FUNCTION deliverable_announce();
CREATE TRIGGER deliverable_passed AFTER UPDATE OF stage, kind ON deliverable FOR EACH ROW WHEN (((new.kind <> 'other'::text) AND ((new.stage <> old.stage) OR (new.kind <> old.kind)))) EXECUTE FUNCTION deliverable_announce();
CREATE TRIGGER deliverable_reverted AFTER UPDATE OF reverted_at ON deliverable FOR EACH ROW WHEN (((new.reverted_at IS NOT NULL) AND (old.reverted_at IS NULL))) EXECUTE FUNCTION deliverable_announce_revert();

CREATE TABLE experiment (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    version bigint NOT NULL,
    is_deleted boolean NOT NULL,
    status text,
    outcome text,
    pr_status text,
    pr_url text,
    made_at timestamp with time zone NOT NULL,
    told_at timestamp with time zone NOT NULL,
    arxiv_ids text[] NOT NULL,
    pr_status_at timestamp with time zone
);
ALTER TABLE ONLY experiment
    ADD CONSTRAINT experiment_pkey PRIMARY KEY (id);
CREATE INDEX experiment_of_account ON experiment USING btree (account_id);
CREATE INDEX experiment_of_paper ON experiment USING gin (arxiv_ids);
CREATE TRIGGER account_skipped BEFORE INSERT ON experiment FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE TABLE key_expiring (
    account_id uuid NOT NULL,
    key_id uuid NOT NULL,
    name text NOT NULL,
    repo text,
    expires_at timestamp with time zone NOT NULL,
    told_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY key_expiring
    ADD CONSTRAINT key_expiring_pkey PRIMARY KEY (account_id, key_id);
CREATE TRIGGER account_skipped BEFORE INSERT ON key_expiring FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE TABLE installation (
    id uuid DEFAULT uuid_v7() NOT NULL,
    account_id uuid NOT NULL,
    repo_key text NOT NULL,
    repo text NOT NULL,
    agent text NOT NULL,
    provider text,
    interest_id uuid,
    key_id uuid NOT NULL,
    setup_url text,
    model_key_missing boolean DEFAULT false NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    installed_at timestamp with time zone DEFAULT now() NOT NULL,
    revoked_at timestamp with time zone,
    CONSTRAINT installation_check CHECK (((status = 'revoked'::text) = (revoked_at IS NOT NULL))),
    CONSTRAINT installation_repo_key_check CHECK (((repo_key = lower(repo_key)) AND (octet_length(repo_key) <= 600))),
    CONSTRAINT installation_status_check CHECK ((status = ANY (ARRAY['active'::text, 'revoked'::text])))
);
ALTER TABLE ONLY installation
    ADD CONSTRAINT installation_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX installation_active ON installation USING btree (account_id, repo_key, interest_id) NULLS NOT DISTINCT WHERE (status = 'active'::text);
CREATE INDEX installation_by_key ON installation USING btree (key_id);
CREATE INDEX installation_by_repo ON installation USING btree (account_id, repo_key);
CREATE INDEX installation_newest ON installation USING btree (account_id, id DESC);
CREATE TRIGGER account_required BEFORE INSERT ON installation FOR EACH ROW EXECUTE FUNCTION account_required();
CREATE TRIGGER installation_changed AFTER UPDATE ON installation FOR EACH ROW WHEN ((((new.status IS DISTINCT FROM old.status) OR (new.setup_url IS DISTINCT FROM old.setup_url)) OR (new.model_key_missing IS DISTINCT FROM old.model_key_missing))) EXECUTE FUNCTION installation_announce();
CREATE TRIGGER installation_made AFTER INSERT ON installation FOR EACH ROW EXECUTE FUNCTION installation_announce();
CREATE TRIGGER installation_revoked_audit AFTER UPDATE OF status ON installation FOR EACH ROW WHEN (((new.status = 'revoked'::text) AND (old.status <> 'revoked'::text))) EXECUTE FUNCTION audit_row('installation.revoked', 'installation', 'id', 'repo', '');

CREATE TABLE price (
    provider text NOT NULL,
    model text NOT NULL,
    from_day date NOT NULL,
    until_day date,
    input numeric NOT NULL,
    cache_write numeric,
    cache_read numeric,
    output numeric NOT NULL,
    checked date NOT NULL,
    source text NOT NULL
);
ALTER TABLE ONLY price
    ADD CONSTRAINT price_pkey PRIMARY KEY (provider, model, from_day);

CREATE TABLE run_day (
    account_id uuid NOT NULL,
    day date NOT NULL,
    repo_key text NOT NULL,
    runs integer DEFAULT 0 NOT NULL,
    pull_requests integer DEFAULT 0 NOT NULL,
    issues integer DEFAULT 0 NOT NULL,
    branches integer DEFAULT 0 NOT NULL,
    skipped integer DEFAULT 0 NOT NULL,
    failed integer DEFAULT 0 NOT NULL,
    running integer DEFAULT 0 NOT NULL,
    other integer DEFAULT 0 NOT NULL,
    cost_usd numeric DEFAULT 0 NOT NULL,
    cost_runs integer DEFAULT 0 NOT NULL,
    input_tokens numeric DEFAULT 0 NOT NULL,
    output_tokens numeric DEFAULT 0 NOT NULL,
    token_runs integer DEFAULT 0 NOT NULL,
    preflight_passed integer DEFAULT 0 NOT NULL,
    preflight_stopped integer DEFAULT 0 NOT NULL,
    lint_passed integer DEFAULT 0 NOT NULL,
    lint_stopped integer DEFAULT 0 NOT NULL,
    test_passed integer DEFAULT 0 NOT NULL,
    test_stopped integer DEFAULT 0 NOT NULL,
    integration_passed integer DEFAULT 0 NOT NULL,
    integration_stopped integer DEFAULT 0 NOT NULL,
    license_passed integer DEFAULT 0 NOT NULL,
    license_stopped integer DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY run_day
    ADD CONSTRAINT run_day_pkey PRIMARY KEY (account_id, repo_key, day);
CREATE INDEX run_day_of_all ON run_day USING btree (day);

CREATE TABLE admission (
    account_id uuid NOT NULL,
    repo_key text NOT NULL,
    asked_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY admission
    ADD CONSTRAINT admission_pkey PRIMARY KEY (account_id, repo_key);
CREATE TRIGGER account_required BEFORE INSERT ON admission FOR EACH ROW EXECUTE FUNCTION account_required();

CREATE TABLE budget_notice (
    budget_id uuid NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    percent integer NOT NULL,
    passed_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY budget_notice
    ADD CONSTRAINT budget_notice_pkey PRIMARY KEY (budget_id, starts_at, percent);
ALTER TABLE ONLY budget_notice
    ADD CONSTRAINT budget_notice_budget_id_starts_at_fkey FOREIGN KEY (budget_id, starts_at) REFERENCES budget_period(budget_id, starts_at) ON DELETE CASCADE;

CREATE TABLE code_host_item (
    repo_key text NOT NULL,
    kind text NOT NULL,
    number bigint NOT NULL,
    state text,
    opened_at timestamp with time zone,
    closed_at timestamp with time zone,
    told_at timestamp with time zone,
    merge_commit text,
    CONSTRAINT code_host_item_kind_check CHECK ((kind = ANY (ARRAY['pull_request'::text, 'issue'::text]))),
    CONSTRAINT code_host_item_repo_key_check CHECK (((repo_key = lower(repo_key)) AND (octet_length(repo_key) <= 600))),
    CONSTRAINT code_host_item_state_check CHECK ((state = ANY (ARRAY['open'::text, 'closed'::text, 'merged'::text])))
);
ALTER TABLE ONLY code_host_item
    ADD CONSTRAINT code_host_item_pkey PRIMARY KEY (repo_key, kind, number);
CREATE INDEX code_host_item_commit ON code_host_item USING btree (repo_key, merge_commit) WHERE (merge_commit IS NOT NULL);

CREATE TABLE code_host_revert (
    repo_key text NOT NULL,
    target text NOT NULL,
    by text NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT code_host_revert_by_check CHECK ((octet_length(by) <= 40)),
    CONSTRAINT code_host_revert_repo_key_check CHECK (((repo_key = lower(repo_key)) AND (octet_length(repo_key) <= 600))),
    CONSTRAINT code_host_revert_target_check CHECK ((octet_length(target) <= 40))
);
ALTER TABLE ONLY code_host_revert
    ADD CONSTRAINT code_host_revert_pkey PRIMARY KEY (repo_key, target, by);

CREATE TABLE connection_gone (
    account_id uuid NOT NULL,
    provider text NOT NULL,
    login text,
    person_id uuid NOT NULL,
    gone_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY connection_gone
    ADD CONSTRAINT connection_gone_pkey PRIMARY KEY (account_id, provider);
CREATE TRIGGER account_skipped BEFORE INSERT ON connection_gone FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE TABLE deliverable_told (
    account_id uuid NOT NULL,
    fact uuid NOT NULL,
    told_on date NOT NULL
)
PARTITION BY RANGE (told_on);
ALTER TABLE ONLY deliverable_told
    ADD CONSTRAINT deliverable_told_pkey PRIMARY KEY (account_id, fact, told_on);

CREATE SEQUENCE deliverable_version
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE endpoint_disabled (
    account_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    name text NOT NULL,
    reason text NOT NULL,
    disabled_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY endpoint_disabled
    ADD CONSTRAINT endpoint_disabled_pkey PRIMARY KEY (account_id, endpoint_id);
CREATE TRIGGER account_skipped BEFORE INSERT ON endpoint_disabled FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE TABLE experiment_reminder (
    account_id uuid NOT NULL,
    experiment_id uuid NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    due_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY experiment_reminder
    ADD CONSTRAINT experiment_reminder_pkey PRIMARY KEY (account_id, experiment_id, kind);
CREATE TRIGGER account_skipped BEFORE INSERT ON experiment_reminder FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE TABLE inbox_archived (
    account_id uuid NOT NULL,
    item uuid NOT NULL,
    archived_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY inbox_archived
    ADD CONSTRAINT inbox_archived_pkey PRIMARY KEY (account_id, item);
CREATE TRIGGER account_required BEFORE INSERT ON inbox_archived FOR EACH ROW EXECUTE FUNCTION account_required();

CREATE TABLE inbox_told (
    account_id uuid NOT NULL,
    item uuid NOT NULL,
    told_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY inbox_told
    ADD CONSTRAINT inbox_told_pkey PRIMARY KEY (account_id, item);

CREATE TABLE owned_repo (
    account_id uuid NOT NULL,
    repo_key text NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT owned_repo_repo_key_check CHECK (((repo_key = lower(repo_key)) AND (octet_length(repo_key) <= 600)))
);
ALTER TABLE ONLY owned_repo
    ADD CONSTRAINT owned_repo_pkey PRIMARY KEY (account_id, repo_key);
CREATE INDEX owned_repo_accounts ON owned_repo USING btree (repo_key);
CREATE TRIGGER account_skipped BEFORE INSERT ON owned_repo FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE TABLE price_list (
    is_only boolean DEFAULT true NOT NULL,
    digest text NOT NULL,
    stored_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT price_list_is_only_check CHECK (is_only)
);
ALTER TABLE ONLY price_list
    ADD CONSTRAINT price_list_pkey PRIMARY KEY (is_only);

CREATE TABLE repo_access (
    account_id uuid NOT NULL,
    repo_key text NOT NULL,
    asked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    lost_at timestamp with time zone,
    repo text,
    href text,
    CONSTRAINT repo_access_check CHECK (((lost_at IS NULL) OR (repo IS NOT NULL))),
    CONSTRAINT repo_access_repo_key_check CHECK (((repo_key = lower(repo_key)) AND (octet_length(repo_key) <= 600)))
);
ALTER TABLE ONLY repo_access
    ADD CONSTRAINT repo_access_pkey PRIMARY KEY (account_id, repo_key);
CREATE TRIGGER account_skipped BEFORE INSERT ON repo_access FOR EACH ROW EXECUTE FUNCTION account_skipped();
CREATE TRIGGER repo_access_lost AFTER INSERT OR UPDATE OF lost_at ON repo_access FOR EACH ROW WHEN ((new.lost_at IS NOT NULL)) EXECUTE FUNCTION repo_access_announce();

CREATE TABLE repo_fetch (
    account_id uuid NOT NULL,
    repo_key text NOT NULL,
    tried_at timestamp with time zone NOT NULL,
    fetched_at timestamp with time zone,
    CONSTRAINT repo_fetch_repo_key_check CHECK (((repo_key = lower(repo_key)) AND (octet_length(repo_key) <= 600)))
);
ALTER TABLE ONLY repo_fetch
    ADD CONSTRAINT repo_fetch_pkey PRIMARY KEY (account_id, repo_key);
CREATE TRIGGER account_skipped BEFORE INSERT ON repo_fetch FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE TABLE repo_guard (
    repo_key text NOT NULL,
    CONSTRAINT repo_guard_repo_key_check CHECK (((repo_key = lower(repo_key)) AND (octet_length(repo_key) <= 600)))
);
ALTER TABLE ONLY repo_guard
    ADD CONSTRAINT repo_guard_pkey PRIMARY KEY (repo_key);

CREATE TABLE repository (
    number bigint NOT NULL,
    name text NOT NULL,
    version bigint NOT NULL
);

CREATE TABLE run_agent (
    account_id uuid NOT NULL,
    agent text NOT NULL,
    repo_key text NOT NULL,
    outcome_kind text NOT NULL,
    runs integer NOT NULL
);
ALTER TABLE ONLY run_agent
    ADD CONSTRAINT run_agent_pkey PRIMARY KEY (account_id, agent, repo_key, outcome_kind);

CREATE TABLE run_export (
    day date NOT NULL,
    target text NOT NULL,
    part integer NOT NULL,
    settled_until timestamp with time zone NOT NULL,
    begun_at timestamp with time zone DEFAULT now() NOT NULL,
    finished_at timestamp with time zone,
    runs bigint,
    bytes bigint,
    CONSTRAINT run_export_part_check CHECK ((part > 0)),
    CONSTRAINT run_export_target_check CHECK ((octet_length(target) <= 4096))
);
ALTER TABLE ONLY run_export
    ADD CONSTRAINT run_export_pkey PRIMARY KEY (day, target, part);

CREATE TABLE run_key (
    account_id uuid NOT NULL,
    repo_key text NOT NULL,
    run_key text NOT NULL,
    id uuid NOT NULL,
    first_at timestamp with time zone NOT NULL,
    CONSTRAINT run_key_repo_key_check CHECK (((repo_key = lower(repo_key)) AND (octet_length(repo_key) <= 600))),
    CONSTRAINT run_key_run_key_check CHECK ((octet_length(run_key) <= 512))
);
ALTER TABLE ONLY run_key
    ADD CONSTRAINT run_key_pkey PRIMARY KEY (account_id, repo_key, run_key);
CREATE INDEX run_key_by_id ON run_key USING btree (account_id, run_key);

CREATE TABLE run_removed (
    account_id uuid NOT NULL,
    repo_key text NOT NULL,
    run_key text NOT NULL,
    removed_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY run_removed
    ADD CONSTRAINT run_removed_pkey PRIMARY KEY (account_id, repo_key, run_key);
CREATE TRIGGER account_skipped BEFORE INSERT ON run_removed FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE TABLE run_repo (
    account_id uuid NOT NULL,
    repo_key text NOT NULL,
    repo text NOT NULL,
    runs integer NOT NULL,
    pull_requests integer NOT NULL,
    issues integer NOT NULL,
    branches integer NOT NULL,
    skipped integer NOT NULL,
    failed integer NOT NULL,
    running integer NOT NULL,
    other integer NOT NULL,
    last_at timestamp with time zone NOT NULL,
    last_id uuid NOT NULL,
    last_first_at timestamp with time zone NOT NULL,
    last_outcome text NOT NULL,
    last_status text
);
ALTER TABLE ONLY run_repo
    ADD CONSTRAINT run_repo_pkey PRIMARY KEY (account_id, repo_key);

CREATE TABLE run_status (
    repo_key text NOT NULL,
    account_id uuid,
    asked_at timestamp with time zone,
    told jsonb,
    told_at timestamp with time zone,
    changed_at timestamp with time zone,
    CONSTRAINT run_status_repo_key_check CHECK (((repo_key = lower(repo_key)) AND (octet_length(repo_key) <= 600)))
);
ALTER TABLE ONLY run_status
    ADD CONSTRAINT run_status_repo_key_account_id_key UNIQUE NULLS NOT DISTINCT (repo_key, account_id);
CREATE INDEX run_status_account ON run_status USING btree (account_id);
CREATE TRIGGER account_skipped BEFORE INSERT ON run_status FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE TABLE run_text (
    run uuid NOT NULL,
    kind text NOT NULL,
    account_id uuid NOT NULL,
    version text NOT NULL,
    body jsonb NOT NULL,
    made_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT run_text_kind_check CHECK ((kind = ANY (ARRAY['analysis'::text, 'digest'::text])))
);
ALTER TABLE ONLY run_text
    ADD CONSTRAINT run_text_pkey PRIMARY KEY (run, kind);
CREATE INDEX run_text_account ON run_text USING btree (account_id);
CREATE TRIGGER account_required BEFORE INSERT ON run_text FOR EACH ROW EXECUTE FUNCTION account_required();

-- The tables of the schema interests, as pg_dump shows them. Written by deploy/dev schema; do not edit.

CREATE TABLE interest (
    id uuid DEFAULT uuid_v7() NOT NULL,
    account_id uuid NOT NULL,
    name text NOT NULL,
    context text NOT NULL,
    context_version integer DEFAULT 1 NOT NULL,
    pool_version integer DEFAULT 1 NOT NULL,
    daily_count integer DEFAULT 3 NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    model_provider text,
    source_repo_url text,
    project_id uuid,
    pool_status text DEFAULT 'building'::text NOT NULL,
    pool_size integer DEFAULT 0 NOT NULL,
    experiment_history_id uuid DEFAULT uuid_v7() NOT NULL,
    last_recommendation_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    embedder text,
    pool_embedder text,
    computed_for integer,
    sources text[],
    schedule jsonb,
    agent_paused_at timestamp with time zone
);
ALTER TABLE ONLY interest
    ADD CONSTRAINT interest_experiment_history_id_key UNIQUE (experiment_history_id);
ALTER TABLE ONLY interest
    ADD CONSTRAINT interest_pkey PRIMARY KEY (id);
ALTER TABLE interest
    ADD CONSTRAINT interest_valid CHECK (interest_is_valid(interest.*)) NOT VALID;
CREATE UNIQUE INDEX interest_name ON interest USING btree (account_id, lower(name));
CREATE INDEX interest_newest ON interest USING btree (account_id, created_at DESC, id DESC);
CREATE INDEX interest_repo_link ON interest USING btree ("left"(lower(source_repo_url), 256) COLLATE "C") WHERE (source_repo_url IS NOT NULL);
CREATE TRIGGER account_required BEFORE INSERT ON interest FOR EACH ROW EXECUTE FUNCTION account_required();
CREATE TRIGGER agent_paused_audit AFTER UPDATE OF agent_paused_at ON interest FOR EACH ROW WHEN (((old.agent_paused_at IS NULL) AND (new.agent_paused_at IS NOT NULL))) EXECUTE FUNCTION audit_row('agent.paused', 'interest', 'id', 'name', '');
CREATE TRIGGER agent_resumed_audit AFTER UPDATE OF agent_paused_at ON interest FOR EACH ROW WHEN (((old.agent_paused_at IS NOT NULL) AND (new.agent_paused_at IS NULL))) EXECUTE FUNCTION audit_row('agent.resumed', 'interest', 'id', 'name', '');
CREATE TRIGGER digest_interest_changed AFTER UPDATE ON interest FOR EACH ROW WHEN (((((((old.name IS DISTINCT FROM new.name) OR (old.daily_count IS DISTINCT FROM new.daily_count)) OR (old.pool_status IS DISTINCT FROM new.pool_status)) OR (old.context_version IS DISTINCT FROM new.context_version)) OR (old.computed_for IS DISTINCT FROM new.computed_for)) OR (old.created_at IS DISTINCT FROM new.created_at))) EXECUTE FUNCTION digest_interest_changed();
CREATE TRIGGER interest_activated AFTER UPDATE OF is_active ON interest FOR EACH ROW WHEN ((old.is_active <> new.is_active)) EXECUTE FUNCTION interest_active_counted();
CREATE TRIGGER interest_deleted AFTER DELETE ON interest REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION interest_counted();
CREATE TRIGGER interest_deleted_audit AFTER DELETE ON interest FOR EACH ROW EXECUTE FUNCTION audit_row('interest.deleted', 'interest', 'id', 'name', '');
CREATE TRIGGER interest_inserted AFTER INSERT ON interest REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION interest_counted();
CREATE TRIGGER pool_became_ready AFTER UPDATE OF pool_status ON interest FOR EACH ROW WHEN (((new.pool_status = 'ready'::text) AND (old.pool_status <> 'ready'::text))) EXECUTE FUNCTION pool_became_ready();
CREATE TRIGGER pool_dropped AFTER DELETE ON interest REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pool_dropped();
CREATE TRIGGER schedule_changed BEFORE UPDATE OF schedule ON interest FOR EACH ROW WHEN (((new.schedule IS NOT NULL) AND (new.schedule IS DISTINCT FROM old.schedule))) EXECUTE FUNCTION schedule_hold();
CREATE TRIGGER schedule_made BEFORE INSERT ON interest FOR EACH ROW WHEN ((new.schedule IS NOT NULL)) EXECUTE FUNCTION schedule_hold();
CREATE TRIGGER schedule_replan AFTER UPDATE OF schedule ON interest FOR EACH ROW WHEN ((new.schedule IS DISTINCT FROM old.schedule)) EXECUTE FUNCTION schedule_replan();

COMMENT ON COLUMN interest.context_version IS 'rises when the context changes';
COMMENT ON COLUMN interest.pool_version IS 'rises when name or context change';
COMMENT ON COLUMN interest.embedder IS 'the version whose vectors its papers are compared by; NULL: words only';
COMMENT ON COLUMN interest.pool_embedder IS 'the version that svc-search named with the candidates of the pool';
COMMENT ON COLUMN preference_model.embedder IS 'the version that it was fitted to; NULL: words only, or unknown';

CREATE TABLE provisioning (
    interest_id uuid NOT NULL,
    account_id uuid NOT NULL,
    repo text NOT NULL,
    agent text NOT NULL,
    provider text NOT NULL,
    branch text NOT NULL,
    auto_merge boolean NOT NULL,
    task_id uuid NOT NULL,
    default_branch text,
    key_id uuid,
    key_repo text,
    key_expires_at timestamp with time zone,
    model_key_missing boolean DEFAULT false NOT NULL,
    work_branch text,
    workflow_version text,
    commit_sha text,
    pr_number integer,
    pr_url text,
    merged_at timestamp with time zone,
    closed_at timestamp with time zone,
    installation_id uuid,
    dispatched_at timestamp with time zone,
    revoked_at timestamp with time zone,
    app_removed_at timestamp with time zone,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    next_run_date date,
    next_run_at timestamp with time zone,
    last_run_date date,
    renewal_version text,
    proposed_version text,
    renewal_tried_at timestamp with time zone,
    CONSTRAINT provisioning_check CHECK ((((key_id IS NULL) = (key_repo IS NULL)) AND ((key_id IS NULL) = (key_expires_at IS NULL))))
);
ALTER TABLE ONLY provisioning
    ADD CONSTRAINT provisioning_pkey PRIMARY KEY (interest_id);
CREATE INDEX provisioning_by_key ON provisioning USING btree (key_id);
CREATE INDEX provisioning_by_key_repo ON provisioning USING btree (lower(key_repo));
CREATE INDEX provisioning_by_repo ON provisioning USING btree (lower(repo));
CREATE UNIQUE INDEX provisioning_key_repo ON provisioning USING btree (account_id, lower(key_repo)) WHERE (revoked_at IS NULL);
CREATE INDEX provisioning_next_run ON provisioning USING btree (next_run_at NULLS FIRST);
CREATE TRIGGER account_required BEFORE INSERT ON provisioning FOR EACH ROW EXECUTE FUNCTION account_required();
CREATE TRIGGER provisioning_end AFTER DELETE ON provisioning FOR EACH ROW EXECUTE FUNCTION provisioning_end();
CREATE TRIGGER provisioning_hold BEFORE INSERT OR UPDATE OF repo, key_repo ON provisioning FOR EACH ROW EXECUTE FUNCTION provisioning_hold();
CREATE TRIGGER provisioning_started_audit AFTER INSERT OR UPDATE OF task_id ON provisioning FOR EACH ROW EXECUTE FUNCTION audit_row('provisioning.started', 'interest', 'interest_id', 'repo', 'task_id repo agent provider branch auto_merge');
ALTER TABLE ONLY provisioning
    ADD CONSTRAINT provisioning_interest_id_fkey FOREIGN KEY (interest_id) REFERENCES interest(id) ON DELETE CASCADE;

CREATE TABLE paper (
    arxiv_id text NOT NULL,
    asset jsonb NOT NULL,
    abstract text NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    version bigint DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY paper
    ADD CONSTRAINT paper_pkey PRIMARY KEY (arxiv_id);
CREATE TRIGGER paper_revised AFTER UPDATE ON paper REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION paper_revised();
CREATE TRIGGER paper_stays BEFORE DELETE OR TRUNCATE ON paper FOR EACH STATEMENT EXECUTE FUNCTION paper_stays();

CREATE TABLE recommendation (
    id uuid DEFAULT uuid_v7() NOT NULL,
    interest_id uuid NOT NULL,
    account_id uuid NOT NULL,
    arxiv_id text NOT NULL,
    context_version integer NOT NULL,
    relevance_score double precision NOT NULL,
    rank integer NOT NULL,
    reasoning text NOT NULL,
    suggested_experiment text,
    recommended_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT recommendation_rank_check CHECK ((rank > 0)),
    CONSTRAINT recommendation_relevance_score_check CHECK (((relevance_score >= (0)::double precision) AND (relevance_score <= (1)::double precision)))
);
ALTER TABLE ONLY recommendation
    ADD CONSTRAINT recommendation_interest_id_arxiv_id_context_version_key UNIQUE (interest_id, arxiv_id, context_version);
ALTER TABLE ONLY recommendation
    ADD CONSTRAINT recommendation_pkey PRIMARY KEY (id);
CREATE INDEX recommendation_at ON recommendation USING brin (recommended_at);
CREATE INDEX recommendation_of_account ON recommendation USING btree (account_id, recommended_at);
CREATE INDEX recommendation_of_interest ON recommendation USING btree (interest_id, recommended_at);
CREATE TRIGGER digest_recommendation_deleted AFTER DELETE ON recommendation REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION digest_recommendations_changed();
CREATE TRIGGER digest_recommendation_made AFTER INSERT ON recommendation REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION digest_recommendations_changed();
CREATE TRIGGER digest_recommendation_updated AFTER UPDATE ON recommendation REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION digest_recommendations_changed();
CREATE TRIGGER paper_required AFTER INSERT ON recommendation REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION paper_required();
ALTER TABLE ONLY recommendation
    ADD CONSTRAINT recommendation_interest_id_fkey FOREIGN KEY (interest_id) REFERENCES interest(id) ON DELETE CASCADE;

CREATE TABLE feed (
    id uuid DEFAULT uuid_v7() NOT NULL,
    account_id uuid NOT NULL,
    interest_id uuid,
    min_score double precision NOT NULL,
    hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    key_id uuid,
    person_id uuid,
    CONSTRAINT feed_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT feed_min_score_check CHECK (((min_score >= (0)::double precision) AND (min_score <= (1)::double precision)))
);
ALTER TABLE ONLY feed
    ADD CONSTRAINT feed_hash_key UNIQUE (hash);
ALTER TABLE ONLY feed
    ADD CONSTRAINT feed_pkey PRIMARY KEY (id);
CREATE INDEX feed_of_account ON feed USING btree (account_id, id DESC);
CREATE INDEX feed_of_interest ON feed USING btree (interest_id) WHERE (interest_id IS NOT NULL);
CREATE TRIGGER account_required BEFORE INSERT ON feed FOR EACH ROW EXECUTE FUNCTION account_required();
CREATE TRIGGER feed_created_audit AFTER INSERT ON feed FOR EACH ROW EXECUTE FUNCTION audit_row('feed.created', 'feed', 'id', '', 'interest_id min_score');
CREATE TRIGGER feed_deleted_audit AFTER DELETE ON feed FOR EACH ROW EXECUTE FUNCTION audit_row('feed.deleted', 'feed', 'id', '', '');
ALTER TABLE ONLY feed
    ADD CONSTRAINT feed_interest_id_fkey FOREIGN KEY (interest_id) REFERENCES interest(id) ON DELETE CASCADE;

CREATE TABLE preference_model (
    interest_id uuid NOT NULL,
    version integer NOT NULL,
    model bytea NOT NULL,
    fitted_at timestamp with time zone DEFAULT now() NOT NULL,
    examples_at timestamp with time zone DEFAULT now() NOT NULL,
    embedder text,
    facts jsonb
);
ALTER TABLE ONLY preference_model
    ADD CONSTRAINT preference_model_pkey PRIMARY KEY (interest_id);
ALTER TABLE ONLY preference_model
    ADD CONSTRAINT preference_model_interest_id_fkey FOREIGN KEY (interest_id) REFERENCES interest(id) ON DELETE CASCADE;

CREATE TRIGGER account_required BEFORE INSERT ON task FOR EACH ROW EXECUTE FUNCTION account_required();
CREATE TRIGGER pool_failed AFTER UPDATE OF status ON task FOR EACH ROW WHEN (((new.kind = 'pool_build'::text) AND (new.status = 'failed'::text))) EXECUTE FUNCTION pool_failed();
CREATE TRIGGER provision_announce AFTER UPDATE OF status ON task FOR EACH ROW WHEN (((new.kind = 'provision'::text) AND (new.status = ANY (ARRAY['completed'::text, 'failed'::text])))) EXECUTE FUNCTION provision_announce();

CREATE TABLE background (
    is_only boolean DEFAULT true NOT NULL,
    documents integer NOT NULL,
    frequencies bytea NOT NULL,
    arxiv_ids text[] NOT NULL,
    drawn_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT background_documents_check CHECK ((documents > 0)),
    CONSTRAINT background_is_only_check CHECK (is_only)
);
ALTER TABLE ONLY background
    ADD CONSTRAINT background_pkey PRIMARY KEY (is_only);

CREATE TABLE context_source (
    interest_id uuid NOT NULL,
    url text NOT NULL,
    place integer NOT NULL,
    kind text NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    title text,
    body text DEFAULT ''::text NOT NULL,
    characters integer,
    tried_at timestamp with time zone,
    read_at timestamp with time zone,
    error text,
    CONSTRAINT context_source_kind_check CHECK ((kind = ANY (ARRAY['paper'::text, 'repository'::text, 'page'::text]))),
    CONSTRAINT context_source_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'read'::text, 'failed'::text, 'refused'::text]))),
    CONSTRAINT context_source_url_check CHECK ((octet_length(url) <= 2048))
);
ALTER TABLE ONLY context_source
    ADD CONSTRAINT context_source_pkey PRIMARY KEY (interest_id, url);
ALTER TABLE ONLY context_source
    ADD CONSTRAINT context_source_interest_id_fkey FOREIGN KEY (interest_id) REFERENCES interest(id) ON DELETE CASCADE;

CREATE TABLE daily_run (
    day date NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    tasks integer NOT NULL,
    next_account uuid
);
ALTER TABLE ONLY daily_run
    ADD CONSTRAINT daily_run_pkey PRIMARY KEY (day);

CREATE TABLE digest_due (
    endpoint_id uuid NOT NULL,
    account_id uuid NOT NULL,
    local_date date NOT NULL,
    due_at timestamp with time zone NOT NULL,
    settings jsonb NOT NULL
);
ALTER TABLE ONLY digest_due
    ADD CONSTRAINT digest_due_pkey PRIMARY KEY (endpoint_id);
CREATE INDEX digest_due_of_account ON digest_due USING btree (account_id);
CREATE TRIGGER account_skipped BEFORE INSERT ON digest_due FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE TABLE embedder (
    version text NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT embedder_version_check CHECK ((octet_length(version) <= 400))
);
ALTER TABLE ONLY embedder
    ADD CONSTRAINT embedder_pkey PRIMARY KEY (version);

CREATE TABLE experiment (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    version bigint NOT NULL,
    told_at timestamp with time zone NOT NULL,
    is_deleted boolean DEFAULT false NOT NULL,
    name text,
    status text,
    hypothesis text,
    decision text,
    outcome text,
    observed_delta double precision,
    target_metric text,
    pr_status text,
    project_id uuid,
    arxiv_ids text[] NOT NULL,
    decided_at timestamp with time zone,
    pr_status_at timestamp with time zone
);
ALTER TABLE ONLY experiment
    ADD CONSTRAINT experiment_pkey PRIMARY KEY (id);
CREATE INDEX experiment_by_project ON experiment USING btree (account_id, project_id, told_at DESC, id DESC);
CREATE TRIGGER account_skipped BEFORE INSERT ON experiment FOR EACH ROW EXECUTE FUNCTION account_skipped();
CREATE TRIGGER papers_follow AFTER INSERT OR UPDATE OF arxiv_ids ON experiment FOR EACH ROW EXECUTE FUNCTION experiment_papers_follow();

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

CREATE TABLE former_recommendation (
    interest_id uuid NOT NULL,
    arxiv_id text NOT NULL,
    context_version integer NOT NULL,
    account_id uuid NOT NULL,
    recommendation_id uuid NOT NULL
);
ALTER TABLE ONLY former_recommendation
    ADD CONSTRAINT former_recommendation_pkey PRIMARY KEY (interest_id, arxiv_id, context_version);
CREATE INDEX former_recommendation_by_age ON former_recommendation USING btree (recommendation_id);
ALTER TABLE ONLY former_recommendation
    ADD CONSTRAINT former_recommendation_interest_id_fkey FOREIGN KEY (interest_id) REFERENCES interest(id) ON DELETE CASCADE;

CREATE VIEW recommended AS
 SELECT recommendation.interest_id,
    recommendation.account_id,
    recommendation.arxiv_id,
    recommendation.context_version,
    recommendation.id AS recommendation_id,
    recommendation.recommended_at,
    recommendation.rank
   FROM recommendation
UNION ALL
 SELECT former_recommendation.interest_id,
    former_recommendation.account_id,
    former_recommendation.arxiv_id,
    former_recommendation.context_version,
    former_recommendation.recommendation_id,
    NULL::timestamp with time zone AS recommended_at,
    NULL::integer AS rank
   FROM former_recommendation;

CREATE VIEW experiment_of_paper AS
 SELECT r.interest_id,
    e.id,
    e.account_id,
    e.version,
    e.told_at,
    e.is_deleted,
    e.name,
    e.status,
    e.hypothesis,
    e.decision,
    e.outcome,
    e.observed_delta,
    e.target_metric,
    e.pr_status,
    e.project_id,
    e.arxiv_ids
   FROM ((recommended r
     JOIN experiment_paper p ON (((p.account_id = r.account_id) AND (p.arxiv_id = r.arxiv_id))))
     JOIN experiment e ON (((e.id = p.experiment_id) AND (NOT e.is_deleted))));

CREATE TABLE feed_maker_gone (
    account_id uuid NOT NULL,
    person_id uuid NOT NULL,
    key_ids uuid[] NOT NULL,
    gone_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY feed_maker_gone
    ADD CONSTRAINT feed_maker_gone_pkey PRIMARY KEY (account_id, person_id);
CREATE INDEX feed_maker_gone_at ON feed_maker_gone USING btree (gone_at);
CREATE TRIGGER account_skipped BEFORE INSERT ON feed_maker_gone FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE TABLE feedback (
    recommendation_id uuid NOT NULL,
    signal text NOT NULL,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    person_id uuid,
    CONSTRAINT feedback_signal_check CHECK ((signal = ANY (ARRAY['like'::text, 'dislike'::text, 'save'::text, 'dismiss'::text, 'implemented'::text])))
);
ALTER TABLE ONLY feedback
    ADD CONSTRAINT feedback_pkey PRIMARY KEY (recommendation_id, signal);
CREATE TRIGGER digest_feedback_given AFTER INSERT ON feedback REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION digest_feedback_changed();
CREATE TRIGGER digest_feedback_revoked AFTER DELETE ON feedback REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION digest_feedback_changed();
ALTER TABLE ONLY feedback
    ADD CONSTRAINT feedback_recommendation_id_fkey FOREIGN KEY (recommendation_id) REFERENCES recommendation(id) ON DELETE CASCADE;

CREATE TABLE interest_count (
    account_id uuid NOT NULL,
    interests bigint NOT NULL,
    active bigint NOT NULL,
    digest_version bigint DEFAULT 1 NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE ONLY interest_count
    ADD CONSTRAINT interest_count_pkey PRIMARY KEY (account_id);

CREATE VIEW linked_experiment AS
 SELECT i.id AS interest_id,
    e.id,
    e.account_id,
    e.version,
    e.told_at,
    e.is_deleted,
    e.name,
    e.status,
    e.hypothesis,
    e.decision,
    e.outcome,
    e.observed_delta,
    e.target_metric,
    e.pr_status,
    e.project_id,
    e.arxiv_ids
   FROM (interest i
     JOIN experiment e ON (((e.account_id = i.account_id) AND (e.project_id = i.project_id) AND (NOT e.is_deleted))))
UNION
 SELECT experiment_of_paper.interest_id,
    experiment_of_paper.id,
    experiment_of_paper.account_id,
    experiment_of_paper.version,
    experiment_of_paper.told_at,
    experiment_of_paper.is_deleted,
    experiment_of_paper.name,
    experiment_of_paper.status,
    experiment_of_paper.hypothesis,
    experiment_of_paper.decision,
    experiment_of_paper.outcome,
    experiment_of_paper.observed_delta,
    experiment_of_paper.target_metric,
    experiment_of_paper.pr_status,
    experiment_of_paper.project_id,
    experiment_of_paper.arxiv_ids
   FROM experiment_of_paper;

CREATE TABLE paper_revision (
    is_only boolean DEFAULT true NOT NULL,
    revision bigint NOT NULL,
    CONSTRAINT paper_revision_is_only_check CHECK (is_only)
);
ALTER TABLE ONLY paper_revision
    ADD CONSTRAINT paper_revision_pkey PRIMARY KEY (is_only);

CREATE TABLE paper_vector (
    arxiv_id text NOT NULL,
    embedder text NOT NULL,
    vector text NOT NULL,
    scale double precision NOT NULL,
    CONSTRAINT paper_vector_embedder_check CHECK ((octet_length(embedder) <= 400))
);
ALTER TABLE ONLY paper_vector
    ADD CONSTRAINT paper_vector_pkey PRIMARY KEY (arxiv_id, embedder);
CREATE INDEX paper_vector_of_embedder ON paper_vector USING btree (embedder);
CREATE TRIGGER paper_required AFTER INSERT ON paper_vector REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION paper_required();

CREATE TABLE pool_entry (
    interest_id uuid NOT NULL,
    pool_version integer NOT NULL,
    arxiv_id text NOT NULL,
    relevance double precision NOT NULL,
    matched jsonb NOT NULL,
    CONSTRAINT pool_entry_relevance_check CHECK (((relevance >= (0)::double precision) AND (relevance <= (1)::double precision)))
);
ALTER TABLE ONLY pool_entry
    ADD CONSTRAINT pool_entry_pkey PRIMARY KEY (interest_id, pool_version, arxiv_id);
CREATE TRIGGER interest_required AFTER INSERT ON pool_entry REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION interest_required();
CREATE TRIGGER paper_required AFTER INSERT ON pool_entry REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION paper_required();

COMMENT ON TABLE pool_entry IS 'Candidates for an interest. Those of another pool_version than the interest''s are not read.';

CREATE TABLE pool_search (
    interest_id uuid NOT NULL,
    pool_version integer NOT NULL,
    question text NOT NULL,
    cursor text NOT NULL,
    whole_on date NOT NULL
);
ALTER TABLE ONLY pool_search
    ADD CONSTRAINT pool_search_pkey PRIMARY KEY (interest_id);
ALTER TABLE ONLY pool_search
    ADD CONSTRAINT pool_search_interest_id_fkey FOREIGN KEY (interest_id) REFERENCES interest(id) ON DELETE CASCADE;

CREATE TABLE preference_evidence (
    interest_id uuid NOT NULL,
    version integer NOT NULL,
    examples jsonb NOT NULL
);
ALTER TABLE ONLY preference_evidence
    ADD CONSTRAINT preference_evidence_pkey PRIMARY KEY (interest_id);
ALTER TABLE ONLY preference_evidence
    ADD CONSTRAINT preference_evidence_interest_id_fkey FOREIGN KEY (interest_id) REFERENCES interest(id) ON DELETE CASCADE;

CREATE TABLE preference_scores (
    interest_id uuid NOT NULL,
    model_version integer NOT NULL,
    embedder text,
    scoring integer NOT NULL,
    scores bytea NOT NULL
);
ALTER TABLE ONLY preference_scores
    ADD CONSTRAINT preference_scores_pkey PRIMARY KEY (interest_id);
ALTER TABLE ONLY preference_scores
    ADD CONSTRAINT preference_scores_interest_id_fkey FOREIGN KEY (interest_id) REFERENCES interest(id) ON DELETE CASCADE;

CREATE TABLE provision_step (
    task_id uuid NOT NULL,
    "position" smallint NOT NULL,
    name text NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    message text,
    output jsonb DEFAULT '{}'::jsonb NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    CONSTRAINT provision_step_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'completed'::text, 'skipped'::text])))
);
ALTER TABLE ONLY provision_step
    ADD CONSTRAINT provision_step_pkey PRIMARY KEY (task_id, name);
ALTER TABLE ONLY provision_step
    ADD CONSTRAINT provision_step_task_id_fkey FOREIGN KEY (task_id) REFERENCES task(id) ON DELETE CASCADE;

CREATE TABLE recommendation_explanation (
    recommendation_id uuid NOT NULL,
    explanation jsonb NOT NULL
)
PARTITION BY RANGE (recommendation_id);
ALTER TABLE ONLY recommendation_explanation
    ADD CONSTRAINT recommendation_explanation_pkey PRIMARY KEY (recommendation_id);
ALTER TABLE recommendation_explanation
    ADD CONSTRAINT recommendation_explanation_recommendation_id_fkey1 FOREIGN KEY (recommendation_id) REFERENCES recommendation(id) ON DELETE CASCADE;

CREATE TABLE refreshed_interest (
    task_id uuid NOT NULL,
    interest_id uuid NOT NULL,
    recommended integer NOT NULL,
    pool_size integer NOT NULL
);
ALTER TABLE ONLY refreshed_interest
    ADD CONSTRAINT refreshed_interest_pkey PRIMARY KEY (task_id, interest_id);
CREATE INDEX refreshed_interest_of_interest ON refreshed_interest USING btree (interest_id);
ALTER TABLE ONLY refreshed_interest
    ADD CONSTRAINT refreshed_interest_interest_id_fkey FOREIGN KEY (interest_id) REFERENCES interest(id) ON DELETE CASCADE;
ALTER TABLE ONLY refreshed_interest
    ADD CONSTRAINT refreshed_interest_task_id_fkey FOREIGN KEY (task_id) REFERENCES task(id) ON DELETE CASCADE;

CREATE TABLE repository (
    number bigint NOT NULL,
    name text NOT NULL,
    version bigint NOT NULL
);

CREATE TABLE run_outcome (
    account_id uuid NOT NULL,
    url text NOT NULL,
    version bigint NOT NULL,
    stage text NOT NULL,
    interest_id uuid,
    recommendation_id uuid,
    arxiv_id text,
    stage_at timestamp with time zone,
    CONSTRAINT run_outcome_url_check CHECK ((octet_length(url) <= 8192))
);
ALTER TABLE ONLY run_outcome
    ADD CONSTRAINT run_outcome_pkey PRIMARY KEY (account_id, url);
CREATE INDEX run_outcome_link ON run_outcome USING btree ("left"(lower(url), 256) COLLATE "C");
CREATE INDEX run_outcome_of_interest ON run_outcome USING btree (interest_id, arxiv_id) WHERE (interest_id IS NOT NULL);
CREATE INDEX run_outcome_of_recommendation ON run_outcome USING btree (recommendation_id) WHERE (recommendation_id IS NOT NULL);
CREATE INDEX run_outcome_stage_at ON run_outcome USING btree (stage_at) WHERE (stage_at IS NOT NULL);
CREATE TRIGGER account_skipped BEFORE INSERT ON run_outcome FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE VIEW run_signal AS
 SELECT i.id AS interest_id,
    o.arxiv_id,
    o.stage AS signal,
    o.stage_at AS at
   FROM (interest i
     JOIN run_outcome o ON (((o.interest_id = i.id) AND (o.account_id = i.account_id))))
  WHERE ((o.stage = ANY (ARRAY['merged'::text, 'closed'::text])) AND (o.arxiv_id IS NOT NULL))
UNION
 SELECT r.interest_id,
    r.arxiv_id,
    o.stage AS signal,
    o.stage_at AS at
   FROM (recommended r
     JOIN run_outcome o ON (((o.recommendation_id = r.recommendation_id) AND (o.account_id = r.account_id))))
  WHERE ((o.stage = ANY (ARRAY['merged'::text, 'closed'::text])) AND (COALESCE(o.interest_id, r.interest_id) = r.interest_id));

CREATE VIEW signal AS
 SELECT s.interest_id,
    s.arxiv_id,
    s.signal,
    max(s.at) AS at
   FROM ( SELECT r.interest_id,
            r.arxiv_id,
            f.signal,
            f.recorded_at AS at
           FROM (feedback f
             JOIN recommendation r ON ((r.id = f.recommendation_id)))
        UNION ALL
         SELECT e.interest_id,
            paper.arxiv_id,
            given.signal,
            given.at
           FROM (((linked_experiment e
             CROSS JOIN LATERAL ( SELECT x.pr_status_at,
                    x.decided_at
                   FROM experiment x
                  WHERE (x.id = e.id)
                 OFFSET 0) since)
             CROSS JOIN LATERAL unnest(e.arxiv_ids) paper(arxiv_id))
             CROSS JOIN LATERAL ( VALUES ('merged'::text,(e.pr_status = 'merged'::text),COALESCE(since.pr_status_at, e.told_at)), ('closed'::text,(e.pr_status = 'closed'::text),COALESCE(since.pr_status_at, e.told_at)), ('shipped'::text,((e.status = 'shipped'::text) OR (e.outcome = 'ship'::text)),COALESCE(since.decided_at, e.told_at)), ('abandoned'::text,((e.status = ANY (ARRAY['abandoned'::text, 'rejected'::text])) OR (e.outcome = 'abandon'::text)),COALESCE(since.decided_at, e.told_at))) given(signal, is_given, at))
          WHERE given.is_given
        UNION ALL
         SELECT run_signal.interest_id,
            run_signal.arxiv_id,
            run_signal.signal,
            run_signal.at
           FROM run_signal) s
  GROUP BY s.interest_id, s.arxiv_id, s.signal;

CREATE TABLE workflow_version (
    version text NOT NULL,
    seen_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY workflow_version
    ADD CONSTRAINT workflow_version_pkey PRIMARY KEY (version);

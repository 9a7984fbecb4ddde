-- replaces: 0012_kept_plans and 0001_project 0002_experiment 0003_history 0004_implementation 0005_project_members 0006_account
-- replaces: 0007_bounds 0008_repo_limit 0009_etag 0010_run 0011_evaluation 0014_limited_keys
--
-- Projects, experiments, and how they are implemented. An index row holds 2,704 bytes, hence the bounds of indexed texts in bytes: the
-- API allows fewer characters, of four bytes each.

-- What experiments can be gathered in.
CREATE TABLE project (
    id          uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id  uuid NOT NULL,
    name        text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    description text,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT project_of_account UNIQUE (account_id, id),
    CONSTRAINT project_name_bytes CHECK (octet_length(name) <= 800)
);

CREATE UNIQUE INDEX project_name ON project (account_id, name);
CREATE TRIGGER account_required BEFORE INSERT ON project FOR EACH ROW EXECUTE FUNCTION account_required();

-- Experiments. The columns bear the names of the API's members, so that a body can be read as a row.
--
--   version          rises by one with each change; the ETag
--   source_type      where the idea is from; with source_ref and created_via given once and for all
--   linked_resources [{"type", "id", "title", "url"}]
--   pipeline_status  how far its implementation is; the attempts are in `implementation`
CREATE TABLE experiment (
    id                 uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id         uuid NOT NULL,
    version            bigint NOT NULL DEFAULT 1,
    name               text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 500),
    status             text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'running', 'complete', 'analyzing',
                                                            'shipped', 'iterating', 'rejected', 'abandoned')),
    hypothesis         text,
    outcome            text CHECK (outcome IN ('ship', 'iterate', 'abandon')),
    decision           text,
    observed_delta     double precision CHECK (observed_delta BETWEEN '-1.7976931348623157e308' AND '1.7976931348623157e308'),
    delta_confidence   text CHECK (delta_confidence IN ('significant', 'inconclusive', 'not_tested')),
    target_metric      text,
    tags               text[] NOT NULL DEFAULT '{}' CHECK (cardinality(tags) <= 32),
    pr_url             text,
    pr_status          text,
    external_ticket_id text,
    ticket_source      text,
    ticket_url         text,
    project_id         uuid,
    source_type        text NOT NULL DEFAULT 'manual' CHECK (source_type IN ('arxiv_paper', 'code_repo', 'ticket', 'manual')),
    source_ref         text,
    launch_context     jsonb CHECK (jsonb_typeof(launch_context) = 'object'),
    ab_test_config     jsonb CHECK (jsonb_typeof(ab_test_config) = 'object'),
    ab_test_results    jsonb CHECK (jsonb_typeof(ab_test_results) = 'object'),
    linked_resources   jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(linked_resources) = 'array'),
    created_via        text NOT NULL DEFAULT 'api',
    pipeline_status    text NOT NULL DEFAULT 'idle' CHECK (pipeline_status IN ('idle', 'queued', 'assembling_context',
                                 'dispatching', 'running', 'pr_opened', 'completed', 'failed', 'cancelled')),
    branch_name        text,
    created_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT external_ticket_id_bytes CHECK (octet_length(external_ticket_id) <= 1020),
    CONSTRAINT ticket_source_bytes CHECK (octet_length(ticket_source) <= 256),
    CONSTRAINT created_via_bytes CHECK (octet_length(created_via) <= 256),
    CONSTRAINT experiment_project FOREIGN KEY (account_id, project_id) REFERENCES project (account_id, id)
);

-- One for each filter of the list, in the list's order: ids are version 7, so the newest has the greatest.
CREATE INDEX experiment_newest ON experiment (account_id, id DESC);
CREATE INDEX experiment_by_status ON experiment (account_id, status, id DESC);
CREATE INDEX experiment_by_project ON experiment (account_id, project_id, id DESC);
CREATE INDEX experiment_by_via ON experiment (account_id, created_via, id DESC);
CREATE INDEX experiment_by_ticket ON experiment (account_id, external_ticket_id, id DESC)
    WHERE external_ticket_id IS NOT NULL;
CREATE INDEX experiment_by_ticket_source ON experiment (account_id, ticket_source, id DESC)
    WHERE ticket_source IS NOT NULL;
CREATE INDEX experiment_actionable ON experiment (account_id, id DESC) INCLUDE (project_id)
    WHERE launch_context IS NOT NULL AND pr_url IS NULL;

CREATE TRIGGER account_required BEFORE INSERT ON experiment FOR EACH ROW EXECUTE FUNCTION account_required();

-- What was changed about experiments, when and by whom. A row a changed field; ascending ids are the order of the changes.
CREATE TABLE experiment_history (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    experiment_id uuid NOT NULL REFERENCES experiment ON DELETE CASCADE,
    at            timestamptz NOT NULL,
    field         text NOT NULL,
    was           jsonb NOT NULL,
    becomes       jsonb NOT NULL,
    by_key        uuid -- null: the service itself
);

CREATE INDEX experiment_history_newest ON experiment_history (experiment_id, id DESC);

-- A row an attempt at implementing an experiment: of an agent by itself, or a run on the server.
--
--   task_id       of the run; null: an agent works by itself
--   repo          the target repository, as the code host writes it; null: the attempt is no run
--   brief         what the agent is to do, Markdown
--   work_branch   the branch with the brief, from which the agent starts
--   run_id        of the workflow run that was dispatched, if the code host told it; run_url: its page
--   deadline_at   when the run fails without a report or a pull request; null: not dispatched yet
--   check_at      when the code host is asked next
--   pr_number     the pull request of the run; told_at: when the code host last changed it
CREATE TABLE implementation (
    experiment_id uuid NOT NULL REFERENCES experiment ON DELETE CASCADE,
    attempt       int NOT NULL CHECK (attempt > 0),
    task_id       uuid,
    started_at    timestamptz NOT NULL,
    finished_at   timestamptz,
    error         text,
    repo          text,
    brief         text,
    work_branch   text,
    run_id        bigint,
    run_url       text,
    dispatched_at timestamptz,
    deadline_at   timestamptz,
    check_at      timestamptz,
    pr_number     integer,
    told_at       timestamptz,
    PRIMARY KEY (experiment_id, attempt)
);

CREATE UNIQUE INDEX implementation_task ON implementation (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX implementation_repo ON implementation (lower(repo)) WHERE repo IS NOT NULL;
CREATE INDEX implementation_check ON implementation (check_at) WHERE check_at IS NOT NULL AND finished_at IS NULL;

-- What agents reported, each text once in an attempt.
CREATE TABLE report (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    experiment_id uuid NOT NULL,
    attempt       int NOT NULL,
    digest        bytea NOT NULL, -- SHA-256 of the report as it came
    summary       text,
    artifacts     jsonb,
    by_key        uuid,
    at            timestamptz NOT NULL,
    UNIQUE (experiment_id, attempt, digest),
    FOREIGN KEY (experiment_id, attempt) REFERENCES implementation ON DELETE CASCADE
);

CREATE INDEX report_newest ON report (experiment_id, id DESC);

-- The steps of a run. The last, `wait`, lasts until a report, the code host or the deadline ends it.
CREATE TABLE implementation_step (
    experiment_id uuid NOT NULL,
    attempt       int NOT NULL,
    position      smallint NOT NULL,
    name          text NOT NULL,
    status        text NOT NULL DEFAULT 'pending'
                  CHECK (status IN ('pending', 'running', 'completed', 'skipped', 'failed')),
    tries         integer NOT NULL DEFAULT 0,
    message       text,
    started_at    timestamptz,
    finished_at   timestamptz,
    PRIMARY KEY (experiment_id, attempt, name),
    FOREIGN KEY (experiment_id, attempt) REFERENCES implementation ON DELETE CASCADE
);

-- replaces: 0018_bounds and 0001_run 0002_report 0003_list 0004_deliverable 0005_workflow 0006_installation 0007_fleet_report
-- replaces: 0008_inbox 0009_run_find 0010_code_host_state 0011_account 0012_report_figures 0013_footprint 0014_runs_tell
-- replaces: 0015_list 0016_report_failures 0017_former 0023_run_status_told
--
-- Runs of agents, as their telemetry tells of them.
--
-- A run is known by account, repository (compared without case) and the text of its run_id: 17 and "17" are one run.
-- The rows are partitioned by the month in which the run was first heard of; `run_key` says which row is the run's.
--
-- Several reports of one run are merged, and the outcome does not depend on the order in which they arrive: each report
-- has a stamp (run_stamp()), and each member of `record` is the one of the report with the newest stamp
-- that has it.

CREATE TABLE run_key (
    account_id uuid NOT NULL,
    repo_key   text NOT NULL CHECK (repo_key = lower(repo_key) AND octet_length(repo_key) <= 600),
    run_key    text NOT NULL CHECK (octet_length(run_key) <= 512),
    id         uuid NOT NULL,
    first_at   timestamptz NOT NULL,
    PRIMARY KEY (account_id, repo_key, run_key)
);

--   repo         as the first report wrote it
--   run_id       as it came: a JSON number or string
--   first_at     when the run was first heard of
--   changed_at   when it last changed
--   at           when it started, if it told that; else first_at. Lists are in this order
--   record       the members that lists show, merged. A null is a member that a later report cleared
--   reported_at  the newest stamp
--   older        {"member": stamp} for members that are older than reported_at; null: none is. Stamps in microseconds
--                since 1970
--   host_*       what the code host told of the workflow run: `running` or `ended`, how, and when that was. A run that ended
--                and did not report its end has failed
-- The others are members of `record` that lists and reports filter and add up by.
CREATE TABLE run (
    id            uuid NOT NULL,
    account_id    uuid NOT NULL,
    repo_key      text NOT NULL,
    repo          text NOT NULL,
    run_id        jsonb NOT NULL,
    first_at      timestamptz NOT NULL,
    changed_at    timestamptz NOT NULL,
    at            timestamptz NOT NULL,
    finished_at   timestamptz,
    status        text,
    outcome_kind  text NOT NULL,
    agent         text,
    interest_id   text,
    arxiv_id      text,
    cost_usd      numeric,
    input_tokens  bigint, -- null: unknown
    output_tokens bigint,
    cause         text, -- of a failure, in words without numbers: equal for equal failures (run_cause)
    artifact_url  text,
    record        jsonb NOT NULL,
    reported_at   bigint NOT NULL,
    older         jsonb,
    host_state    text CHECK (host_state IN ('running', 'ended')),
    host_outcome  text,
    host_told_at  timestamptz,
    PRIMARY KEY (id, first_at)
) PARTITION BY RANGE (first_at);

-- Members that only the detail shows and that are large: selection_rejected, candidate_enrichment and their like.
CREATE TABLE run_detail (
    id          uuid NOT NULL,
    account_id  uuid NOT NULL,
    first_at    timestamptz NOT NULL,
    detail      jsonb NOT NULL,
    reported_at bigint NOT NULL, -- this and the next as in `run`
    older       jsonb,
    PRIMARY KEY (id, first_at)
) PARTITION BY RANGE (first_at);

CREATE INDEX run_newest ON run (account_id, at DESC, id DESC);
CREATE INDEX run_by_repo ON run (account_id, repo_key, at DESC, id DESC);
CREATE INDEX run_by_outcome ON run (account_id, outcome_kind, at DESC, id DESC);
CREATE INDEX run_by_interest ON run (account_id, interest_id, at DESC, id DESC) WHERE interest_id IS NOT NULL;
CREATE INDEX run_by_agent ON run (account_id, agent, at DESC, id DESC) WHERE agent IS NOT NULL;
CREATE INDEX run_failed ON run (account_id, at) INCLUDE (repo_key, cause) WHERE outcome_kind = 'failed';
CREATE INDEX run_by_artifact ON run (account_id, artifact_url) WHERE artifact_url IS NOT NULL;
CREATE INDEX run_by_paper ON run (account_id, arxiv_id) WHERE arxiv_id IS NOT NULL;

-- Rows that no monthly partition takes, so that a report is never refused for the lack of one.
CREATE TABLE run_default PARTITION OF run DEFAULT;

CREATE TABLE run_detail_default PARTITION OF run_detail DEFAULT;

-- Make the partitions of the months from `day`'s month on, as many as `months`. The default partitions are locked
-- meanwhile; they are empty unless this was not called for a month. A new partition waits for what reads the table, and all that
-- comes later waits for it: not longer than a second. It is made weeks before it is needed.
CREATE FUNCTION run_partitions_make(day date, months int) RETURNS int LANGUAGE plpgsql
SET lock_timeout = '1s' AS $$
DECLARE
    month date := date_trunc('month', day)::date;
    parent text;
    made int := 0;
BEGIN
    FOR i IN 1..months LOOP
        FOREACH parent IN ARRAY ARRAY['run', 'run_detail'] LOOP
            IF to_regclass(parent || to_char(month, '_YYYYMM')) IS NULL THEN
                EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
                               parent || to_char(month, '_YYYYMM'), parent, month::timestamp AT TIME ZONE 'UTC',
                               (month + interval '1 month') AT TIME ZONE 'UTC');
                made := made + 1;
            END IF;
        END LOOP;
        month := month + interval '1 month';
    END LOOP;
    RETURN made;
END $$;

SELECT run_partitions_make((now() AT TIME ZONE 'UTC')::date, 3);

-- What the runs of a day add up to, for reports. The days of one repository stand together: every reader names the repositories,
-- those that are asked for, or all of the account (run_repo). A day is that of run.at, in UTC. It is equal to the rows of `run` at the
-- end of each transaction (run/sums.fn.sql).
--
--   cost_runs, token_runs  of `runs`, those that told their cost, or their tokens; the sums are over these
--   *_passed, *_stopped  how often a gate let a run pass, and how often it stopped one (gate_verdict)
CREATE TABLE run_day (
    account_id          uuid NOT NULL,
    day                 date NOT NULL,
    repo_key            text NOT NULL,
    runs                integer NOT NULL DEFAULT 0,
    pull_requests       integer NOT NULL DEFAULT 0,
    issues              integer NOT NULL DEFAULT 0,
    branches            integer NOT NULL DEFAULT 0,
    skipped             integer NOT NULL DEFAULT 0,
    failed              integer NOT NULL DEFAULT 0,
    running             integer NOT NULL DEFAULT 0,
    other               integer NOT NULL DEFAULT 0,
    cost_usd            numeric NOT NULL DEFAULT 0,
    cost_runs           integer NOT NULL DEFAULT 0,
    input_tokens        bigint NOT NULL DEFAULT 0,
    output_tokens       bigint NOT NULL DEFAULT 0,
    token_runs          integer NOT NULL DEFAULT 0,
    preflight_passed    integer NOT NULL DEFAULT 0,
    preflight_stopped   integer NOT NULL DEFAULT 0,
    lint_passed         integer NOT NULL DEFAULT 0,
    lint_stopped        integer NOT NULL DEFAULT 0,
    test_passed         integer NOT NULL DEFAULT 0,
    test_stopped        integer NOT NULL DEFAULT 0,
    integration_passed  integer NOT NULL DEFAULT 0,
    integration_stopped integer NOT NULL DEFAULT 0,
    license_passed      integer NOT NULL DEFAULT 0,
    license_stopped     integer NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, repo_key, day)
);

-- What the runs of a repository add up to, and its last run: the one that started last. Kept as run_day is.
--
--   repo  as the first report wrote it
CREATE TABLE run_repo (
    account_id    uuid NOT NULL,
    repo_key      text NOT NULL,
    repo          text NOT NULL,
    runs          integer NOT NULL,
    pull_requests integer NOT NULL,
    issues        integer NOT NULL,
    branches      integer NOT NULL,
    skipped       integer NOT NULL,
    failed        integer NOT NULL,
    running       integer NOT NULL,
    other         integer NOT NULL,
    last_at       timestamptz NOT NULL,
    last_id       uuid NOT NULL,
    last_first_at timestamptz NOT NULL, -- with last_id the key of `run`
    last_outcome  text NOT NULL,
    last_status   text,
    PRIMARY KEY (account_id, repo_key)
);

-- How many runs of a repository an agent had, by outcome. Kept as run_repo is.
CREATE TABLE run_agent (
    account_id   uuid NOT NULL,
    agent        text NOT NULL,
    repo_key     text NOT NULL,
    outcome_kind text NOT NULL,
    runs         integer NOT NULL,
    PRIMARY KEY (account_id, agent, repo_key, outcome_kind)
);

-- A run before and after a change; `was` is null when it is new.
CREATE TYPE run_change AS (was run, became run);

-- Finding a run by what a user has at hand: its id, or the link of what it opened.
CREATE INDEX run_key_by_id ON run_key (account_id, run_key);

-- What was said about a run: texts that are made once for a state of the run and then kept.
--
--   kind     `analysis` or `digest`
--   version  the state of the run that it was said about (run_version)
CREATE TABLE run_text (
    run        uuid NOT NULL,
    kind       text NOT NULL CHECK (kind IN ('analysis', 'digest')),
    account_id uuid NOT NULL,
    version    text NOT NULL,
    body       jsonb NOT NULL,
    made_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run, kind)
);

CREATE INDEX run_text_account ON run_text (account_id);
CREATE TRIGGER account_required BEFORE INSERT ON run_text FOR EACH ROW EXECUTE FUNCTION account_required();

-- ---- What runs opened ----

-- What runs opened, pull requests and issues, and what became of them.
--
-- That a run opened one is known from its telemetry. What became of it is known from the code host, whose events name no
-- account: they are kept apart, in `code_host_item`, and are shown only to accounts that own the repository
-- (`owned_repo`). Either may arrive first.

-- Repositories that an account owns, as provisioning or the code host has said: the automation key of a run carries it.
-- Anybody may name a repository in a key of his own, which proves nothing.
CREATE TABLE owned_repo (
    account_id uuid NOT NULL,
    repo_key   text NOT NULL CHECK (repo_key = lower(repo_key) AND octet_length(repo_key) <= 600),
    since      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, repo_key)
);

CREATE INDEX owned_repo_accounts ON owned_repo (repo_key);
CREATE TRIGGER account_skipped BEFORE INSERT ON owned_repo FOR EACH ROW EXECUTE FUNCTION account_skipped();

-- Whoever adds an owner and whoever tells of the repository wait for each other, so that neither misses what the other adds.
CREATE TABLE repo_guard (
    repo_key text PRIMARY KEY CHECK (repo_key = lower(repo_key) AND octet_length(repo_key) <= 600)
);

-- A pull request or issue as the code host's events tell of it. A row without `state` only holds the place, so that an
-- event and a report that arrive at the same time wait for each other.
--
--   state      by the event that happened last, `told_at`, in whatever order they arrive
--   opened_at  the earliest that was told; closed_at the latest
CREATE TABLE code_host_item (
    repo_key  text NOT NULL CHECK (repo_key = lower(repo_key) AND octet_length(repo_key) <= 600),
    kind      text NOT NULL CHECK (kind IN ('pull_request', 'issue')),
    number    bigint NOT NULL,
    state     text CHECK (state IN ('open', 'closed', 'merged')),
    opened_at timestamptz,
    closed_at timestamptz,
    told_at   timestamptz,
    PRIMARY KEY (repo_key, kind, number)
);

--   run_*      the earliest run that named it
--   opened_at  as the code host said, else when that run ended
--   stage      `open` until the code host says otherwise
--   closed_at  also of a merged one
--   interest_id, recommendation_id, arxiv_id  what the run said that it was made for
CREATE TABLE deliverable (
    account_id        uuid NOT NULL,
    url               text NOT NULL,
    kind              text NOT NULL CHECK (kind IN ('pull_request', 'issue', 'other')),
    repo_key          text NOT NULL,
    repo              text NOT NULL,
    number            bigint,
    run_id            jsonb NOT NULL,
    run_at            timestamptz NOT NULL,
    opened_at         timestamptz NOT NULL,
    stage             text NOT NULL DEFAULT 'open' CHECK (stage IN ('open', 'closed', 'merged')),
    closed_at         timestamptz,
    interest_id       text,
    recommendation_id text,
    arxiv_id          text,
    PRIMARY KEY (account_id, url)
);

CREATE INDEX deliverable_newest ON deliverable (account_id, opened_at DESC, url) INCLUDE (repo_key, kind, stage);
CREATE INDEX deliverable_closed ON deliverable (account_id, closed_at) INCLUDE (repo_key, kind, stage, opened_at)
    WHERE closed_at IS NOT NULL;
CREATE INDEX deliverable_item ON deliverable (repo_key, kind, number);
CREATE INDEX deliverable_open ON deliverable (account_id, opened_at) WHERE stage = 'open' AND kind <> 'other';
CREATE INDEX deliverable_merged ON deliverable (account_id, closed_at) INCLUDE (repo_key, opened_at)
    WHERE stage = 'merged' AND kind = 'pull_request';

-- What becomes of a deliverable goes out on events.runs: what it is, what it was made for, and its stage, which is
-- `withdrawn` when no run names it any more.
--
--   version  rises with each event about the same link
CREATE SEQUENCE deliverable_version;

-- ---- Agents, the inbox, and what was asked of the code host ----

-- Agents that were provisioned on a repository; svc-interests records them. A revoked one stays.
--
--   key_id             of the automation key that the agent uses
--   setup_url          the pull request that brings the agent's workflow; null: nothing is left to merge
--   model_key_missing  the account has not connected a model provider that the agent could use
CREATE TABLE installation (
    id                uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id        uuid NOT NULL,
    repo_key          text NOT NULL CHECK (repo_key = lower(repo_key) AND octet_length(repo_key) <= 600),
    repo              text NOT NULL,
    agent             text NOT NULL,
    provider          text,
    interest_id       uuid,
    key_id            uuid NOT NULL,
    setup_url         text,
    model_key_missing boolean NOT NULL DEFAULT false,
    status            text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'revoked')),
    installed_at      timestamptz NOT NULL DEFAULT now(),
    revoked_at        timestamptz,
    CHECK ((status = 'revoked') = (revoked_at IS NOT NULL))
);

CREATE UNIQUE INDEX installation_active ON installation (account_id, repo_key, interest_id) NULLS NOT DISTINCT
    WHERE status = 'active';
CREATE INDEX installation_newest ON installation (account_id, id DESC);
CREATE INDEX installation_by_repo ON installation (account_id, repo_key);
CREATE INDEX installation_by_key ON installation (key_id);
CREATE TRIGGER account_required BEFORE INSERT ON installation FOR EACH ROW EXECUTE FUNCTION account_required();

-- When a run started, and how it ended, for the report.
CREATE TYPE run_end AS (at timestamptz, outcome text, status text);

-- Items of the inbox (inbox/inbox.fn.sql) that were archived, each for the account.
CREATE TABLE inbox_archived (
    account_id  uuid NOT NULL,
    item        uuid NOT NULL,
    archived_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, item)
);
CREATE TRIGGER account_required BEFORE INSERT ON inbox_archived FOR EACH ROW EXECUTE FUNCTION account_required();

-- When the newest workflow run of a repository was last asked for, and what the code host said then: `told` as
-- svc-integrations shows a run, JSON null when there is none. The row without an account is that of the accounts that own
-- the repository (owned_repo), for whom it is asked once; any other account has a row of its own, without an answer.
CREATE TABLE run_status (
    repo_key   text NOT NULL CHECK (repo_key = lower(repo_key) AND octet_length(repo_key) <= 600),
    account_id uuid,
    asked_at   timestamptz,
    told       jsonb,
    told_at    timestamptz,
    UNIQUE NULLS NOT DISTINCT (repo_key, account_id)
);

CREATE INDEX run_status_account ON run_status (account_id);
CREATE TRIGGER account_skipped BEFORE INSERT ON run_status FOR EACH ROW EXECUTE FUNCTION account_skipped();

-- When an account's repository was last fetched from the code host.
--
--   tried_at    when fetching it last began, so that one that cannot be fetched does not stay the first
--   fetched_at  when fetching it last began that came to its end
CREATE TABLE repo_fetch (
    account_id uuid NOT NULL,
    repo_key   text NOT NULL CHECK (repo_key = lower(repo_key) AND octet_length(repo_key) <= 600),
    tried_at   timestamptz NOT NULL,
    fetched_at timestamptz,
    PRIMARY KEY (account_id, repo_key)
);
CREATE TRIGGER account_skipped BEFORE INSERT ON repo_fetch FOR EACH ROW EXECUTE FUNCTION account_skipped();

-- Runs of agents, as their telemetry tells of them.
--
-- A run is known by account, repository (compared without case) and the text of its run_id: 17 and "17" are one run.
-- The rows are partitioned by the month in which the run was first heard of; `run_key` says which row is the run's.
--
-- Several reports of one run are merged, and the outcome does not depend on the order in which they arrive: each report
-- has a stamp (run_stamp() in 0002_report.sql), and each member of `record` is the one of the report with the newest stamp
-- that has it.

-- What became of a run, by its status; a run without a status is running until it is known to have finished.
CREATE FUNCTION outcome_kind(status text, has_finished boolean DEFAULT false) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN status IS NULL THEN CASE WHEN has_finished THEN 'other' ELSE 'running' END
    WHEN starts_with(status, 'pr_opened') THEN 'pull_request'
    WHEN starts_with(status, 'issue_opened') THEN 'issue'
    WHEN starts_with(status, 'branch_pushed') THEN 'branch'
    WHEN starts_with(status, 'skipped_') OR starts_with(status, 'lead_captured') OR status = 'recommended' THEN 'skipped'
    WHEN starts_with(status, 'aborted_') OR starts_with(status, 'rejected_') OR status IN ('error', 'failed')
         OR right(status, 7) = '_failed' THEN 'failed'
    WHEN status IN ('queued', 'dispatched', 'running') THEN 'running'
    ELSE 'other' END;

CREATE TABLE run_key (
    account_id uuid NOT NULL,
    repo_key   text NOT NULL CHECK (repo_key = lower(repo_key) AND octet_length(repo_key) <= 600),
    run_key    text NOT NULL CHECK (octet_length(run_key) <= 512),
    id         uuid NOT NULL,
    first_at   timestamptz NOT NULL,
    PRIMARY KEY (account_id, repo_key, run_key)
);

CREATE TRIGGER account_required BEFORE INSERT ON run_key FOR EACH ROW EXECUTE FUNCTION account_required();

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
-- meanwhile; they are empty unless this was not called for a month.
CREATE FUNCTION run_partitions_make(day date, months int) RETURNS int LANGUAGE plpgsql AS $$
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

-- What the runs of a day add up to, for reports. A day is that of run.at, in UTC. The trigger run_count keeps it equal to
-- the rows of `run`, in the same transaction.
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
    PRIMARY KEY (account_id, day, repo_key)
);

-- What a gate decided, by the word that the agent reported: 1 it let the run pass, -1 it stopped the run, 0 unknown.
CREATE FUNCTION gate_verdict(word text) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN lower(word) IN ('pass', 'passed', 'ok', 'success', 'clean', 'green', 'proceed', 'allow', 'allowed', 'compatible',
                         'true') THEN 1
    WHEN lower(word) IN ('fail', 'failed', 'failure', 'error', 'block', 'blocked', 'reject', 'rejected', 'abort', 'aborted',
                         'stop', 'red', 'incompatible', 'false') THEN -1
    ELSE 0 END;

-- What one run adds to its day, or with `sign` -1 takes away. In PL/pgSQL, as all that runs for each report: the plan of an
-- SQL function with its own FROM is made anew for each call.
CREATE FUNCTION run_day_of(r run, sign int) RETURNS run_day LANGUAGE plpgsql STABLE AS $$
DECLARE
    preflight int := gate_verdict(r.record ->> 'preflight_decision');
    lint int := gate_verdict(r.record ->> 'lint_status');
    test int := gate_verdict(r.record ->> 'test_status');
    integration int := gate_verdict(r.record ->> 'test_integration_gate');
    license int := gate_verdict(r.record ->> 'license_compat');
BEGIN
    RETURN ROW(
        r.account_id, (r.at AT TIME ZONE 'UTC')::date, r.repo_key, sign,
        sign * (r.outcome_kind = 'pull_request')::int, sign * (r.outcome_kind = 'issue')::int,
        sign * (r.outcome_kind = 'branch')::int, sign * (r.outcome_kind = 'skipped')::int,
        sign * (r.outcome_kind = 'failed')::int, sign * (r.outcome_kind = 'running')::int,
        sign * (r.outcome_kind = 'other')::int,
        sign * coalesce(r.cost_usd, 0), sign * (r.cost_usd IS NOT NULL)::int,
        sign * coalesce(r.input_tokens, 0), sign * coalesce(r.output_tokens, 0),
        sign * (coalesce(r.input_tokens, r.output_tokens) IS NOT NULL)::int,
        sign * (preflight = 1)::int, sign * (preflight = -1)::int, sign * (lint = 1)::int, sign * (lint = -1)::int,
        sign * (test = 1)::int, sign * (test = -1)::int, sign * (integration = 1)::int, sign * (integration = -1)::int,
        sign * (license = 1)::int, sign * (license = -1)::int)::run_day;
END $$;

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

CREATE FUNCTION run_day_add(part run_day) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO run_day AS d SELECT part.*
    ON CONFLICT (account_id, day, repo_key) DO UPDATE SET
        runs = d.runs + excluded.runs, pull_requests = d.pull_requests + excluded.pull_requests,
        issues = d.issues + excluded.issues, branches = d.branches + excluded.branches,
        skipped = d.skipped + excluded.skipped, failed = d.failed + excluded.failed,
        running = d.running + excluded.running, other = d.other + excluded.other,
        cost_usd = d.cost_usd + excluded.cost_usd, cost_runs = d.cost_runs + excluded.cost_runs,
        input_tokens = d.input_tokens + excluded.input_tokens,
        output_tokens = d.output_tokens + excluded.output_tokens, token_runs = d.token_runs + excluded.token_runs,
        preflight_passed = d.preflight_passed + excluded.preflight_passed,
        preflight_stopped = d.preflight_stopped + excluded.preflight_stopped,
        lint_passed = d.lint_passed + excluded.lint_passed, lint_stopped = d.lint_stopped + excluded.lint_stopped,
        test_passed = d.test_passed + excluded.test_passed, test_stopped = d.test_stopped + excluded.test_stopped,
        integration_passed = d.integration_passed + excluded.integration_passed,
        integration_stopped = d.integration_stopped + excluded.integration_stopped,
        license_passed = d.license_passed + excluded.license_passed,
        license_stopped = d.license_stopped + excluded.license_stopped;
END $$;

-- Add up the days that an inserted or changed run belongs to, the earlier one first: all lock the days in this order.
CREATE FUNCTION run_count() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    added run_day := run_day_of(NEW, 1);
    removed run_day;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        removed := run_day_of(OLD, -1);
        IF added = run_day_of(OLD, 1) THEN
            RETURN NULL;
        ELSIF removed.day <= added.day THEN
            PERFORM run_day_add(removed);
            removed := NULL;
        END IF;
    END IF;
    PERFORM run_day_add(added);
    IF removed.account_id IS NOT NULL THEN
        PERFORM run_day_add(removed);
    END IF;
    RETURN NULL;
END $$;

-- Add up the repository of an inserted or changed run, and see whether it is the last one.
CREATE FUNCTION run_count_repo() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    now_is text := NEW.outcome_kind;
    was text := CASE WHEN TG_OP = 'UPDATE' THEN OLD.outcome_kind ELSE '' END;
    last run;
BEGIN
    INSERT INTO run_repo AS s VALUES (
        NEW.account_id, NEW.repo_key, NEW.repo, (was = '')::int,
        (now_is = 'pull_request')::int - (was = 'pull_request')::int, (now_is = 'issue')::int - (was = 'issue')::int,
        (now_is = 'branch')::int - (was = 'branch')::int, (now_is = 'skipped')::int - (was = 'skipped')::int,
        (now_is = 'failed')::int - (was = 'failed')::int, (now_is = 'running')::int - (was = 'running')::int,
        (now_is = 'other')::int - (was = 'other')::int, NEW.at, NEW.id, NEW.first_at, now_is, NEW.status)
    ON CONFLICT (account_id, repo_key) DO UPDATE SET
        runs = s.runs + excluded.runs, pull_requests = s.pull_requests + excluded.pull_requests,
        issues = s.issues + excluded.issues, branches = s.branches + excluded.branches,
        skipped = s.skipped + excluded.skipped, failed = s.failed + excluded.failed,
        running = s.running + excluded.running, other = s.other + excluded.other;
    IF TG_OP = 'UPDATE' AND NEW.at < OLD.at THEN
        -- It was perhaps the last one.
        SELECT * INTO last FROM run r WHERE r.account_id = NEW.account_id AND r.repo_key = NEW.repo_key
        ORDER BY r.at DESC, r.id DESC LIMIT 1;
    ELSE
        last := NEW;
    END IF;
    UPDATE run_repo s SET last_at = last.at, last_id = last.id, last_first_at = last.first_at,
        last_outcome = last.outcome_kind, last_status = last.status
    WHERE s.account_id = NEW.account_id AND s.repo_key = NEW.repo_key
      AND ((last.at, last.id) >= (s.last_at, s.last_id) OR (TG_OP = 'UPDATE' AND NEW.at < OLD.at));
    RETURN NULL;
END $$;

CREATE TRIGGER run_count_repo AFTER INSERT OR UPDATE OF outcome_kind, status, at ON run
    FOR EACH ROW EXECUTE FUNCTION run_count_repo();
CREATE TRIGGER run_count AFTER INSERT OR UPDATE ON run FOR EACH ROW EXECUTE FUNCTION run_count();

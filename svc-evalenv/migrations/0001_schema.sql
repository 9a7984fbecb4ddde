-- replaces: 0011_report and 0001_template 0002_queue 0003_build 0004_run 0005_result 0006_account 0007_worker 0008_running
-- replaces: 0009_cancelled 0010_environment
--
-- Templates of evaluations, and the builds and runs that workers do.

-- SHA-256 of a value in hex; jsonb has one form for what can be written in several.
CREATE FUNCTION json_digest(value jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN encode(sha256(convert_to(value::text, 'UTF8')), 'hex');

-- How something is evaluated, for runs to use again and again.
--
--   spec     {"image" or "containerfile", "command", "env", "resources", "metrics", "dataset"}
--   digest   SHA-256 of the spec, in hex: equal specs have equal digests, however they were written
--   version  rises with every change
--   secret   of the webhooks that deliver results, sealed (libcommon/vault); null: they need none
CREATE TABLE template (
    id          uuid PRIMARY KEY,
    account_id  uuid NOT NULL,
    name        text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    description text,
    spec        jsonb NOT NULL CHECK (jsonb_typeof(spec) = 'object'),
    digest      text GENERATED ALWAYS AS (json_digest(spec)) STORED,
    version     int NOT NULL DEFAULT 1,
    is_locked   boolean NOT NULL DEFAULT false,
    secret      bytea,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX template_name ON template (account_id, name);
CREATE INDEX template_list ON template (account_id, id);

CREATE TRIGGER account_required BEFORE INSERT ON template FOR EACH ROW EXECUTE FUNCTION account_required();

-- Every version that a template has had: a run goes on with the one that it began with.
CREATE TABLE template_version (
    template_id uuid NOT NULL REFERENCES template ON DELETE CASCADE,
    version     int NOT NULL,
    spec        jsonb NOT NULL,
    digest      text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (template_id, version)
);

-- What builds and runs have in common: they wait in a queue until a worker claims them.
--
--   kind         build or run; the table of that name has the rest
--   status       queued -> running -> succeeded | failed | cancelled | timed_out; running -> queued when the worker was lost.
--                Every final state is final
--   is_claimable by workers; not a run that waits for its build, or that a hosted platform runs
--   repo         that it concerns, for keys that are limited to a repository; null: none
--   turn         its place in the queue, see work_turn()
--   attempts     begun so far. The number of the running one is the worker's proof that the work is still its own
--   lease_until  while a worker has it: when others may take it over
--   deadline_at  while running: when it has taken too long
--   log_tail     unused; to be dropped in the next release
--   log_length   characters of the whole log
--   released     attempts that ended because the worker stopped and gave the work back
--   error        {"kind", "message"}, kind environment, task, timeout, cancelled or lost; null unless it has failed
CREATE TABLE work (
    id              uuid PRIMARY KEY,
    kind            text NOT NULL CHECK (kind IN ('build', 'run')),
    account_id      uuid NOT NULL,
    status          text NOT NULL DEFAULT 'queued'
                    CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'timed_out')),
    is_claimable    boolean NOT NULL DEFAULT true,
    repo            text,
    turn            bigint NOT NULL DEFAULT 0,
    attempts        int NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    worker          text,
    lease_until     timestamptz,
    timeout_seconds int NOT NULL CHECK (timeout_seconds > 0),
    deadline_at     timestamptz,
    log_tail        text NOT NULL DEFAULT '' CHECK (char_length(log_tail) <= 16384),
    error           jsonb,
    request_id      text DEFAULT request_id_now(),
    created_at      timestamptz NOT NULL DEFAULT now(),
    started_at      timestamptz,
    finished_at     timestamptz,
    released        int NOT NULL DEFAULT 0,
    log_length      bigint NOT NULL DEFAULT 0,
    CHECK (lease_until IS NULL OR status = 'running'),
    CHECK ((status = 'running') = (deadline_at IS NOT NULL)),
    CHECK ((status IN ('succeeded', 'failed', 'cancelled', 'timed_out')) = (finished_at IS NOT NULL)),
    CHECK (released BETWEEN 0 AND attempts)
);

CREATE INDEX work_queued ON work (kind, turn, id) WHERE status = 'queued' AND is_claimable;
CREATE INDEX work_queued_of_account ON work (kind, account_id, turn, id) WHERE status = 'queued' AND is_claimable;
CREATE INDEX work_running ON work (least(lease_until, deadline_at)) WHERE status = 'running';
CREATE INDEX work_account ON work (account_id, kind, id);
CREATE INDEX work_unfinished ON work (account_id, kind) WHERE finished_at IS NULL;

CREATE TRIGGER account_required BEFORE INSERT ON work FOR EACH ROW EXECUTE FUNCTION account_required();

-- Builds of environments.
--
--   source       what it is built from: repo, arxiv_id or containerfile
--   asset        of the paper, as svc-search had it when the build was made; null unless it is of a paper
--   template     {"template_id", "version", "spec"} that it was made with; null: none
--   content      digest of what determines the image; null: unknown, since a branch of a repository moves
--   shares_asset its outcome goes to the shared catalogue of papers
--   report       digest of the report that ended it: the same one again changes nothing
CREATE TABLE build (
    id           uuid PRIMARY KEY REFERENCES work ON DELETE CASCADE,
    account_id   uuid NOT NULL,
    source       text NOT NULL CHECK (source IN ('repo', 'arxiv_id', 'containerfile')),
    repo         text,
    ref          text,
    arxiv_id     text,
    containerfile text,
    build_args   jsonb NOT NULL DEFAULT '{}',
    asset        jsonb,
    template     jsonb,
    content      text,
    shares_asset boolean NOT NULL DEFAULT false,
    image        text,
    digest       text,
    report       text
);

CREATE INDEX build_content ON build (account_id, content) WHERE content IS NOT NULL AND image IS NOT NULL;

-- Runs of evaluations.
--
--   target            worker, or hosted: a platform runs it and delivers the result
--   template_version  that it was made with, and its digest; null: it has no template
--   build_id          whose image it uses; it waits until that is built. Null: the template names an image
--   call_id           what the hosted platform calls it; null: unknown
--   result            digest of the delivery that ended it: the same one again changes nothing
CREATE TABLE run (
    id               uuid PRIMARY KEY REFERENCES work ON DELETE CASCADE,
    account_id       uuid NOT NULL,
    name             text,
    target           text NOT NULL CHECK (target IN ('worker', 'hosted')),
    template_id      uuid,
    template_version int,
    template_digest  text,
    build_id         uuid REFERENCES build,
    params           jsonb NOT NULL DEFAULT '{}',
    metrics          jsonb,
    results          jsonb,
    artifacts        jsonb,
    call_id          text,
    result           text,
    FOREIGN KEY (template_id, template_version) REFERENCES template_version (template_id, version)
);

CREATE INDEX run_list ON run (account_id, id);
CREATE INDEX run_of_build ON run (build_id) WHERE build_id IS NOT NULL;
CREATE UNIQUE INDEX run_call ON run (account_id, call_id) WHERE call_id IS NOT NULL;
-- For the foreign key, when the versions of a template are deleted, and for a call that is looked for in all accounts.
CREATE INDEX run_of_template ON run (template_id, template_version) WHERE template_id IS NOT NULL;
CREATE INDEX run_of_call ON run (call_id) WHERE call_id IS NOT NULL;

-- The deliveries of results that were taken, by the id that their sender gave them: each counts once.
CREATE TABLE delivery (
    account_id  uuid NOT NULL,
    delivery_id text NOT NULL CHECK (octet_length(delivery_id) <= 200),
    run_id      uuid NOT NULL REFERENCES work ON DELETE CASCADE,
    received_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, delivery_id)
);

CREATE INDEX delivery_of_run ON delivery (run_id);
CREATE INDEX delivery_received ON delivery (received_at); -- deliveries are forgotten by age

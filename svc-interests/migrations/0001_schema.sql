-- replaces: 0019_interest_valid and 0001_paper 0002_interest 0003_pool 0004_recommendation 0005_experiment 0006_preference
-- replaces: 0007_account 0008_refresh 0009_arxiv_ids 0010_month 0011_paper_vector 0012_run_outcome 0013_provision
-- replaces: 0014_context_source 0015_repo_of_two_accounts 0016_background 0017_explanation 0018_interest_detail
-- replaces: 0023_provision_maker
--
-- Interests: the papers that svc-search has for them, what was recommended, what readers and experiments said of it, and the agents
-- that work for them.

-- ---- Papers, common to all accounts, since they are public ----

-- What search told about a paper when it was last asked.
CREATE TABLE paper (
    arxiv_id   text PRIMARY KEY,
    asset      jsonb NOT NULL, -- as search lists it
    abstract   text NOT NULL,  -- whole
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- Vectors of papers. They compare only within one version of the embedder of svc-search, so there is a vector for each
-- version that an interest uses: an interest goes over to a new version with all its papers and its model at once.
CREATE TABLE paper_vector (
    arxiv_id text REFERENCES paper ON DELETE CASCADE,
    embedder text CHECK (octet_length(embedder) <= 400), -- the version
    vector   text NOT NULL,             -- base64 of one signed byte for each dimension
    scale    double precision NOT NULL, -- what a byte is multiplied by
    PRIMARY KEY (arxiv_id, embedder)
);

CREATE INDEX paper_vector_of_embedder ON paper_vector (embedder);

-- The versions that svc-search has named; the one that it named last is current.
CREATE TABLE embedder (
    version text PRIMARY KEY CHECK (octet_length(version) <= 400),
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A random sample of the corpus: what preference models tell the liked papers from (pool/background.h). One row, once it was
-- drawn.
--
--   documents    papers in the index when it was drawn
--   frequencies  in how many papers of a larger sample each term occurs, as preference/frequency.h writes it
--   arxiv_ids    papers of the sample, in its order; they are rows of `paper`
CREATE TABLE background (
    is_only     boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    documents   integer NOT NULL CHECK (documents > 0),
    frequencies bytea NOT NULL,
    arxiv_ids   text[] NOT NULL,
    drawn_at    timestamptz NOT NULL DEFAULT now()
);

-- ---- Interests ----

-- What an account wants to read about. A pool is of the interest's name and context, what counts as recommended already
-- of the context alone: a new name builds the pool anew and brings no paper back.
CREATE TABLE interest (
    id                     uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id             uuid NOT NULL,
    name                   text NOT NULL,
    context                text NOT NULL,
    context_version        integer NOT NULL DEFAULT 1,
    pool_version           integer NOT NULL DEFAULT 1,
    daily_count            integer NOT NULL DEFAULT 3,
    is_active              boolean NOT NULL DEFAULT true,
    model_provider         text,
    source_repo_url        text,
    project_id             uuid,
    pool_status            text NOT NULL DEFAULT 'building',
    pool_size              integer NOT NULL DEFAULT 0,
    experiment_history_id  uuid NOT NULL UNIQUE DEFAULT uuid_v7(),
    last_recommendation_at timestamptz,
    created_at             timestamptz NOT NULL DEFAULT now(),
    updated_at             timestamptz NOT NULL DEFAULT now(),
    embedder               text,
    pool_embedder          text
);

COMMENT ON COLUMN interest.context_version IS 'rises when the context changes';
COMMENT ON COLUMN interest.pool_version IS 'rises when name or context change';
COMMENT ON COLUMN interest.embedder IS 'the version whose vectors its papers are compared by; NULL: words only';
COMMENT ON COLUMN interest.pool_embedder IS 'the version that svc-search named with the candidates of the pool';

-- The rules as one constraint, as those of a task are.
CREATE FUNCTION interest_is_valid(i interest) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN char_length(i.name) BETWEEN 1 AND 200 AND octet_length(i.name) <= 800
       AND char_length(i.context) BETWEEN 1 AND 50000
       AND i.daily_count BETWEEN 1 AND 50
       AND i.pool_status IN ('building', 'ready', 'stale', 'failed');
END $$;

ALTER TABLE interest ADD CONSTRAINT interest_valid CHECK (interest_is_valid(interest)) NOT VALID;

CREATE UNIQUE INDEX interest_name ON interest (account_id, lower(name));
CREATE INDEX interest_newest ON interest (account_id, created_at DESC, id DESC);

-- Neither an interest of a deleted account, which the daily run would go on to serve, nor a task.
CREATE TRIGGER account_required BEFORE INSERT ON interest FOR EACH ROW EXECUTE FUNCTION account_required();
CREATE TRIGGER account_required BEFORE INSERT ON task FOR EACH ROW EXECUTE FUNCTION account_required();

-- What the addresses of an interest lead to: those in its context, and source_repo_url. It is read by the job that builds the
-- pool and before a refresh (source/source.h).
--
--   place       order in which the interest names them
--   body        what was read, at most 8 KiB; empty for a paper, whose abstract svc-search has
--   characters  of the text, before it was cut
--   tried_at    last; read_at: when the body was read
--   error       of the last try, a sentence; null: it could be read
CREATE TABLE context_source (
    interest_id uuid NOT NULL REFERENCES interest ON DELETE CASCADE,
    url         text NOT NULL CHECK (octet_length(url) <= 2048),
    place       integer NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('paper', 'repository', 'page')),
    status      text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'read', 'failed', 'refused')),
    title       text,
    body        text NOT NULL DEFAULT '',
    characters  integer,
    tried_at    timestamptz,
    read_at     timestamptz,
    error       text,
    PRIMARY KEY (interest_id, url)
);

CREATE TABLE pool_entry (
    interest_id  uuid NOT NULL REFERENCES interest ON DELETE CASCADE,
    pool_version integer NOT NULL,
    arxiv_id     text NOT NULL REFERENCES paper,
    relevance    double precision NOT NULL CHECK (relevance BETWEEN 0 AND 1),
    matched      jsonb NOT NULL, -- the words that brought it
    PRIMARY KEY (interest_id, pool_version, arxiv_id)
);

COMMENT ON TABLE pool_entry IS 'Candidates for an interest. Those of another pool_version than the interest''s are not read.';

-- ---- Recommendations ----

-- A paper is recommended once for an interest as long as its context stays.
CREATE TABLE recommendation (
    id                   uuid PRIMARY KEY DEFAULT uuid_v7(),
    interest_id          uuid NOT NULL REFERENCES interest ON DELETE CASCADE,
    account_id           uuid NOT NULL,
    arxiv_id             text NOT NULL REFERENCES paper,
    context_version      integer NOT NULL,
    relevance_score      double precision NOT NULL CHECK (relevance_score BETWEEN 0 AND 1),
    rank                 integer NOT NULL CHECK (rank > 0),
    reasoning            text NOT NULL,
    suggested_experiment text,
    recommended_at       timestamptz NOT NULL DEFAULT now(),
    UNIQUE (interest_id, arxiv_id, context_version)
);

CREATE INDEX recommendation_of_account ON recommendation (account_id, recommended_at);
CREATE INDEX recommendation_of_interest ON recommendation (interest_id, recommended_at);

-- What readers said of a recommendation.
CREATE TABLE feedback (
    recommendation_id uuid NOT NULL REFERENCES recommendation ON DELETE CASCADE,
    signal            text NOT NULL CHECK (signal IN ('like', 'dislike', 'save', 'dismiss', 'implemented')),
    recorded_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (recommendation_id, signal)
);

-- Days (UTC) whose daily run was started: by whom the row could be inserted.
CREATE TABLE daily_run (
    day        date PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT now(),
    tasks      integer NOT NULL -- how many accounts had active interests
);

-- The numbers that the score of a recommendation was made of (ranking/breakdown.h), of the time when it was made. One that
-- an earlier version of the service made has none. Lists do not read it, so it is not in the rows that they read.
CREATE TABLE recommendation_explanation (
    recommendation_id uuid PRIMARY KEY REFERENCES recommendation ON DELETE CASCADE,
    explanation       jsonb NOT NULL
);

-- The interests that a running refresh task has stored recommendations for. A later attempt of the task leaves them out. The
-- rows of a task are deleted when it is completed, and with the task.
CREATE TABLE refreshed_interest (
    task_id     uuid NOT NULL REFERENCES task ON DELETE CASCADE,
    interest_id uuid NOT NULL REFERENCES interest ON DELETE CASCADE,
    recommended integer NOT NULL, -- number of new recommendations
    pool_size   integer NOT NULL,
    PRIMARY KEY (task_id, interest_id)
);

CREATE INDEX refreshed_interest_of_interest ON refreshed_interest (interest_id);

-- ---- What others told ----

-- What the stream events.experiments told about experiments. A deleted one stays as its id, so that an older event
-- that comes late does not bring it back.
CREATE TABLE experiment (
    id             uuid PRIMARY KEY,
    account_id     uuid NOT NULL,
    version        bigint NOT NULL, -- rises with each change of it
    told_at        timestamptz NOT NULL, -- of the event
    is_deleted     boolean NOT NULL DEFAULT false,
    name           text,
    status         text,
    hypothesis     text,
    decision       text,
    outcome        text,
    observed_delta double precision,
    target_metric  text,
    pr_status      text,
    project_id     uuid,
    arxiv_ids      text[] NOT NULL -- of the papers that it came of
);

-- An account's, and the newest of a project in the order of the index, however many there are.
CREATE INDEX experiment_by_project ON experiment (account_id, project_id, told_at DESC, id DESC);

-- What is told of an account that was deleted is not kept.
CREATE TRIGGER account_skipped BEFORE INSERT ON experiment FOR EACH ROW EXECUTE FUNCTION account_skipped();

-- Which experiments are about a paper.
CREATE TABLE experiment_paper (
    account_id    uuid NOT NULL,
    arxiv_id      text NOT NULL,
    experiment_id uuid NOT NULL REFERENCES experiment ON DELETE CASCADE,
    PRIMARY KEY (account_id, arxiv_id, experiment_id),
    CONSTRAINT arxiv_id_bytes CHECK (octet_length(arxiv_id) <= 64) -- an index row holds 2,704 bytes
);

CREATE INDEX experiment_paper_of_experiment ON experiment_paper (experiment_id);

-- The experiments about papers that were recommended for an interest; one comes once for each of its papers.
CREATE VIEW experiment_of_paper AS
SELECT r.interest_id, e.*
FROM recommendation r
JOIN experiment_paper p ON p.account_id = r.account_id AND p.arxiv_id = r.arxiv_id
JOIN experiment e ON e.id = p.experiment_id AND NOT e.is_deleted;

-- The experiments that belong to an interest: of its project, or of a paper that was recommended for it.
CREATE VIEW linked_experiment AS
SELECT i.id AS interest_id, e.*
FROM interest i JOIN experiment e ON e.account_id = i.account_id AND e.project_id = i.project_id AND NOT e.is_deleted
UNION
SELECT * FROM experiment_of_paper;

-- What became of pull requests and issues that runs of agents opened, as the stream events.runs told.
CREATE TABLE run_outcome (
    account_id        uuid NOT NULL,
    url               text NOT NULL CHECK (octet_length(url) <= 8192),
    version           bigint NOT NULL, -- rises with each event about the link
    stage             text NOT NULL,   -- `open`, `closed`, `merged` or `withdrawn`
    interest_id       uuid,            -- the run said that it was for these
    recommendation_id uuid,
    arxiv_id          text,
    PRIMARY KEY (account_id, url)
);

CREATE INDEX run_outcome_of_interest ON run_outcome (interest_id, arxiv_id) WHERE interest_id IS NOT NULL;
CREATE INDEX run_outcome_of_recommendation ON run_outcome (recommendation_id) WHERE recommendation_id IS NOT NULL;

CREATE TRIGGER account_skipped BEFORE INSERT ON run_outcome FOR EACH ROW EXECUTE FUNCTION account_skipped();

-- What the runs of an account say counts for the account's own interests and recommendations alone.
CREATE VIEW run_signal AS
SELECT i.id AS interest_id, o.arxiv_id, o.stage AS signal
FROM interest i JOIN run_outcome o ON o.interest_id = i.id AND o.account_id = i.account_id
WHERE o.stage IN ('merged', 'closed') AND o.arxiv_id IS NOT NULL
UNION
SELECT r.interest_id, r.arxiv_id, o.stage
FROM recommendation r JOIN run_outcome o ON o.recommendation_id = r.id AND o.account_id = r.account_id
WHERE o.stage IN ('merged', 'closed');

-- The signals that an interest's readers gave about papers.
CREATE VIEW signal AS
SELECT r.interest_id, r.arxiv_id, f.signal
FROM feedback f JOIN recommendation r ON r.id = f.recommendation_id
UNION
SELECT e.interest_id, paper.arxiv_id, given.signal
FROM linked_experiment e
CROSS JOIN LATERAL unnest(e.arxiv_ids) AS paper (arxiv_id)
CROSS JOIN LATERAL (VALUES ('merged', e.pr_status = 'merged'),
                           ('closed', e.pr_status = 'closed'),
                           ('shipped', e.status = 'shipped' OR e.outcome = 'ship'),
                           ('abandoned', e.status IN ('abandoned', 'rejected') OR e.outcome = 'abandon'))
           AS given (signal, is_given)
WHERE given.is_given
UNION
SELECT * FROM run_signal;

-- The newest model that was fitted to an interest's feedback.
CREATE TABLE preference_model (
    interest_id uuid PRIMARY KEY REFERENCES interest ON DELETE CASCADE,
    version     integer NOT NULL,
    model       bytea NOT NULL,
    fitted_at   timestamptz NOT NULL DEFAULT now(),
    examples_at timestamptz NOT NULL DEFAULT now(), -- when its examples were read: of two refits, the one that read later wins
    embedder    text
);

COMMENT ON COLUMN preference_model.embedder IS 'the version that it was fitted to; NULL: words only, or unknown';

-- The examples that an interest's model learned from, and their coefficients in it:
-- [{"arxiv_id": "2205.14135", "signal": "like", "coefficient": 0.31}]. They are of the model with this version; a process of
-- an earlier version of the service replaces a model and leaves these.
CREATE TABLE preference_evidence (
    interest_id uuid PRIMARY KEY REFERENCES interest ON DELETE CASCADE,
    version     integer NOT NULL,
    examples    jsonb NOT NULL
);

-- ---- Agents ----

-- The agent that works on a repository for an interest. What the steps of its provisioning task have found and made:
--
--   repo               as the code host writes it
--   branch             on which the workflow is proposed
--   task_id            the newest provisioning task
--   default_branch     of the repository
--   key_id             the agent's key, which is in the secrets of `key_repo`
--   work_branch        on which the current workflow is, whose content has the hash `workflow_version`
--   pr_number, pr_url  the pull request that brings the workflow; merged_at, closed_at: what became of it
--   installation_id    of svc-fleet; null until the agent is installed
--   dispatched_at      when the first run was started
--   revoked_at         when the agent's key was revoked
--   app_removed_at     when the code host's app was removed from the repository
CREATE TABLE provisioning (
    interest_id       uuid PRIMARY KEY REFERENCES interest ON DELETE CASCADE,
    account_id        uuid NOT NULL,
    repo              text NOT NULL,
    agent             text NOT NULL,
    provider          text NOT NULL,
    branch            text NOT NULL,
    auto_merge        boolean NOT NULL,
    task_id           uuid NOT NULL,
    default_branch    text,
    key_id            uuid,
    key_repo          text,
    key_expires_at    timestamptz,
    model_key_missing boolean NOT NULL DEFAULT false,
    work_branch       text,
    workflow_version  text,
    commit_sha        text,
    pr_number         integer,
    pr_url            text,
    merged_at         timestamptz,
    closed_at         timestamptz,
    installation_id   uuid,
    dispatched_at     timestamptz,
    revoked_at        timestamptz,
    app_removed_at    timestamptz,
    updated_at        timestamptz NOT NULL DEFAULT now(),
    CHECK ((key_id IS NULL) = (key_repo IS NULL) AND (key_id IS NULL) = (key_expires_at IS NULL))
);

-- A repository has one workflow and one key, so it works for one interest of an account.
CREATE UNIQUE INDEX provisioning_repo ON provisioning (account_id, lower(repo)) WHERE revoked_at IS NULL;
CREATE INDEX provisioning_by_repo ON provisioning (lower(repo));
CREATE INDEX provisioning_by_key ON provisioning (key_id);

CREATE TRIGGER account_required BEFORE INSERT ON provisioning FOR EACH ROW EXECUTE FUNCTION account_required();

-- The steps of a provisioning task. `output` is what the step found and made, by column of provisioning; its member
-- `changed` says whether it changed anything.
CREATE TABLE provision_step (
    task_id     uuid NOT NULL REFERENCES task ON DELETE CASCADE,
    position    smallint NOT NULL,
    name        text NOT NULL,
    status      text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'completed', 'skipped')),
    attempt     integer NOT NULL DEFAULT 0,
    message     text,
    output      jsonb NOT NULL DEFAULT '{}',
    started_at  timestamptz,
    finished_at timestamptz,
    PRIMARY KEY (task_id, name)
);

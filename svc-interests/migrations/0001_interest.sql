-- Interests, their pools of candidates, what was recommended, and what is learned from feedback.

-- What search told about a paper when it was last asked: common to all accounts, since papers are public.
CREATE TABLE paper (
    arxiv_id   text PRIMARY KEY,
    asset      jsonb NOT NULL,   -- as search lists it
    abstract   text NOT NULL,    -- whole
    vector     text,             -- base64 of one signed byte for each dimension; NULL: none
    scale      double precision, -- what a byte is multiplied by
    model      text,             -- the embedder that made the vector
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- A paper as the ranking code reads it.
CREATE FUNCTION paper_json(p paper) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object(
        'arxiv_id', p.arxiv_id, 'title', p.asset -> 'title', 'abstract', p.abstract,
        'categories', p.asset -> 'categories', 'published_at', p.asset -> 'published_at',
        'has_container', p.asset -> 'has_container',
        'vector', p.vector, 'scale', p.scale, 'model', p.model)
$$;

-- Keep the papers of an answer of svc-search: {"results": [...], "model": ...}. In the order of ids, so that two that
-- keep the same papers do not wait for each other in a circle.
CREATE FUNCTION paper_keep(answer jsonb) RETURNS void LANGUAGE sql AS $$
    INSERT INTO paper AS p (arxiv_id, asset, abstract, vector, scale, model)
    SELECT DISTINCT ON (r.arxiv_id) r.arxiv_id, r.asset, coalesce(r.abstract, ''), r.vector, r.scale, answer ->> 'model'
    FROM jsonb_to_recordset(answer -> 'results')
         AS r (arxiv_id text, asset jsonb, abstract text, vector text, scale double precision)
    ORDER BY r.arxiv_id
    ON CONFLICT (arxiv_id) DO UPDATE
    SET asset = excluded.asset, abstract = excluded.abstract, vector = excluded.vector, scale = excluded.scale,
        model = excluded.model, updated_at = now()
    WHERE (p.asset, p.abstract, p.vector, p.scale, p.model)
          IS DISTINCT FROM (excluded.asset, excluded.abstract, excluded.vector, excluded.scale, excluded.model)
$$;

CREATE TABLE interest (
    id                     uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id             uuid NOT NULL,
    name                   text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    context                text NOT NULL CHECK (char_length(context) BETWEEN 1 AND 50000),
    context_version        integer NOT NULL DEFAULT 1, -- rises when name or context change
    daily_count            integer NOT NULL DEFAULT 3 CHECK (daily_count BETWEEN 1 AND 50),
    is_active              boolean NOT NULL DEFAULT true,
    model_provider         text,
    source_repo_url        text,
    project_id             uuid,
    pool_status            text NOT NULL DEFAULT 'building'
                           CHECK (pool_status IN ('building', 'ready', 'stale', 'failed')),
    pool_size              integer NOT NULL DEFAULT 0,
    experiment_history_id  uuid NOT NULL UNIQUE DEFAULT uuid_v7(),
    last_recommendation_at timestamptz,
    created_at             timestamptz NOT NULL DEFAULT now(),
    updated_at             timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX interest_name ON interest (account_id, lower(name));
CREATE INDEX interest_newest ON interest (account_id, created_at DESC, id DESC);

-- An interest as the API shows it.
CREATE FUNCTION interest_json(i interest) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', i.id, 'name', i.name, 'context', i.context, 'daily_count', i.daily_count, 'is_active', i.is_active,
        'model_provider', i.model_provider, 'source_repo_url', i.source_repo_url, 'project_id', i.project_id,
        'pool_status', i.pool_status, 'pool_size', i.pool_size, 'experiment_history_id', i.experiment_history_id,
        'last_recommendation_at', time_json(i.last_recommendation_at),
        'created_at', time_json(i.created_at), 'updated_at', time_json(i.updated_at))
$$;

-- Candidates for an interest. Those of a context_version that is no longer the interest's are not read.
CREATE TABLE pool_entry (
    interest_id     uuid NOT NULL REFERENCES interest ON DELETE CASCADE,
    context_version integer NOT NULL,
    arxiv_id        text NOT NULL REFERENCES paper,
    relevance       double precision NOT NULL CHECK (relevance BETWEEN 0 AND 1),
    matched         jsonb NOT NULL, -- the words that brought it
    PRIMARY KEY (interest_id, context_version, arxiv_id)
);

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

-- A recommendation as the API shows it.
CREATE FUNCTION recommendation_json(r recommendation, interest_name text, p paper) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'recommendation_id', r.id, 'source_type', 'arxiv_paper', 'resource_id', r.arxiv_id,
        'title', p.asset -> 'title', 'abstract', p.abstract, 'url', p.asset -> 'url',
        'relevance_score', r.relevance_score, 'rank', r.rank, 'reasoning', r.reasoning,
        'suggested_experiment', r.suggested_experiment, 'interest_id', r.interest_id, 'interest_name', interest_name,
        'recommended_at', time_json(r.recommended_at), 'resource', p.asset)
$$;

-- When a period began: today since midnight UTC, week today and the six days before.
CREATE FUNCTION period_start(period text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT CASE period WHEN 'today' THEN date_trunc('day', now(), 'UTC')
                       WHEN 'week' THEN date_trunc('day', now(), 'UTC') - interval '144 hours'
                       ELSE '-infinity' END
$$;

CREATE TABLE feedback (
    recommendation_id uuid NOT NULL REFERENCES recommendation ON DELETE CASCADE,
    signal            text NOT NULL CHECK (signal IN ('like', 'dislike', 'save', 'dismiss', 'implemented')),
    recorded_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (recommendation_id, signal)
);

-- The newest model that was fitted to an interest's feedback.
CREATE TABLE preference_model (
    interest_id uuid PRIMARY KEY REFERENCES interest ON DELETE CASCADE,
    version     integer NOT NULL,
    model       bytea NOT NULL,
    fitted_at   timestamptz NOT NULL DEFAULT now()
);

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

CREATE INDEX experiment_of_account ON experiment (account_id);

-- The experiments that belong to an interest: of its project, or of a paper that was recommended for it.
CREATE VIEW linked_experiment AS
SELECT i.id AS interest_id, e.*
FROM interest i
JOIN experiment e ON e.account_id = i.account_id AND NOT e.is_deleted
     AND (e.project_id = i.project_id
          OR EXISTS (SELECT FROM recommendation r WHERE r.interest_id = i.id AND r.arxiv_id = ANY (e.arxiv_ids)));

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
WHERE given.is_given;

-- Days (UTC) whose daily run was started: by whom the row could be inserted.
CREATE TABLE daily_run (
    day        date PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT now(),
    tasks      integer NOT NULL -- how many accounts had active interests
);

-- Accounts that were deleted, so that what streams tell later is not kept.
CREATE TABLE deleted_account (
    id         uuid PRIMARY KEY,
    deleted_at timestamptz NOT NULL DEFAULT now()
);

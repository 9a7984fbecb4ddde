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

-- Whether a recommendation is shown for a period: from its start on, and of the context that the interest has now; `all`
-- is what was ever recommended.
CREATE FUNCTION is_of_period(r recommendation, i interest, period text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT r.recommended_at >= period_start(period) AND (period = 'all' OR r.context_version = i.context_version)
$$;

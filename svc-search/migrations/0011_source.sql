-- What is harvested, and how far: a row for each set of a source (ingest/harvester.h).
--
--   is_scheduled  it is in HARVEST_SETS; others were asked for by POST /search/harvest
--   state         idle: until next_at; running: a list is being read; waiting: the announcement has brought no new paper yet;
--                 failed: the last run gave up
--   cursor        from: the day that the list begins with; while running also token: of the next page, and token_on: the UTC
--                 date of that token, with which it ends. Otherwise {}, or {"from": ...} when that day was asked for
--   slot          the time of the schedule that next_at belongs to, null: next_at is not of the schedule
--   repeats       runs of this slot so far without a new paper, or failed
--   next_at       when the next request is due; null: none
--   listed_at     the server's time at the first page of the running list; becomes response_date when the list is complete
--   attempts      failed ones of the next page; restarts: of the list, as its token had expired
--   fresh_at      when the list last had a paper that came since the announcement before and was not three days old
CREATE TABLE source (
    name                text NOT NULL CHECK (octet_length(name) <= 50),
    set                 text NOT NULL CHECK (octet_length(set) <= 200),
    is_scheduled        boolean NOT NULL,
    state               text NOT NULL DEFAULT 'idle' CHECK (state IN ('idle', 'running', 'waiting', 'failed')),
    cursor              jsonb NOT NULL DEFAULT '{}',
    slot                timestamptz,
    repeats             int NOT NULL DEFAULT 0,
    next_at             timestamptz,
    started_at          timestamptz,
    finished_at         timestamptz,
    listed_at           timestamptz,
    response_date       timestamptz,
    records             bigint NOT NULL DEFAULT 0,
    added               bigint NOT NULL DEFAULT 0,
    changed             bigint NOT NULL DEFAULT 0,
    withdrawn           bigint NOT NULL DEFAULT 0,
    skipped             bigint NOT NULL DEFAULT 0,
    attempts            int NOT NULL DEFAULT 0,
    restarts            int NOT NULL DEFAULT 0,
    error               text,
    newest_published_at timestamptz,
    fresh_at            timestamptz,
    created_at          timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (name, set)
);

-- When a source may be asked again, by all processes together.
CREATE TABLE source_pace (
    name            text PRIMARY KEY,
    next_request_at timestamptz NOT NULL
);

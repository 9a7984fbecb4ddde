-- The digests of endpoints: at an hour in a time zone, on days of the week (1 is Monday). See notify/digest/digest.h.
--
--   interest_ids     null: those of the endpoint
--   limit            papers of an interest
--   last_date        the last local date that was told or skipped: no date is told twice, also when the digest was off
--   next_date        the next one, which is told at next_at; null: the digest is off
--   told_until       papers that were recommended before were told
CREATE TABLE endpoint_digest (
    endpoint_id  uuid PRIMARY KEY REFERENCES endpoint ON DELETE CASCADE,
    hour         int NOT NULL CHECK (hour BETWEEN 0 AND 23),
    minute       int NOT NULL CHECK (minute BETWEEN 0 AND 59),
    time_zone    text NOT NULL,
    weekdays     int[] NOT NULL CHECK (weekdays <@ '{1,2,3,4,5,6,7}' AND cardinality(weekdays) > 0),
    interest_ids uuid[],
    "limit"      int NOT NULL,
    min_score    double precision NOT NULL,
    skip_empty   boolean NOT NULL,
    period       text NOT NULL,
    last_date    date,
    next_date    date,
    next_at      timestamptz CHECK ((next_at IS NULL) = (next_date IS NULL)),
    told_until   timestamptz
);
CREATE INDEX endpoint_digest_due ON endpoint_digest (next_at) WHERE next_at IS NOT NULL;

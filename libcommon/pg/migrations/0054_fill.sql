-- What migrations leave to be done in batches after them (service/fill.h), while the schema is in use.
--
--   name         the function fill_NAME() does the next batch
--   cursor       behind which the next batch begins, in the form of that function
--   rows         seen to so far
--   finished_at  null: there is more to do
CREATE TABLE fill (
    name        text PRIMARY KEY CHECK (octet_length(name) BETWEEN 1 AND 50),
    cursor      text NOT NULL,
    rows        bigint NOT NULL DEFAULT 0,
    made_at     timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz
);

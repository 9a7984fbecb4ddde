-- original-sha256: 3a66b39b45a82c5537e668d08c737afdb8f07404d3b3c136fd1c5d20dcae8427
--
-- How many interests an account has, and how many of them are active: the daily run works on those. Both are bounded. Requests that
-- add to them lock the row until they commit, so that they take turns and do not exceed a bound together.
CREATE TABLE interest_count (
    account_id uuid PRIMARY KEY,
    interests  bigint NOT NULL,
    active     bigint NOT NULL
) WITH (fillfactor = 50);

-- Nothing changes from the count on until the triggers are there.
LOCK TABLE interest IN SHARE ROW EXCLUSIVE MODE;

INSERT INTO interest_count SELECT account_id, count(*), count(*) FILTER (WHERE is_active) FROM interest GROUP BY account_id;

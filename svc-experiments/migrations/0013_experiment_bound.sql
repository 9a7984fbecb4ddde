-- original-sha256: 094fcf01acc5612e6ad3e9d8fe55c5fab58b2139fed806de554ca2a8898f686c
--
-- How many experiments an account has, so that a bound costs no count of them (experiment/count.fn.sql).
--
-- A connection writes one row of the account, so that creations at the same time seldom wait for each other.
CREATE TABLE experiment_count (
    account_id  uuid NOT NULL,
    part        int NOT NULL,
    experiments bigint NOT NULL,
    PRIMARY KEY (account_id, part)
) WITH (fillfactor = 50);

-- Nothing is inserted or deleted from the count on until the triggers are there.
LOCK TABLE experiment IN SHARE ROW EXCLUSIVE MODE;

INSERT INTO experiment_count SELECT account_id, 0, count(*) FROM experiment GROUP BY account_id;

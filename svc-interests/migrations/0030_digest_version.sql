-- Which version the digests of an account have (digest/digest.fn.sql): it rises with its interests, recommendations and feedback. In
-- the row that each new interest writes anyway; an account without a row has version 0.
ALTER TABLE interest_count ADD COLUMN digest_version bigint NOT NULL DEFAULT 1;

-- The same of the papers, which are common to all accounts. One row.
CREATE TABLE paper_revision (
    is_only  boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    revision bigint NOT NULL
);
INSERT INTO paper_revision (revision) VALUES (1);

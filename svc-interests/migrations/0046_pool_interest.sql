-- A candidate is of an interest that is there, and goes with it, and a vector is of a paper that is stored: by triggers of the statement now
-- (pool/pool.fn.sql, pool/paper.fn.sql). A foreign key looks the interest up for each of 300 candidates, and locks the row of each paper.
ALTER TABLE pool_entry DROP CONSTRAINT pool_entry_interest_id_fkey;
ALTER TABLE paper_vector DROP CONSTRAINT paper_vector_arxiv_id_fkey;

-- A candidate and a recommendation are of a paper that is stored, and papers stay: by triggers now (pool/paper.fn.sql). A foreign key
-- locks the paper for each row that names it, which writes the paper's page: half of what the daily run wrote.
ALTER TABLE pool_entry DROP CONSTRAINT pool_entry_arxiv_id_fkey;
ALTER TABLE recommendation DROP CONSTRAINT recommendation_arxiv_id_fkey;

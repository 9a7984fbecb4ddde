-- How many people have recommended a paper at Hugging Face's daily papers (ingest/daily_papers.h); null: not known.
ALTER TABLE asset ADD COLUMN upvotes int CHECK (upvotes >= 0);

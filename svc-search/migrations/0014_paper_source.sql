-- Papers of sources other than arXiv, whose ids are the source's name and the DOI: biorxiv:10.1101/2026.11.20.123456. The rule is
-- wider than the one before it, which all rows keep: they are not read for it.
ALTER TABLE asset DROP CONSTRAINT asset_arxiv_id_check;
ALTER TABLE asset ADD CONSTRAINT asset_arxiv_id_check CHECK (
    arxiv_id ~ '^([0-9]{4}\.[0-9]{4,5}|[a-z-]+/[0-9]{7}|(biorxiv|medrxiv):10\.[0-9]{4,9}/[0-9]+(\.[0-9]+)*)$') NOT VALID;

-- Of what a journal has published; null: unknown. That of a preprint is in its id.
ALTER TABLE asset ADD COLUMN doi text;

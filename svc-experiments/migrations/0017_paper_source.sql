-- The idea of an experiment can be from papers of other sources than arXiv. The rule is wider than the one before it, which all rows
-- keep: they are not read for it.
ALTER TABLE experiment DROP CONSTRAINT experiment_source_type_check;
ALTER TABLE experiment ADD CONSTRAINT experiment_source_type_check CHECK (
    source_type IN ('arxiv_paper', 'biorxiv_paper', 'medrxiv_paper', 'code_repo', 'ticket', 'manual')) NOT VALID;

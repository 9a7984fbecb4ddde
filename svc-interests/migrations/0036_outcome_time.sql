-- Since when a pull request or issue has its stage, and an experiment its decision; null: from before this version.
ALTER TABLE run_outcome ADD COLUMN stage_at timestamptz;
ALTER TABLE experiment ADD COLUMN decided_at timestamptz;

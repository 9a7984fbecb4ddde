-- Since when an experiment has its outcome; null: it has it from before this version.
ALTER TABLE experiment ADD COLUMN outcome_at timestamptz;
ALTER TABLE experiment ALTER COLUMN outcome_at SET DEFAULT now();

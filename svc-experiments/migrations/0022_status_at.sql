-- Since when an experiment has its status; null: it has it from before this version.
ALTER TABLE experiment ADD COLUMN status_at timestamptz;
ALTER TABLE experiment ALTER COLUMN status_at SET DEFAULT now();

-- How long a change is as JSON (experiment.fn.sql); null: it was made before this version.
ALTER TABLE experiment_history ADD COLUMN bytes int;

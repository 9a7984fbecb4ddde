-- Replaced by the one that knows of runs whose candidates are not filled in yet (candidate/candidate.fn.sql).
DROP FUNCTION IF EXISTS paper_trials(uuid, text, text);

-- Since when an experiment says of its pull request what it says (candidate/rejection.fn.sql); null: it said so before this was kept.
ALTER TABLE experiment ADD pr_status_at timestamptz;

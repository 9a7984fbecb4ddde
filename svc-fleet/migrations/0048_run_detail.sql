-- replaces: 0048_run_detail_bytes and 0047_experiment_pull_request

-- Since when an experiment says of its pull request what it says (candidate/rejection.fn.sql); null: it said so before this was kept.
ALTER TABLE experiment ADD pr_status_at timestamptz;

-- How large the members are without compression; null: nothing was reported of them since this column is there (run/telemetry.fn.sql).
ALTER TABLE run_detail ADD COLUMN bytes int;

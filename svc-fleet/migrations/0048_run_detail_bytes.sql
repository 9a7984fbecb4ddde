-- How large the members are without compression; null: nothing was reported of them since this column is there (run/telemetry.fn.sql).
ALTER TABLE run_detail ADD COLUMN bytes int;

-- The linked runs of agents by run and by repository (linked_run.fn.sql): run_key is `acme/ranker 17`.
CREATE INDEX linked_run_telemetry ON linked_run (run_key text_pattern_ops) WHERE source = 'telemetry';

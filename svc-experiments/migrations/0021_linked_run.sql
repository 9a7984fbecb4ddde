-- Runs that belong to an arm of an experiment, whose results arrive by themselves.
--
--   source     eval_runs: of svc-evalenv, which is asked for the results; telemetry: of agents, whose `metrics` came with the event
--   run_key    the id of the run; of telemetry behind its repository, in which it is unique
--   digest     of the template (eval_runs)
--   metrics    {"accuracy": 0.7} (telemetry)
--   is_cost_estimated  the cost in `metrics` was not told but estimated
--   at         when it was told of; the newest runs count
CREATE TABLE linked_run (
    experiment_id     uuid NOT NULL REFERENCES experiment ON DELETE CASCADE,
    source            text NOT NULL CHECK (source IN ('eval_runs', 'telemetry')),
    run_key           text NOT NULL,
    arm               text NOT NULL,
    digest            text,
    metrics           jsonb,
    is_cost_estimated boolean NOT NULL DEFAULT false,
    at                timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (experiment_id, source, run_key)
);

ALTER TABLE experiment_result
    DROP CONSTRAINT experiment_result_source_check,
    ADD CONSTRAINT experiment_result_source_check CHECK (source IN ('metrics', 'rows', 'eval_runs', 'telemetry'));

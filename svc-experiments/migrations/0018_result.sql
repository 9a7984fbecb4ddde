-- Results of experiments, and the analyses that were made of them.
--
--   source    metrics: sums over units; rows: results of evaluations; eval_runs: the same, of runs of svc-evalenv
--   input     as it came; of rows only how many, and the digest of the body
--   output    the analysis (analysis/output.h)
--   is_apart  of an earlier plan of the experiment
CREATE TABLE experiment_result (
    id            uuid PRIMARY KEY,
    experiment_id uuid NOT NULL REFERENCES experiment ON DELETE CASCADE,
    account_id    uuid NOT NULL,
    at            timestamptz NOT NULL,
    by_key        uuid,
    source        text NOT NULL CHECK (source IN ('metrics', 'rows', 'eval_runs')),
    input         jsonb NOT NULL,
    output        jsonb NOT NULL,
    is_apart      boolean NOT NULL DEFAULT false
);

CREATE INDEX experiment_result_newest ON experiment_result (experiment_id, id DESC);

-- analysis_id: the newest one of the present plan. delta_source: null where the delta and its word were typed or there is none, and
-- once they were computed, `computed`, or `stated` when somebody has typed since.
ALTER TABLE experiment
    ADD COLUMN analysis_id uuid,
    ADD COLUMN delta_source text CHECK (delta_source IN ('computed', 'stated'));

-- Outcomes of runs go by the time of their stage (retention/retention.h).
CREATE INDEX run_outcome_stage_at ON run_outcome (stage_at) WHERE stage_at IS NOT NULL;

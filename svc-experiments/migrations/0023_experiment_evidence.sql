-- The evidence of an experiment as it was when that was decided (evidence/snapshot.h).
--
--   version  of the experiment, with the change that decided it
--   at       of that change
--   trigger  what was set: the outcome, or a final status
--   graph    the answer of the operation; `digest` is in it, too
CREATE TABLE experiment_evidence (
    experiment_id uuid NOT NULL REFERENCES experiment ON DELETE CASCADE,
    version       bigint NOT NULL,
    at            timestamptz NOT NULL,
    trigger       text NOT NULL CHECK (trigger IN ('outcome', 'status')),
    digest        text NOT NULL,
    graph         jsonb NOT NULL,
    PRIMARY KEY (experiment_id, version)
);

-- What the stream events.experiments said of experiments, for what became of papers (candidate/rejection.fn.sql). A deleted one stays as
-- its id, so that an older event brings nothing back.
CREATE TABLE experiment (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    version    bigint NOT NULL,
    is_deleted boolean NOT NULL,
    status     text,
    outcome    text,
    pr_status  text,
    pr_url     text,
    made_at    timestamptz NOT NULL,
    told_at    timestamptz NOT NULL,
    arxiv_ids  text[] NOT NULL
);
CREATE INDEX experiment_of_paper ON experiment USING gin (arxiv_ids);
CREATE INDEX experiment_of_account ON experiment (account_id);
CREATE TRIGGER account_skipped BEFORE INSERT ON experiment FOR EACH ROW EXECUTE FUNCTION account_skipped();

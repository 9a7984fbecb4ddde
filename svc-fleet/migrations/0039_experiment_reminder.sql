-- What svc-experiments says somebody should be reminded of, for the inbox.
--
--   kind    experiment_overdue, experiment_without_data or experiment_unmerged
--   name    of the experiment
--   due_at  from when on, unless it changes before
CREATE TABLE experiment_reminder (
    account_id    uuid NOT NULL,
    experiment_id uuid NOT NULL,
    kind          text NOT NULL,
    name          text NOT NULL,
    due_at        timestamptz NOT NULL,
    PRIMARY KEY (account_id, experiment_id, kind)
);
CREATE TRIGGER account_skipped BEFORE INSERT ON experiment_reminder FOR EACH ROW EXECUTE FUNCTION account_skipped();

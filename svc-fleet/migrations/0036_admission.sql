-- When a run of a repository last asked whether it may start (budget/reservation.fn.sql).
CREATE TABLE admission (
    account_id uuid NOT NULL,
    repo_key   text NOT NULL,
    asked_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, repo_key)
);
CREATE TRIGGER account_required BEFORE INSERT ON admission FOR EACH ROW EXECUTE FUNCTION account_required();
